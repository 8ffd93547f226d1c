/* SPDX-License-Identifier: BSD-2-Clause */
#include "soundness.h"

#include <stdlib.h>

#include "guard/group.h"
#include "world.h"

/* What a clock that is right shows when true time is 0. */
#define EPOCH_NS (UINT64_C(1700000000) * S)

static unsigned quorum(const struct world *w)
{
    return w->swarm.nodes / 2 + 1;
}

uint64_t guard_lease_ns(const struct world *w)
{
    return world_lease_ns(w) +
           (6 * w->swarm.slack_ms + w->swarm.lock_delay_ms) * MS;
}

uint64_t guard_quarantine_ns(const struct world *w)
{
    return US * ql_quarantine_us(w->swarm.max_ttl_ms, w->swarm.slack_ms,
                                 w->swarm.drift_ppm);
}

/* --- Clocks ----------------------------------------------------------------
 */

/* Two clocks that are right differ by half of the slack at most: the rest is
 * for the error with which clients read them. */
static uint64_t amplitude_ns(const struct world *w)
{
    return w->swarm.slack_ms * MS / 4;
}

/* How far it is on its way, there and back again. */
static uint64_t way_ns(const struct world *w, const struct sim_node *node)
{
    uint64_t passed = w->now - node->wobble.since;

    return (node->wobble.phase + passed / 1000000 * node->wobble.ppm +
            passed % 1000000 * node->wobble.ppm / 1000000) %
           (4 * amplitude_ns(w));
}

int64_t wobble_ns(const struct world *w, const struct sim_node *node)
{
    int64_t way = (int64_t)way_ns(w, node);
    int64_t most = (int64_t)amplitude_ns(w);

    return way < 2 * most ? way - most : 3 * most - way;
}

void wobble_change(struct world *w, struct sim_node *node)
{
    node->wobble.phase = way_ns(w, node);
    node->wobble.since = w->now;
    node->wobble.ppm = dice_below(&w->dice, (uint64_t)w->swarm.rate_ppm + 1);
}

static void set_right(const struct world *w, struct sim_node *node)
{
    node->clock.since = w->now;
    node->clock.base = EPOCH_NS + w->now;
    node->clock.ppm = 0;
}

void soundness_open(struct world *w, struct sim_node *node)
{
    set_right(w, node);
    node->wobble.since = w->now;
    node->wobble.phase = dice_below(&w->dice, 4 * amplitude_ns(w));
    node->redis.syncs = w->swarm.syncs;
}

static void longer(uint64_t *until, uint64_t than)
{
    if (*until < than)
        *until = than;
}

void clock_goes_wrong(struct world *w, unsigned index, uint64_t ns)
{
    struct sim_node *node = &w->node[index];

    node->clock_wrong = true;
    node->struck_at = w->now;
    longer(&node->clock_until, w->now + ns + guard_lease_ns(w));
    node_taint(w, index, ns);
}

void clock_is_put_right(struct world *w, unsigned index)
{
    struct sim_node *node = &w->node[index];
    int64_t was_us;

    if (!node->clock_wrong)
        return;
    was_us = node_clock_us(w, node);
    set_right(w, node);
    node->clock_wrong = false;
    node->struck_at = w->now;
    longer(&node->clock_until, w->now + guard_lease_ns(w));
    /* Keys that were set while it was behind expire early now; and those that
     * were set while it was ahead, late. */
    node_taint(w, index, 0);
    longer(&node->odd_until,
           w->now + world_lease_ns(w) +
               US * (uint64_t)llabs(was_us - node_clock_us(w, node)));
}

/* --- Data ------------------------------------------------------------------
 */

void data_is_evicted(struct world *w, unsigned index)
{
    longer(&w->node[index].data_until, w->now + guard_lease_ns(w));
    w->node[index].lost = true; /* if it was the node's record */
}

static bool field_is(const struct key *key, const char *name, const char *text)
{
    const struct field *field = key_field(key, name, strlen(name));

    return field && strcmp(field->value, text) == 0;
}

bool node_is_ready(const struct world *w, unsigned index)
{
    const struct sim_node *node = &w->node[index];
    const struct key *key =
        keyspace_find(&node->redis.keys, 0, "quorlock:node", 13);

    return key && node->state != NODE_DOWN && node->state != NODE_OFF &&
           field_is(key, "state", "ready") &&
           field_is(key, "run", node->redis.run_id);
}

/* Whether it will be seen that a restart has cost it nothing. */
bool node_is_durable(const struct world *w, unsigned index)
{
    const struct sim_node *node = &w->node[index];
    const struct key *key =
        keyspace_find(&node->redis.keys, 0, "quorlock:node", 13);
    const struct field *run = key ? key_field(key, "run", 3) : NULL;

    return w->swarm.syncs && !node->lost && run && run->value[0] &&
           field_is(key, "state", "ready") && field_is(key, "sync", run->value);
}

/* --- Soundness ------------------------------------------------------------
 */

bool clock_is_sound(const struct world *w, unsigned index)
{
    const struct sim_node *node = &w->node[index];

    return !node->clock_wrong && w->now >= node->clock_until;
}

bool data_is_sound(const struct world *w, unsigned index)
{
    const struct sim_node *node = &w->node[index];

    return w->now >= node->data_until &&
           (!node->lost || node_is_ready(w, index));
}

static bool is_sound(const struct world *w, unsigned index)
{
    return clock_is_sound(w, index) && data_is_sound(w, index);
}

unsigned nodes_unsound(const struct world *w)
{
    unsigned count = 0;

    for (unsigned i = 0; i < w->swarm.nodes; i++)
        count += !is_sound(w, i);
    return count;
}

/* Other nodes that have lost something. */
static unsigned others_lost(const struct world *w, unsigned index)
{
    unsigned count = 0;

    for (unsigned i = 0; i < w->swarm.nodes; i++)
        count += i != index && !data_is_sound(w, i);
    return count;
}

/* Nodes other than this that are in the way of another fault. In a wild world
 * wrong clocks are in nobody's way. */
static unsigned others_unsound(const struct world *w, unsigned index)
{
    unsigned count = 0;

    if (w->swarm.wild)
        return others_lost(w, index);
    for (unsigned i = 0; i < w->swarm.nodes; i++)
        count += i != index && !is_sound(w, i);
    return count;
}

static bool is_formed(const struct world *w)
{
    for (unsigned i = 0; i < w->swarm.nodes; i++)
        if (!w->node[i].was_ready)
            return false;
    return true;
}

/* If fewer than a quorum still have the group's record, it takes an operator to
 * mend that: with an even number of nodes one fewer may lose it. */
static bool may_lose(const struct world *w, unsigned index)
{
    return is_formed(w) && others_unsound(w, index) + 1 < quorum(w) &&
           others_lost(w, index) + 1 + quorum(w) <= w->swarm.nodes;
}

/*
 * A lease is kept by two keys, and by a clock by which one of them expires. So
 * neither may a key be evicted where anything is wrong, nor may anything else
 * go wrong with the same lease. A whole restart is another matter: the node
 * does not vote then.
 */
bool soundness_allows(const struct world *w, unsigned index, enum fault fault)
{
    const struct sim_node *node = &w->node[index];
    bool evicted = w->now < node->data_until;

    switch (fault) {
    case FAULT_NODE_KILL:
    case FAULT_NODE_POWER:
        /* After another restart nobody sees that it was promoted. */
        return node_is_durable(w, index) ||
               (!(node->redis.promoted && node->lost) && may_lose(w, index));
    case FAULT_NODE_BACK:
    case FAULT_NODE_FORWARD:
    case FAULT_NODE_RACE:
    case FAULT_NODE_STOP:
        return !evicted &&
               (w->swarm.wild || others_unsound(w, index) + 1 < quorum(w));
    case FAULT_EVICT:
        return is_sound(w, index) && may_lose(w, index);
    case FAULT_NODE_EMPTY:
    case FAULT_NODE_EVERYSEC:
    case FAULT_FLUSH:
    case FAULT_PROMOTE:
    case FAULT_SWAP:
        return may_lose(w, index);
    default:
        return true;
    }
}
