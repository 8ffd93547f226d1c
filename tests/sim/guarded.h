/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes as a group: how they become one, and what their scripts answer. */
#ifndef TESTS_SIM_GUARDED_H
#define TESTS_SIM_GUARDED_H

#include "redis_model.h"

struct world;

/* As `quorlock init` leaves the nodes; or, in a silent world, untouched. */
void guarded_form(struct world *w);

/* A node has carried out a command. */
void guarded_note(struct world *w, unsigned index, unsigned argc,
                  const struct word *argv, const char *reply);

#endif
