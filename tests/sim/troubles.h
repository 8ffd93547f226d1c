/* SPDX-License-Identifier: BSD-2-Clause */
/* What can befall a node, or a client, and how it ends. */
#ifndef TESTS_SIM_TROUBLES_H
#define TESTS_SIM_TROUBLES_H

#include <stdint.h>

#include "swarm.h"

struct world;
struct sim_client;

void trouble_node(struct world *w, unsigned node, enum fault fault,
                  uint64_t ns);
void trouble_node_ends(struct world *w, unsigned node);
void trouble_client(struct world *w, struct sim_client *c, enum fault fault,
                    uint64_t ns);
void trouble_client_ends(struct world *w, struct sim_client *c);

#endif
