/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holders: at most one inside its validity, with a majority of the nodes behind
 * it; and told in time when that ends.
 */
#include "oracle.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/time.h"
#include "faults.h"
#include "redis/inner.h"
#include "soundness.h"
#include "world.h"

void oracle_open(struct world *w)
{
    for (unsigned i = 0; i < LOCKS_MAX; i++) {
        struct lock_record *lock = &w->oracle.lock[i];

        snprintf(lock->name, sizeof lock->name, "lock-%u", i);
        snprintf(lock->record, sizeof lock->record, "quorlock:lock:{%s}",
                 lock->name);
    }
}

static struct sim_client *client_of(struct world *w, const struct handle *h)
{
    return &w->client[h->client];
}

/* Until when it may act, by its own clock; 0: it may not. */
static uint64_t valid_until(const struct handle *handle)
{
    const struct ql_machine *m = &handle->ql->machine;

    return m->state == QL_ST_HELD || m->state == QL_ST_LOST ? m->valid_until
                                                            : 0;
}

static uint64_t valid_ns(struct world *w, const struct handle *handle)
{
    uint64_t until = valid_until(handle);

    /* Asking the clock costs more than seeing that it need not be asked. */
    return until ? ql_time_sub(until, client_clock(w, client_of(w, handle)))
                 : 0;
}

/* --- The invariants --------------------------------------------------------
 */

/*
 * With f nodes that may have forgotten their vote, two holders are excusable
 * if two majorities need share no other node: 2 (q - f) <= n - f.
 */
static bool excusable(const struct world *w)
{
    unsigned quorum = w->swarm.nodes / 2 + 1;

    return nodes_tainted(w) + w->swarm.nodes >= 2 * quorum;
}

/* The guarded level stands any faults of fewer nodes than a quorum. */
static bool excusable_guarded(const struct world *w)
{
    return nodes_unsound(w) >= w->swarm.nodes / 2 + 1;
}

static bool client_tainted(struct world *w, const struct handle *handle)
{
    return w->now < client_of(w, handle)->tainted_until;
}

static void two_holders(struct world *w, struct lock_record *lock,
                        const struct handle *a, const struct handle *b)
{
    bool guarded = a->guarded && b->guarded;
    bool excused = (guarded ? excusable_guarded(w) : excusable(w)) ||
                   client_tainted(w, a) || client_tainted(w, b);

    tell(w,
         excused ? "OVERLAP, excused: %c and %c hold %k"
                 : "OVERLAP: %c and %c hold %k",
         a->client, b->client, a->lock, NULL);
    if (!excused)
        world_fail(w, "clients %u and %u hold lock %u at the same time",
                   a->client, b->client, a->lock);
    if (!lock->overlap_told && guarded)
        w->tally.overlaps_guarded++;
    else if (!lock->overlap_told)
        w->tally.overlaps_outside++;
    lock->overlap_told = true;
}

/* Whether the node knows that the lock is the handle's: 1; whether it may have
 * forgotten: *tainted. */
static bool backs(const struct world *w, const struct lock_record *lock,
                  const struct handle *handle, unsigned i, bool *tainted)
{
    if (handle->guarded) {
        *tainted = !clock_is_sound(w, i) || !data_is_sound(w, i);
        return !*tainted && node_lease(w, i, lock->record, handle->ql->token);
    }
    *tainted = w->now < w->node[i].tainted_until;
    return !*tainted && node_key(w, i, lock->name, handle->ql->token);
}

/* Who is inside its validity has its key on so many nodes, and they live. */
static void count_majority(struct world *w, const struct lock_record *lock,
                           const struct handle *handle)
{
    unsigned quorum = w->swarm.nodes / 2 + 1;
    unsigned keys = 0, tainted = 0;

    if (client_tainted(w, handle))
        return;
    for (unsigned i = 0; i < w->swarm.nodes; i++) {
        bool is_tainted;

        keys += backs(w, lock, handle, i, &is_tainted);
        tainted += is_tainted;
    }
    w->tally.proofs++;
    if (keys + tainted < quorum)
        world_fail(w,
                   "client %u is inside its validity of lock %u, but only %u "
                   "of %u nodes have its key",
                   handle->client, handle->lock, keys, w->swarm.nodes);
}

static bool is_punctual(const struct world *w, const struct sim_client *c)
{
    return !c->inside && w->now >= c->stopped_until &&
           w->now > c->unpunctual_at + 4 * w->swarm.latency_ns + MS;
}

/* The validity has ended. A lock that renews itself said so before. */
static void ended(struct world *w, struct handle *handle)
{
    struct sim_client *c = client_of(w, handle);

    handle->counted = false;
    /* Within a step it may have read the clock before that. */
    handle->over = !c->inside;
    if (handle->renew && handle->believes && handle->notice_possible &&
        is_punctual(w, c) && valid_until(handle) > 0)
        world_fail(w,
                   "the validity of lock %u ended and client %u, which renews "
                   "it, was not told",
                   handle->lock, handle->client);
}

static void check_lock(struct world *w, struct lock_record *lock)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < lock->holders; i++) {
        struct handle *handle = lock->holder[i];

        if (valid_ns(w, handle) == 0) {
            ended(w, handle);
            continue;
        }
        lock->holder[kept++] = handle;
        count_majority(w, lock, handle);
    }
    lock->holders = kept;
    if (kept < 2)
        lock->overlap_told = false;
    for (unsigned i = 1; i < kept; i++)
        two_holders(w, lock, lock->holder[i - 1], lock->holder[i]);
}

void oracle_check(struct world *w)
{
    for (unsigned i = 0; i < w->swarm.locks; i++)
        if (w->oracle.lock[i].holders > 0)
            check_lock(w, &w->oracle.lock[i]);
}

/* --- Looking at a client ---------------------------------------------------
 */

/* Faults strike where they would do most harm, more often than elsewhere. */
static void tempt(struct world *w, const struct lock_record *lock,
                  const struct handle *handle)
{
    unsigned nodes = 0, count = 0;

    for (unsigned i = 0; i < w->swarm.nodes; i++)
        if (node_key(w, i, lock->name, handle->ql->token)) {
            nodes |= 1u << i;
            count++;
        }
    if (count == w->swarm.nodes / 2 + 1 && dice_chance(&w->dice, 400000))
        faults_tempt(w, nodes);
}

static void new_validity(struct world *w, struct handle *handle,
                         uint64_t left_ns)
{
    struct lock_record *lock = &w->oracle.lock[handle->lock];
    uint64_t notice_ns = w->swarm.notice_ms * MS;

    handle->valid_until = valid_until(handle);
    handle->notice_possible = left_ns > notice_ns + 4 * w->swarm.latency_ns &&
                              notice_ns > 4 * w->swarm.latency_ns + MS;
    if (handle->valid_until > handle->told_until)
        world_fail(w,
                   "client %u was told that lock %u is lost, and extended it",
                   handle->client, handle->lock);
    if (left_ns == 0 || handle->counted)
        return;
    if (handle->over && !client_tainted(w, handle))
        world_fail(w, "client %u extended lock %u after its validity had ended",
                   handle->client, handle->lock);
    assert(lock->holders < HOLDERS_MAX);
    lock->holder[lock->holders++] = handle;
    handle->counted = true;
    if (w->swarm.guarded)
        tempt(w, lock, handle);
}

/* The attempt is over when the machine goes on without it. */
static void look_at_token(struct world *w, struct handle *handle)
{
    uint8_t state = handle->ql->machine.state;

    if (strcmp(handle->token, handle->ql->token) != 0) {
        if (handle->token_open)
            follow(w, handle, handle->token);
        memcpy(handle->token, handle->ql->token, sizeof handle->token);
        handle->over = false;
        handle->told_until = NEVER;
        handle->token_open = handle->token[0] != '\0';
    }
    if (handle->token_open && (state == QL_ST_IDLE || state == QL_ST_WAITING)) {
        follow(w, handle, handle->token);
        handle->token_open = false;
    } else if (state != QL_ST_IDLE && state != QL_ST_WAITING) {
        handle->token_open = true;
    }
}

static void look_at_queues(struct world *w, struct sim_client *c)
{
    for (unsigned i = 0; i < w->swarm.nodes; i++) {
        const struct ql_node *node = c->ql->member[i].node;
        unsigned queued = node->queue.count, owed = node->debts.count;

        if (queued > w->tally.queue_longest)
            w->tally.queue_longest = queued;
        if (queued > 2 * QL_QUEUE_REQUESTS || owed > QL_DEBT_REQUESTS)
            world_fail(w, "client %u has %u requests and %u debts at node %u",
                       c->index, queued, owed, i);
    }
}

void oracle_look(struct world *w, struct sim_client *c)
{
    for (unsigned i = 0; i < w->swarm.handles; i++) {
        struct handle *handle = &c->handle[i];
        uint64_t until = handle->ql ? valid_until(handle) : 0;

        if (!handle->ql) /* it is being freed */
            continue;
        look_at_token(w, handle);
        if (until != handle->valid_until) {
            uint64_t left_ns = valid_ns(w, handle);

            tell(w, "%c: %k valid for %t (%s)", c->index, handle->lock, left_ns,
                 handle->ql->token);
            new_validity(w, handle, left_ns);
        }
    }
    look_at_queues(w, c);
    oracle_check(w);
}

void oracle_forget(struct world *w, struct handle *handle)
{
    struct lock_record *lock = &w->oracle.lock[handle->lock];

    for (unsigned i = 0; i < lock->holders; i++)
        if (lock->holder[i] == handle) {
            lock->holder[i] = lock->holder[--lock->holders];
            break;
        }
    handle->counted = false;
    handle->believes = false;
}

void oracle_released(struct world *w, const struct handle *handle)
{
    unsigned keys = 0, quorum = w->swarm.nodes / 2 + 1;

    for (unsigned i = 0; !handle->adopted && i < w->swarm.nodes; i++) {
        const struct key *key = node_key(
            w, i, w->oracle.lock[handle->lock].name, handle->ql->token);

        keys += key && !key->stray && w->now >= w->node[i].tainted_until;
    }
    if (keys > w->swarm.nodes - quorum)
        world_fail(w, "client %u released lock %u, but %u nodes have its key",
                   handle->client, handle->lock, keys);
}
