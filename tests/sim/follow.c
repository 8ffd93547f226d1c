/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows the token of every attempt that has ended, one way or another, until
 * its keys are gone: no key is left on a node with which the client can talk,
 * and to which it owes no release any more.
 */
#include "redis/inner.h"
#include "world.h"

#define LOOKS_MAX 8

static void drop(struct followed *f)
{
    f->used = false;
}

/* Whether what the node does to keys is by the book, for long enough. */
static bool is_regular(const struct world *w, const struct sim_client *c,
                       unsigned node)
{
    uint64_t lease_ns = 3 * world_lease_ns(w);

    return w->now >= w->node[node].tainted_until &&
           w->now >= w->node[node].odd_until && w->now >= c->tainted_until &&
           (c->jumped_at == 0 || w->now > c->jumped_at + lease_ns);
}

static bool is_settled(const struct world *w, const struct sim_client *c,
                       unsigned index)
{
    const struct ql_node *node = c->ql->member[index].node;

    /* Stopped, it cannot have sent what it was about to send. */
    return !c->inside && w->now >= c->stopped_until &&
           ql_node_state(node) == QL_NODE_READY &&
           ql_node_pending_releases(node) == 0;
}

/* The number of nodes that may still have a key for good reasons. */
static unsigned look(struct world *w, const struct sim_client *c,
                     const struct followed *f)
{
    unsigned excused = 0;

    for (unsigned i = 0; i < w->swarm.nodes; i++) {
        const struct key *key =
            node_key(w, i, w->oracle.lock[f->lock].name, f->token);

        if (!key || key->stray)
            continue;
        if (!is_settled(w, c, i) || !is_regular(w, c, i))
            excused++;
        else
            world_fail(w,
                       "an attempt of client %u for lock %u has ended, but its "
                       "key is left on node %u (%s)",
                       f->client, f->lock, i, f->token);
    }
    return excused;
}

static void look_again(struct world *w, uint64_t index, uint64_t unused)
{
    struct followed *f = &w->oracle.followed[index];
    struct sim_client *c = &w->client[f->client];

    (void)unused;
    if (!c->alive || c->incarnation != f->incarnation) {
        drop(f);
        return;
    }
    if (look(w, c, f) == 0) {
        w->tally.keys_checked++;
        drop(f);
    } else if (++f->looks == LOOKS_MAX) {
        drop(f);
    } else {
        uint64_t pause = (w->swarm.node_timeout_ms * MS) << f->looks;

        events_plan(&w->events, w->now + pause, look_again, index, 0);
    }
}

static struct followed *find_unused(struct oracle *oracle)
{
    for (unsigned i = 0; i < oracle->followeds; i++)
        if (!oracle->followed[i].used)
            return &oracle->followed[i];
    return oracle->followeds < FOLLOWED_MAX
               ? &oracle->followed[oracle->followeds++]
               : NULL;
}

void follow(struct world *w, const struct handle *handle, const char *token)
{
    struct oracle *oracle = &w->oracle;
    struct followed *f = find_unused(oracle);
    uint64_t pause =
        2 * (w->swarm.delay_ns + w->swarm.jitter_ns) + w->swarm.latency_ns;

    if (!f || handle->adopted)
        return;
    *f = (struct followed){
        .used = true,
        .client = handle->client,
        .lock = handle->lock,
        .incarnation = w->client[handle->client].incarnation,
    };
    memcpy(f->token, token, sizeof f->token);
    events_plan(&w->events, w->now + pause, look_again,
                (uint64_t)(f - oracle->followed), 0);
}
