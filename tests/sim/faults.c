/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a fault of a kind strikes, whom, and for how long. What strikes clocks
 * and processes is in troubles.c.
 */
#include "faults.h"

#include "soundness.h"
#include "troubles.h"
#include "world.h"

static unsigned some_node(struct world *w)
{
    return (unsigned)dice_below(&w->dice, w->swarm.nodes);
}

/* One that the fault may strike; `nodes`: there is none. */
static unsigned victim(struct world *w, enum fault fault)
{
    unsigned first = some_node(w);

    if (!w->swarm.guarded)
        return first;
    for (unsigned i = 0; i < w->swarm.nodes; i++) {
        unsigned index = (first + i) % w->swarm.nodes;

        if (soundness_allows(w, index, fault))
            return index;
    }
    return w->swarm.nodes;
}

static struct sim_client *some_client(struct world *w)
{
    return &w->client[dice_below(&w->dice, w->swarm.clients)];
}

static uint64_t some_time(struct world *w)
{
    return 1 +
           dice_spread(&w->dice, w->swarm.fault_ns / 64 + 1, w->swarm.fault_ns);
}

/* --- Paths -----------------------------------------------------------------
 */

/* Undoes what `strike_paths` did: the same sets, from the same dice. */
struct cut {
    uint32_t clients, nodes;
    bool up, down;
};

static struct cut draw_cut(uint64_t seed)
{
    struct dice dice = {seed};
    struct cut cut = {.up = true, .down = true};

    cut.clients = (uint32_t)dice_next(&dice);
    cut.nodes = (uint32_t)dice_next(&dice);
    if (dice_chance(&dice, 300000))
        cut.clients = 1u << dice_below(&dice, CLIENTS_MAX);
    if (dice_chance(&dice, 300000))
        cut.nodes = 1u << dice_below(&dice, NODES_MAX);
    if (dice_chance(&dice, 400000))
        cut.up = dice_chance(&dice, 500000), cut.down = !cut.up;
    return cut;
}

static void change_paths(struct world *w, uint64_t seed, int blocked,
                         int64_t delay_ns)
{
    struct cut cut = draw_cut(seed);

    for (unsigned c = 0; c < w->swarm.clients; c++)
        for (unsigned n = 0; n < w->swarm.nodes; n++)
            for (unsigned d = UP; d <= DOWN; d++) {
                struct path *path = &w->network.path[d][c][n];

                if (!(cut.clients >> c & 1) || !(cut.nodes >> n & 1) ||
                    !(d == UP ? cut.up : cut.down))
                    continue;
                path->blocked = (uint8_t)(path->blocked + blocked);
                path->more_delay_ns += (uint64_t)delay_ns;
            }
}

static void heal_paths(struct world *w, uint64_t seed, uint64_t unused)
{
    (void)unused;
    if (!w->calm)
        change_paths(w, seed, -1, 0);
}

static void speed_paths_up(struct world *w, uint64_t seed, uint64_t delay_ns)
{
    if (!w->calm)
        change_paths(w, seed, 0, -(int64_t)delay_ns);
}

static void cut_paths(struct world *w)
{
    uint64_t seed = dice_next(&w->dice);

    tell(w, "some paths are cut", 0, 0, 0, NULL);
    change_paths(w, seed, 1, 0);
    events_plan(&w->events, w->now + some_time(w), heal_paths, seed, 0);
}

static void slow_paths_down(struct world *w)
{
    uint64_t seed = dice_next(&w->dice);
    uint64_t delay_ns =
        dice_spread(&w->dice, w->swarm.delay_ns, 2 * w->swarm.ttl_ms * MS);

    tell(w, "some paths are slower by %t", delay_ns, 0, 0, NULL);
    change_paths(w, seed, 0, (int64_t)delay_ns);
    events_plan(&w->events, w->now + some_time(w), speed_paths_up, seed,
                delay_ns);
}

/* --- Connections ------------------------------------------------------------
 */

static struct conn *some_conn(struct world *w)
{
    unsigned conns = w->network.conns;
    unsigned first = (unsigned)dice_below(&w->dice, conns);

    for (unsigned i = 0; i < conns; i++) {
        struct conn *conn = &w->network.conn[(first + i) % conns];

        if (conn->used && conn->mine == END_OPEN && conn->theirs == END_OPEN)
            return conn;
    }
    return NULL;
}

static void strike_conn(struct world *w, enum fault fault)
{
    struct conn *conn = some_conn(w);

    if (!conn)
        return;
    tell(w, "%c and %n: %s", conn->client, conn->node, 0, fault_word(fault));
    if (fault == FAULT_HANG_UP)
        network_hang_up(w, conn, dice_chance(&w->dice, 500000));
    else if (fault == FAULT_RESET)
        network_forge_reset(w, conn);
    else if (dice_chance(&w->dice, 500000))
        conn->dead = true;
    else
        network_forget(w, conn);
}

/* --- Strikes ---------------------------------------------------------------
 */

static void strike_now(struct world *w, enum fault fault)
{
    /* Drawn one after the other, whatever the compiler's order of arguments. */
    uint64_t ns = some_time(w);
    unsigned node;

    switch (fault) {
    case FAULT_PARTITION:
        cut_paths(w);
        break;
    case FAULT_SLOW_PATH:
        slow_paths_down(w);
        break;
    case FAULT_RESET:
    case FAULT_HALF_OPEN:
    case FAULT_HANG_UP:
        strike_conn(w, fault);
        break;
    case FAULT_CLIENT_RATE:
    case FAULT_CLIENT_WALL:
    case FAULT_PAUSE:
    case FAULT_VM_PAUSE:
    case FAULT_CLIENT_CRASH:
    case FAULT_CLIENT_POWER:
    case FAULT_CLIENT_QUIT:
    case FAULT_CLIENT_CRAWL:
    case FAULT_VM_BLINK:
        trouble_client(w, some_client(w), fault, ns);
        break;
    default:
        node = victim(w, fault);
        if (node == w->swarm.nodes)
            return;
        trouble_node(w, node, fault, ns);
        /* What is wrong with one is often wrong with another, too. */
        if (w->swarm.guarded && dice_chance(&w->dice, 400000))
            strike_now(w, fault);
        break;
    }
    w->tally.fault[fault]++;
}

static void plan_next(struct world *w, enum fault fault);

static void strike(struct world *w, uint64_t fault, uint64_t unused)
{
    (void)unused;
    if (w->calm)
        return;
    strike_now(w, (enum fault)fault);
    plan_next(w, (enum fault)fault);
}

static void plan_next(struct world *w, enum fault fault)
{
    events_plan(&w->events,
                w->now + 1 + dice_below(&w->dice, 2 * w->swarm.every_ns[fault]),
                strike, fault, 0);
}

void faults_start(struct world *w)
{
    for (unsigned i = 0; i < FAULTS; i++)
        if (w->swarm.every_ns[i] > 0)
            plan_next(w, (enum fault)i);
}

static void strike_node(struct world *w, uint64_t fault, uint64_t node)
{
    uint64_t ns = some_time(w);

    if (w->calm || !soundness_allows(w, (unsigned)node, (enum fault)fault))
        return;
    w->tally.fault[fault]++;
    trouble_node(w, (unsigned)node, (enum fault)fault, ns);
}

void faults_tempt(struct world *w, unsigned nodes)
{
    unsigned node = some_node(w);
    enum fault fault = (enum fault)dice_below(&w->dice, FAULTS);
    unsigned tries = 0;

    if (w->calm)
        return;
    while (!(nodes >> node & 1))
        node = (node + 1) % w->swarm.nodes;
    while (tries++ < FAULTS &&
           (!swarm_stands(fault) || w->swarm.every_ns[fault] == 0))
        fault = (enum fault)((fault + 1) % FAULTS);
    if (tries <= FAULTS)
        events_plan(&w->events,
                    w->now + 1 + dice_below(&w->dice, w->swarm.hold_ns / 4),
                    strike_node, fault, node);
}

/* Who the server is, is asked once for each connection: a client behind the
 * proxy gets no vote there until its connection ends, as all of them do. */
static void end_disguises(struct world *w)
{
    for (unsigned i = 0; i < w->network.conns; i++) {
        struct conn *conn = &w->network.conn[i];

        if (conn->used && conn->mine == END_OPEN && conn->theirs == END_OPEN &&
            w->node[conn->node].disguised)
            network_forge_reset(w, conn);
    }
}

void faults_end(struct world *w)
{
    w->calm = true;
    tell(w, "the faults are over", 0, 0, 0, NULL);
    memset(w->network.path, 0, sizeof w->network.path);
    for (unsigned i = 0; i < w->swarm.nodes; i++)
        trouble_node_ends(w, i);
    for (unsigned i = 0; i < w->swarm.clients; i++)
        trouble_client_ends(w, &w->client[i]);
    end_disguises(w);
}
