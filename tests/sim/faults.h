/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes wrong in a world, as its swarm has it. */
#ifndef TESTS_SIM_FAULTS_H
#define TESTS_SIM_FAULTS_H

struct world;

/* Plans the first strike of each kind. Each plans the next. */
void faults_start(struct world *w);

/* Somebody has a lock by the votes of a bare majority of guarded nodes: what a
 * fault would do most harm to. */
void faults_tempt(struct world *w, unsigned nodes);

/* No more of them, and those that last end: the liveness phase. */
void faults_end(struct world *w);

#endif
