/* SPDX-License-Identifier: BSD-2-Clause */
#include "swarm.h"

#include "bounds.h"

static const struct {
    const char *word;
    enum fault_rank rank;
} faults[] = {
#define FAULT_ROW(name, word, rank) {word, rank},
    FAULT_MAP(FAULT_ROW)
#undef FAULT_ROW
};

const char *fault_word(enum fault fault)
{
    return faults[fault].word;
}

enum fault_rank fault_rank(enum fault fault)
{
    return faults[fault].rank;
}

static unsigned few(struct dice *dice, unsigned most)
{
    unsigned n = 1 + (unsigned)dice_below(dice, most);
    unsigned m = 1 + (unsigned)dice_below(dice, most);

    return n < m ? n : m;
}

/* A share in a million, or, as often, nothing. */
static uint32_t share(struct dice *dice, uint32_t low, uint32_t high)
{
    if (dice_chance(dice, 500000))
        return 0;
    return (uint32_t)dice_spread(dice, low, high);
}

static void draw_locks(struct swarm *s, struct dice *dice)
{
    static const uint32_t drifts[] = {2000, 10000, 10000, 50000};

    s->nodes = 1 + (unsigned)dice_below(dice, NODES_MAX);
    if (dice_chance(dice, 400000))
        s->nodes = dice_chance(dice, 500000) ? 3 : 5;
    s->clients = few(dice, few(dice, CLIENTS_MAX));
    s->locks = few(dice, LOCKS_MAX);
    s->handles = s->locks + (unsigned)dice_below(dice, 2);
    s->ttl_ms = (uint32_t)dice_spread(dice, 20, 20000);
    s->node_timeout_ms = (uint32_t)dice_spread(dice, 2, 200);
    if (s->node_timeout_ms > s->ttl_ms / 3)
        s->node_timeout_ms = s->ttl_ms / 3;
    s->drift_ppm = drifts[dice_below(dice, 4)];
    s->notice_ms = 1 + (uint32_t)dice_below(dice, s->ttl_ms / 4);
    s->cap_ms = dice_chance(dice, 200000)
                    ? s->ttl_ms + (uint32_t)dice_below(dice, 4 * s->ttl_ms)
                    : 0;
    s->renew_ppm = dice_chance(dice, 300000)
                       ? 0
                       : (uint32_t)dice_between(dice, 100000, 1000000);
}

static void draw_programs(struct swarm *s, struct dice *dice)
{
    uint64_t ttl_ns = s->ttl_ms * MS;

    s->think_ns = dice_spread(dice, 10 * US, 4 * ttl_ns);
    s->hold_ns = dice_spread(dice, 10 * US, 2 * ttl_ns);
    /* Who asks a hundred times while another holds the lock shows nothing that
     * asking ten times does not. */
    s->retry_ms = 2 + s->ttl_ms / 50 + (uint32_t)(s->hold_ns / 8 / MS);
    if (dice_chance(dice, 200000))
        s->retry_ms = (uint32_t)dice_spread(dice, 2, 400);
    s->extend_ppm = share(dice, 10000, 500000);
    s->look_ppm = share(dice, 5000, 200000);
    s->leave_ppm = share(dice, 1000, 100000);
    s->free_ppm = share(dice, 1000, 100000);
    s->forget_ppm = share(dice, 1000, 100000);
    s->cancel_ppm = share(dice, 1000, 200000);
    s->no_token_ppm = share(dice, 100, 20000);
}

static void draw_network(struct swarm *s, struct dice *dice)
{
    uint64_t timeout_ns = s->node_timeout_ms * MS;

    s->delay_ns = dice_spread(dice, 20 * US, timeout_ns / 4);
    s->jitter_ns = dice_spread(dice, 10 * US, timeout_ns / 2);
    /* Enough for a handshake and a greeting, or nothing would ever work. */
    s->connect_timeout_ms = (uint32_t)((8 * (s->delay_ns + s->jitter_ns)) / MS +
                                       dice_spread(dice, 20, 800));
    s->straggler_ppm = share(dice, 100, 50000);
    s->straggler_ns = dice_spread(dice, timeout_ns, 4 * s->ttl_ms * MS);
    s->loss_ppm = share(dice, 100, 30000);
    s->short_write_ppm = share(dice, 100, 50000);
    s->drip_ppm = share(dice, 100, 50000);
    s->socket_bytes = (uint32_t)dice_spread(dice, 4096, 262144);
    s->latency_ns = dice_spread(dice, 2 * US, 2 * MS);
    if (s->latency_ns > timeout_ns / 8)
        s->latency_ns = timeout_ns / 8;
    s->preempt_ppm = share(dice, 10, 2000);
    s->preempt_ns = dice_spread(dice, MS, 2 * s->ttl_ms * MS);
    /* Two clocks may differ by the drift, so each has half of it. */
    s->rate_ppm = (int64_t)dice_below(dice, s->drift_ppm * 48 / 100);
}

static void draw_faults(struct swarm *s, struct dice *dice, bool outside)
{
    uint64_t ttl_ns = s->ttl_ms * MS, every_ns;

    s->outside = outside;
    s->fault_ns = dice_spread(dice, s->node_timeout_ms * MS, 8 * ttl_ns + S);
    /* Not so often that nothing works any more. */
    every_ns = s->fault_ns > ttl_ns ? s->fault_ns : ttl_ns;
    for (unsigned i = 0; i < FAULTS; i++) {
        enum fault_rank rank = fault_rank((enum fault)i);

        if (rank == OPEN || rank == GUARDED || (rank == OUTSIDE && !outside) ||
            dice_chance(dice, 650000))
            continue;
        s->every_ns[i] = dice_spread(dice, every_ns, 200 * every_ns);
    }
}

static void calm_down(struct swarm *s)
{
    s->straggler_ppm = s->loss_ppm = 0;
    s->short_write_ppm = s->drip_ppm = 0;
    s->preempt_ppm = s->no_token_ppm = s->cancel_ppm = 0;
}

/* --- The guarded level ----------------------------------------------------
 */

/* Faults of single nodes that it stands, and plain Redlock mostly does not. */
static const enum fault of_clocks[] = {FAULT_NODE_BACK, FAULT_NODE_FORWARD,
                                       FAULT_NODE_RACE, FAULT_NODE_STOP};
static const enum fault of_data[] = {
    FAULT_NODE_KILL, FAULT_NODE_POWER, FAULT_NODE_EMPTY, FAULT_NODE_EVERYSEC,
    FAULT_FLUSH,     FAULT_EVICT,      FAULT_PROMOTE,    FAULT_SWAP,
};

bool swarm_stands(enum fault fault)
{
    for (unsigned i = 0; i < sizeof of_clocks / sizeof of_clocks[0]; i++)
        if (of_clocks[i] == fault)
            return true;
    for (unsigned i = 0; i < sizeof of_data / sizeof of_data[0]; i++)
        if (of_data[i] == fault)
            return true;
    return false;
}

static void draw_some(struct swarm *s, struct dice *dice,
                      const enum fault *those, unsigned count, bool often)
{
    uint64_t every_ns = s->fault_ns + s->ttl_ms * MS;

    for (unsigned i = 0; i < count; i++) {
        s->every_ns[those[i]] = 0;
        if (dice_chance(dice, often ? 600000 : 350000))
            s->every_ns[those[i]] =
                often ? dice_spread(dice, every_ns / 16, 4 * every_ns)
                      : dice_spread(dice, every_ns / 2, 60 * every_ns);
    }
}

/* Often one kind alone, and often: more than one hides what it does. */
static void draw_stood(struct swarm *s, struct dice *dice)
{
    uint64_t kind = dice_below(dice, 100);

    if (kind < 70)
        draw_some(s, dice, of_clocks, sizeof of_clocks / sizeof of_clocks[0],
                  kind < 35);
    if (kind >= 35)
        draw_some(s, dice, of_data, sizeof of_data / sizeof of_data[0],
                  kind >= 70);
    /* What appendfsync always rules out, and who looks that closely. */
    if (s->syncs)
        s->every_ns[FAULT_NODE_EVERYSEC] = 0;
    if (s->level != SWARM_STRICT)
        s->every_ns[FAULT_SWAP] = 0;
}

/* Two who want the same, and cannot reach the same nodes: without that a node's
 * fault is nobody's luck. */
static void draw_rivals(struct swarm *s, struct dice *dice)
{
    static const enum fault apart[] = {FAULT_PARTITION, FAULT_FREEZE,
                                       FAULT_SLOW_NODE, FAULT_PAUSE};
    uint64_t every_ns = s->fault_ns + s->ttl_ms * MS;

    if (s->clients < 2 && dice_chance(dice, 900000))
        s->clients = 2 + (unsigned)dice_below(dice, 3);
    if (s->locks > 1 && dice_chance(dice, 600000))
        s->locks = 1;
    if (s->think_ns > s->hold_ns && dice_chance(dice, 600000))
        s->think_ns = s->hold_ns;
    for (unsigned i = 0; i < sizeof apart / sizeof apart[0]; i++)
        if (s->every_ns[apart[i]] == 0 && dice_chance(dice, 500000))
            s->every_ns[apart[i]] =
                dice_spread(dice, every_ns / 8, 20 * every_ns);
}

static void draw_group(struct swarm *s, struct dice *dice)
{
    s->silent = dice_chance(dice, 100000);
    s->syncs = dice_chance(dice, 300000);
    s->wild = dice_chance(dice, 150000);
    s->max_ttl_ms = s->ttl_ms + (uint32_t)dice_below(dice, s->ttl_ms);
    /* An answer that took as long as a node may take tells its clock with half
     * of that as error. */
    s->slack_ms = (uint32_t)dice_spread(dice, 5 + s->node_timeout_ms,
                                        500 + s->node_timeout_ms);
    if (s->silent) {
        s->max_ttl_ms = 300000; /* the library's own figures */
        s->slack_ms = 500;
    }
    s->lock_delay_ms = dice_chance(dice, 800000)
                           ? 0
                           : (uint32_t)dice_below(dice, 2 * s->ttl_ms);
    /* A clock that goes ahead by more makes a server forget too much. */
    s->keep_ms = dice_chance(dice, 700000)
                     ? 86400000
                     : (uint32_t)dice_spread(dice, 1, 100000);
    s->step_ns = s->keep_ms * MS / 4; /* there may be several */
    /* Leases that are dated so far ahead block a lock for as long. */
    if (s->wild && s->step_ns > 20 * s->ttl_ms * MS)
        s->step_ns = 20 * s->ttl_ms * MS;
    s->replica_ns = dice_spread(dice, MS, 4 * s->ttl_ms * MS);
}

/*
 * All that concerns the guarded level has dice of its own: the plain worlds
 * would be others if it drew from theirs.
 */
static void draw_level(struct swarm *s, uint64_t seed, enum swarm_choice choice,
                       enum swarm_level level)
{
    struct dice dice = {dice_mix(seed ^ UINT64_C(0x9ded))};
    uint64_t chance = dice_below(&dice, 100);

    s->level = level != SWARM_EACH ? level
               : chance < 60       ? SWARM_PLAIN
               : chance < 80       ? SWARM_GUARDED
               : chance < 92       ? SWARM_STRICT
                                   : SWARM_MIXED;
    s->guarded = s->level != SWARM_PLAIN;
    if (!s->guarded)
        return;
    draw_group(s, &dice);
    /* The greeting is longer: it takes all the scripts with it. */
    s->connect_timeout_ms += (uint32_t)(16 * (s->delay_ns + s->jitter_ns) / MS);
    if (s->socket_bytes < 16384)
        s->socket_bytes = 16384;
    if (choice == SWARM_CALM)
        return;
    draw_stood(s, &dice);
    draw_rivals(s, &dice);
}

void swarm_draw(struct swarm *ret_swarm, struct dice *dice,
                enum swarm_choice choice, enum swarm_level level)
{
    uint64_t seed = dice->state;
    bool outside = dice_chance(dice, 300000);

    *ret_swarm = (struct swarm){0};
    draw_locks(ret_swarm, dice);
    draw_programs(ret_swarm, dice);
    draw_network(ret_swarm, dice);
    if (choice == SWARM_CALM)
        calm_down(ret_swarm);
    else
        draw_faults(ret_swarm, dice, outside && choice == SWARM_ANY);
    draw_level(ret_swarm, seed, choice, level);
}
