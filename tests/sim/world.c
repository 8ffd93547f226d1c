/* SPDX-License-Identifier: BSD-2-Clause */
#include "world.h"

#include <stdarg.h>
#include <stdio.h>

#include "faults.h"
#include "guarded.h"
#include "program.h"
#include "soundness.h"
#include "troubles.h"

/* A world ends when it has lived for so long, even if little has happened. */
#define LIFE_NS                (20000 * S)
#define EVENTS_PER_ACQUISITION 120

struct world *world_alive;

uint64_t world_lease_ns(const struct world *w)
{
    uint64_t ttl_ns = w->swarm.ttl_ms * MS;

    return ttl_ns + ttl_ns / 5 + 20 * MS;
}

void world_fail(struct world *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(w->failure, sizeof w->failure, format, args);
    va_end(args);
    longjmp(w->stop, 1);
}

/* --- Time ----------------------------------------------------------------- */

static void next_event(struct world *w)
{
    struct event event = events_take(&w->events);

    assert(event.at >= w->now);
    w->now = event.at;
    w->tally.events++;
    event.act(w, event.a, event.b);
    oracle_check(w);
}

void world_pass(struct world *w, uint64_t until)
{
    while (events_next(&w->events) <= until)
        next_event(w);
    if (w->now < until)
        w->now = until;
}

/* --- Life ----------------------------------------------------------------- */

static void begin(struct world *w, const struct world_options *options)
{
    w->dice.state = dice_mix(options->seed + UINT64_C(0x5eed));
    swarm_draw(&w->swarm, &w->dice, options->choice, options->level);
    w->tally.worlds = 1;
    w->tally.worlds_guarded = w->swarm.guarded;
    w->tally.worlds_outside = w->swarm.outside;
    w->now = 1000 * S;
    oracle_open(w);
    for (unsigned i = 0; i < w->swarm.nodes; i++) {
        node_open(w, i);
        trouble_node(w, i, FAULT_NODE_RATE, 0);
    }
    if (w->swarm.guarded)
        guarded_form(w);
    for (unsigned i = 0; i < w->swarm.clients; i++) {
        struct sim_client *c = &w->client[i];

        c->index = i;
        c->world = w;
        c->boot.base = dice_below(&w->dice, 1000000 * S);
        c->wall.base = dice_below(&w->dice, UINT64_C(1700000000) * S);
        c->boot.since = c->wall.since = w->now;
        client_open(w, c);
        trouble_client(w, c, FAULT_CLIENT_RATE, 0);
    }
    faults_start(w);
}

static void live(struct world *w, uint64_t acquisitions)
{
    uint64_t end = w->now + LIFE_NS;
    uint64_t events_max = acquisitions * EVENTS_PER_ACQUISITION;

    /* They take longer, and more can be different. */
    if (w->swarm.guarded) {
        acquisitions = acquisitions / 4 + 1;
        events_max /= 2;
    }
    while (w->tally.acquisitions < acquisitions && w->now < end &&
           w->tally.events < events_max)
        next_event(w);
}

static bool each_lock_acquired(const struct world *w)
{
    for (unsigned i = 0; i < w->swarm.locks; i++)
        if (w->oracle.lock[i].acquired == 0)
            return false;
    return true;
}

static bool each_node_ready(const struct world *w)
{
    for (unsigned i = 0; i < w->swarm.nodes; i++)
        if (!node_is_ready(w, i))
            return false;
    return true;
}

/* False: not in so long that it cannot be a matter of time. And a node that
 * has lost something is made ready again, if there is anybody to see to it. */
static bool wait_for_each_lock(struct world *w)
{
    bool tended = w->swarm.guarded && w->swarm.level != SWARM_ATTACKED &&
                  w->swarm.level != SWARM_MIXED;
    /* A silent connection is given up after 30 seconds; then what is left
     * behind expires, by a clock that may have been set back. */
    uint64_t bound = 60 * S + 40 * world_lease_ns(w) +
                     400 * (w->swarm.retry_ms + w->swarm.node_timeout_ms) * MS;
    uint64_t end;

    /* Leases that a wrong clock has dated; quarantines, one after another. */
    if (w->swarm.guarded)
        bound += 40 * guard_lease_ns(w) + 4 * guard_quarantine_ns(w) +
                 (w->swarm.wild ? 4 * w->swarm.step_ns : 0);
    end = w->now + bound;
    while (!each_lock_acquired(w) || (tended && !each_node_ready(w))) {
        if (w->now >= end)
            return false;
        w->patient = each_lock_acquired(w);
        next_event(w);
    }
    return true;
}

/*
 * When nothing goes wrong any more, somebody gets each lock. But where dozens
 * try for it without end, and pause for less than a round trip, their votes may
 * be split each time: Redlock promises none of them anything. Such worlds are
 * counted. One client that is left alone must get each lock all the same.
 */
static void recover(struct world *w)
{
    faults_end(w);
    for (unsigned i = 0; i < w->swarm.locks; i++)
        w->oracle.lock[i].acquired = 0;
    if (wait_for_each_lock(w))
        return;
    if (!each_lock_acquired(w)) {
        w->tally.crowded++;
        programs_give_way(w);
        if (wait_for_each_lock(w))
            return;
    }
    world_fail(w, each_lock_acquired(w)
                      ? "the faults are over, and a node is not ready"
                      : "the faults are over, and nobody gets a lock");
}

/*
 * What is left on the nodes expires by itself, but for their own records: no
 * key lasts longer than a lease and what it is remembered for. A clock that was
 * wrong has made some last longer by as much.
 */
static void check_footprint(struct world *w)
{
    uint64_t most_ns = guard_lease_ns(w) +
                       (w->swarm.keep_ms + w->swarm.max_ttl_ms) * MS +
                       4 * w->swarm.step_ns;

    for (unsigned i = 0; i < w->swarm.nodes; i++) {
        const struct sim_node *node = &w->node[i];
        int64_t end_ms =
            node_clock_us(w, node) / 1000 + (int64_t)(most_ns / MS);

        for (unsigned k = 0; k < node->redis.keys.count; k++) {
            const struct key *key = &node->redis.keys.key[k];

            if (key->expires_ms > end_ms &&
                strcmp(key->name, "quorlock:node") != 0)
                world_fail(w, "node %u keeps %s for too long", i, key->name);
        }
    }
}

/* Some quit as they should; the others just go. */
static void end(struct world *w)
{
    w->over = true;
    for (unsigned i = 0; i < w->swarm.clients; i++) {
        if (dice_chance(&w->dice, 500000))
            client_quit(w, &w->client[i]);
        client_kill(w, &w->client[i], false);
    }
    if (w->swarm.guarded)
        check_footprint(w);
    if (w->kernel.open > 0)
        world_fail(w, "%u descriptors were not closed", w->kernel.open);
    w->tally.simulated_ns = w->now - 1000 * S;
}

struct world *world_run(const struct world_options *options)
{
    struct world *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    world_alive = w;
    w->seed = options->seed;
    w->tale.aloud = options->verbose;
    if (setjmp(w->stop) == 0) {
        begin(w, options);
        live(w, options->acquisitions);
        recover(w);
        end(w);
    }
    kernel_leave_all();
    world_alive = NULL;
    return w;
}

void world_free(struct world *w)
{
    network_free(w);
    for (unsigned i = 0; i < w->swarm.nodes; i++)
        node_free(&w->node[i]);
    events_free(&w->events);
    free(w);
}
