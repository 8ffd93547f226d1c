/* SPDX-License-Identifier: BSD-2-Clause */
#include "troubles.h"

#include "soundness.h"
#include "world.h"

/* Faster or slower than true time, but never by more than so much. */
static int64_t some_rate(struct world *w)
{
    return (int64_t)dice_between(&w->dice, 0,
                                 (uint64_t)(2 * w->swarm.rate_ppm)) -
           w->swarm.rate_ppm;
}

static uint64_t some_ttls(struct world *w)
{
    return dice_spread(&w->dice, MS, 4 * w->swarm.ttl_ms * MS);
}

/* --- Nodes -----------------------------------------------------------------
 */

static void start_again(struct world *w, uint64_t node, uint64_t unused)
{
    (void)unused;
    node_start(w, (unsigned)node);
}

static void thaw_again(struct world *w, uint64_t node, uint64_t unused)
{
    (void)unused;
    node_thaw(w, (unsigned)node);
}

static void be_quick_again(struct world *w, uint64_t node, uint64_t unused)
{
    (void)unused;
    w->node[node].slow_ns = 0;
}

static void be_willing_again(struct world *w, uint64_t node, uint64_t unused)
{
    struct sim_node *it = &w->node[node];

    (void)unused;
    if (it->redis.refusal != REFUSES_LOADING)
        it->redis.refusal = REFUSES_NOTHING;
}

static void be_right_again(struct world *w, uint64_t node, uint64_t unused)
{
    (void)unused;
    if (w->swarm.guarded)
        wobble_change(w, &w->node[node]);
    else
        vclock_set_rate(&w->node[node].clock, w->now, some_rate(w));
}

/* What a crash leaves of the data, and what a stranger does to it. */
static void lose_data(struct world *w, unsigned index, enum fault fault)
{
    struct keyspace *keys = &w->node[index].redis.keys;

    if (fault == FAULT_NODE_EVERYSEC)
        keyspace_copy(keys, &w->node[index].synced);
    else if (fault == FAULT_PROMOTE)
        keyspace_copy(keys, &w->node[index].replica);
    else if (fault != FAULT_EVICT)
        keyspace_clear(keys);
    else if (keys->count > 0)
        keyspace_delete(keys, &keys->key[dice_below(&w->dice, keys->count)]);
    node_taint(w, index, 0);
    if (fault == FAULT_EVICT)
        data_is_evicted(w, index);
    w->node[index].lost = true;
    w->node[index].struck_at = w->now;
}

static void kill_node(struct world *w, unsigned index, enum fault fault,
                      uint64_t ns)
{
    node_kill(w, index, fault == FAULT_NODE_POWER);
    w->node[index].redis.promoted = fault == FAULT_PROMOTE;
    if (w->swarm.guarded && !node_is_durable(w, index))
        w->node[index].lost = true; /* as far as anybody can tell */
    events_plan(&w->events, w->now + ns, start_again, index, 0);
}

static void refuse(struct world *w, unsigned index, uint64_t ns)
{
    struct sim_node *node = &w->node[index];

    if (node->redis.refusal == REFUSES_LOADING)
        return;
    node->redis.refusal =
        dice_chance(&w->dice, 500000) ? REFUSES_OOM : REFUSES_MISCONF;
    events_plan(&w->events, w->now + ns, be_willing_again, index, 0);
}

static void set_back(struct world *w, unsigned index)
{
    struct sim_node *node = &w->node[index];
    uint64_t back_ns = some_ttls(w);

    vclock_step(&node->clock, w->now, -(int64_t)back_ns);
    if (node->odd_until < w->now)
        node->odd_until = w->now;
    node->odd_until += back_ns + world_lease_ns(w);
}

static void race(struct world *w, unsigned index, uint64_t ns)
{
    int64_t ppm = (int64_t)dice_spread(&w->dice, 20000, 3000000);

    vclock_set_rate(&w->node[index].clock, w->now, ppm);
    node_taint(w, index, ns);
    events_plan(&w->events, w->now + ns, be_right_again, index, 0);
}

/* --- Clocks of nodes that otherwise are kept right -------------------------
 */

static void clock_right_again(struct world *w, uint64_t node, uint64_t set)
{
    if (w->node[node].clock_set == set)
        clock_is_put_right(w, (unsigned)node);
}

/* As far as a clock can go wrong. */
static int64_t some_step(struct world *w)
{
    return (int64_t)dice_spread(&w->dice, MS / 2, w->swarm.step_ns);
}

/* How much faster it may run for so long. */
static int64_t some_haste(struct world *w, uint64_t ns)
{
    uint64_t most = w->swarm.step_ns / (ns / 1000000 + 1);

    return (int64_t)dice_spread(&w->dice, 20000,
                                most < 20000     ? 20000
                                : most > 3000000 ? 3000000
                                                 : most);
}

/*
 * What goes wrong is put right again, one day; and if several things do, all at
 * once. It lasts a while longer than other faults do.
 */
static void upset_clock(struct world *w, unsigned index, enum fault fault,
                        uint64_t ns)
{
    struct sim_node *node = &w->node[index];
    int64_t step = some_step(w);
    bool was_wrong = node->clock_wrong;

    if (dice_chance(&w->dice, 300000))
        ns *= 8;
    clock_goes_wrong(w, index, ns);
    if (fault == FAULT_NODE_STOP)
        vclock_set_rate(&node->clock, w->now, -1000000);
    else if (fault == FAULT_NODE_RACE)
        vclock_set_rate(&node->clock, w->now, some_haste(w, ns));
    else if (!was_wrong) /* or steps would add up */
        vclock_step(&node->clock, w->now,
                    fault == FAULT_NODE_BACK ? -step : step);
    events_plan(&w->events, w->now + ns, clock_right_again, index,
                ++node->clock_set);
}

static bool is_clocks(enum fault fault)
{
    return fault == FAULT_NODE_BACK || fault == FAULT_NODE_FORWARD ||
           fault == FAULT_NODE_RACE || fault == FAULT_NODE_STOP;
}

/* --- Strikes ---------------------------------------------------------------
 */

void trouble_node(struct world *w, unsigned index, enum fault fault,
                  uint64_t ns)
{
    struct sim_node *node = &w->node[index];

    tell(w, "%n: %s (for %t)", index, ns, 0, fault_word(fault));
    if (w->swarm.guarded && is_clocks(fault)) {
        upset_clock(w, index, fault, ns);
        return;
    }
    switch (fault) {
    case FAULT_PROMOTE:
    case FAULT_NODE_EMPTY:
    case FAULT_NODE_EVERYSEC:
        if (node->state == NODE_RUNS || node->state == NODE_FROZEN)
            lose_data(w, index, fault);
        /* fall through */
    case FAULT_NODE_KILL:
    case FAULT_NODE_POWER:
        kill_node(w, index, fault, ns);
        break;
    case FAULT_FLUSH:
    case FAULT_EVICT:
        lose_data(w, index, fault);
        break;
    case FAULT_SWAP:
        node_swap(w, index);
        node->redis.promoted = true;
        node_taint(w, index, 0);
        node->lost = true;
        node->struck_at = w->now;
        break;
    case FAULT_FREEZE:
        node_freeze(w, index);
        events_plan(&w->events, w->now + ns, thaw_again, index, 0);
        break;
    case FAULT_SLOW_NODE:
        node->slow_ns = dice_spread(&w->dice, 10 * US, w->swarm.ttl_ms * MS);
        events_plan(&w->events, w->now + ns, be_quick_again, index, 0);
        break;
    case FAULT_REFUSAL:
        refuse(w, index, ns);
        break;
    case FAULT_SCRIPT_FLUSH:
        node->redis.scripts = 0;
        break;
    case FAULT_NODE_BACK:
        set_back(w, index);
        break;
    case FAULT_NODE_RATE:
        be_right_again(w, index, 0);
        break;
    case FAULT_NODE_FORWARD:
        vclock_step(&node->clock, w->now, (int64_t)some_ttls(w));
        node_taint(w, index, 0);
        break;
    case FAULT_NODE_RACE:
        race(w, index, ns);
        break;
    default:
        assert(!"no trouble for a node");
    }
}

void trouble_node_ends(struct world *w, unsigned index)
{
    struct sim_node *node = &w->node[index];

    node_thaw(w, index);
    node_start(w, index);
    node->slow_ns = 0;
    node->redis.refusal = REFUSES_NOTHING;
    be_right_again(w, index, 0);
    clock_is_put_right(w, index);
}

/* --- Clients ---------------------------------------------------------------
 */

static void taint(struct world *w, struct sim_client *c, uint64_t ns)
{
    uint64_t until = w->now + ns + world_lease_ns(w);

    if (until > c->tainted_until)
        c->tainted_until = until;
}

static void set_rate(struct world *w, struct sim_client *c, int64_t ppm)
{
    vclock_set_rate(&c->boot, w->now, ppm);
    vclock_set_rate(&c->wall, w->now, ppm);
    client_plan(w, c);
}

static void keep_time_again(struct world *w, uint64_t index, uint64_t unused)
{
    (void)unused;
    set_rate(w, &w->client[index], some_rate(w));
}

/*
 * Nobody wakes a process up because its clock has jumped: it cannot tell of a
 * loss before it looks at the clock again. What it never looked at has not
 * been: after a step forward and one back a validity is what it was.
 */
static void jumped(struct world *w, struct sim_client *c)
{
    c->unpunctual_at = w->now;
    for (unsigned i = 0; i < w->swarm.handles; i++) {
        c->handle[i].over = false;
        c->handle[i].valid_until = 0;
    }
    if (c->alive)
        oracle_look(w, c);
    for (unsigned i = 0; i < w->swarm.handles; i++)
        c->handle[i].notice_possible = false;
}

/*
 * The boot clock has stood still while the machine was paused; if the pause was
 * long enough to be seen, the wall clock was put right. How far the clock would
 * have come is asked, not reckoned: its rate may have changed meanwhile, and a
 * boot clock never goes back.
 */
static void resume_machine(struct world *w, uint64_t index, uint64_t ns)
{
    struct sim_client *c = &w->client[index];
    int64_t passed = (int64_t)(vclock_read(&c->boot, w->now) - c->boot_paused);

    if (c->stopped_until != w->now) /* it was resumed by something else */
        return;
    vclock_step(&c->boot, w->now, -passed);
    if (ns < 2 * S)
        vclock_step(&c->wall, w->now, -passed);
    jumped(w, c);
    client_plan(w, c);
}

static void pause_machine(struct world *w, struct sim_client *c, uint64_t ns)
{
    /* A process that is stopped within a step would see the clock go on, and
     * then back. */
    if (c->inside || w->now < c->stopped_until)
        return;
    client_pause(w, c, ns);
    c->boot_paused = vclock_read(&c->boot, w->now);
    events_plan(&w->events, w->now + ns, resume_machine, c->index, ns);
}

static void step_wall(struct world *w, struct sim_client *c)
{
    int64_t step = (int64_t)dice_spread(&w->dice, MS, 3600 * S);

    /* A step back while a machine is paused would hide the pause. */
    if (w->swarm.every_ns[FAULT_VM_PAUSE] == 0 &&
        w->swarm.every_ns[FAULT_VM_BLINK] == 0 && dice_chance(&w->dice, 500000))
        step = -step;
    vclock_step(&c->wall, w->now, step);
    c->jumped_at = w->now;
    jumped(w, c);
}

static void end_client(struct world *w, struct sim_client *c, enum fault fault,
                       uint64_t ns)
{
    if (fault == FAULT_CLIENT_QUIT)
        client_quit(w, c);
    else
        client_kill(w, c, fault == FAULT_CLIENT_POWER);
    client_open_later(w, c, ns);
}

void trouble_client(struct world *w, struct sim_client *c, enum fault fault,
                    uint64_t ns)
{
    if (!c->alive)
        return;
    tell(w, "%c: %s (for %t)", c->index, ns, 0, fault_word(fault));
    switch (fault) {
    case FAULT_CLIENT_RATE:
        if (w->now >= c->tainted_until)
            set_rate(w, c, some_rate(w));
        break;
    case FAULT_CLIENT_CRAWL:
        taint(w, c, ns);
        set_rate(w, c, -(int64_t)dice_spread(&w->dice, 20000, 900000));
        events_plan(&w->events, w->now + ns, keep_time_again, c->index, 0);
        break;
    case FAULT_CLIENT_WALL:
        step_wall(w, c);
        break;
    case FAULT_PAUSE:
        client_pause(w, c, ns);
        break;
    case FAULT_VM_PAUSE:
        pause_machine(w, c, 2 * S + ns);
        break;
    case FAULT_VM_BLINK:
        ns = dice_below(&w->dice, S);
        taint(w, c, ns);
        pause_machine(w, c, ns);
        break;
    case FAULT_CLIENT_CRASH:
    case FAULT_CLIENT_POWER:
    case FAULT_CLIENT_QUIT:
        end_client(w, c, fault, ns);
        break;
    default:
        assert(!"no trouble for a client");
    }
}

void trouble_client_ends(struct world *w, struct sim_client *c)
{
    if (!c->alive)
        client_open_later(w, c, MS);
    c->stopped_until = w->now;
    c->unpunctual_at = w->now;
    if (w->now >= c->tainted_until)
        set_rate(w, c, some_rate(w));
    client_plan(w, c);
}
