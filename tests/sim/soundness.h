/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the guarded level stands: faults of single nodes, of their clocks and of
 * what they remember, as long as fewer than a quorum of nodes have any.
 */
#ifndef TESTS_SIM_SOUNDNESS_H
#define TESTS_SIM_SOUNDNESS_H

#include "swarm.h"

struct world;
struct sim_node;

/* The node's clock is right, and has been for long. */
void soundness_open(struct world *w, struct sim_node *node);

/* How far it strays, being right. */
int64_t wobble_ns(const struct world *w, const struct sim_node *node);
void wobble_change(struct world *w, struct sim_node *node);

/* Whether a fault may strike this node now, with what is wrong already. */
bool soundness_allows(const struct world *w, unsigned index, enum fault fault);

/* The node's clock shows something else, for so long. */
void clock_goes_wrong(struct world *w, unsigned index, uint64_t ns);
void clock_is_put_right(struct world *w, unsigned index);
/* The node has lost one key. */
void data_is_evicted(struct world *w, unsigned index);

/* Whether its record says that it may vote, and is true. */
bool node_is_ready(const struct world *w, unsigned index);
bool node_is_durable(const struct world *w, unsigned index);
bool clock_is_sound(const struct world *w, unsigned index);
bool data_is_sound(const struct world *w, unsigned index);
/* The nodes of which one or the other is not. */
unsigned nodes_unsound(const struct world *w);

/* No lease that a client's request begins lasts longer on a sound node. */
uint64_t guard_lease_ns(const struct world *w);
/* How long a node that has lost something does not vote. */
uint64_t guard_quarantine_ns(const struct world *w);

#endif
