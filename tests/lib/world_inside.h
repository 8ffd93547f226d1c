/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the world share among themselves. */
#ifndef TESTS_LIB_WORLD_INSIDE_H
#define TESTS_LIB_WORLD_INSIDE_H

#include "world.h"

/* world_node.c */
bool world_key_there(const struct world *w, const struct world_node *node);
/* What the node does with a request, and says. */
void world_serve(struct world *w, struct world_node *node,
                 struct world_request *request);

/* world_fence.c: what must hold of fencing tokens, whatever clocks show */
void world_fence_attempt(struct world *w, unsigned machine);
void world_fence_extension(struct world *w, unsigned machine);
void world_fence_answer(struct world *w, unsigned machine, unsigned node,
                        const struct world_request *request);
void world_fence_told(struct world *w, unsigned machine,
                      enum ql_outcome outcome);

#endif
