/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one world is like: drawn from its seed, so that a thousand seeds are a
 * thousand different places. Each kind of fault is present in some worlds and
 * absent from others, because faults that are always all there hide what two
 * of them alone would show.
 */
#ifndef TESTS_SIM_SWARM_H
#define TESTS_SIM_SWARM_H

#include <stdbool.h>
#include <stdint.h>

#include "dice.h"

/*
 * X(name, word, rank). OPEN: comes by itself wherever it is due (the tally
 * counts it). INSIDE: struck now and then, and inside the fault model of
 * doc/proof.md: no promise may be broken over it. OUTSIDE: struck as well, but
 * plain Redlock does not stand it. GUARDED: as OUTSIDE, and only in worlds of
 * the guarded level. What that level stands is in soundness.c.
 */
#define FAULT_MAP(X)                                                           \
    X(FAULT_DELAY, "packets late", OPEN)                                       \
    X(FAULT_LOSS, "packets lost", OPEN)                                        \
    X(FAULT_SHORT_IO, "bytes in pieces", OPEN)                                 \
    X(FAULT_PREEMPT, "client stopped within a step", OPEN)                     \
    X(FAULT_NO_TOKEN, "no random bytes", OPEN)                                 \
    X(FAULT_CANCEL, "operation cancelled", OPEN)                               \
    X(FAULT_PARTITION, "path cut", INSIDE)                                     \
    X(FAULT_SLOW_PATH, "path slow", INSIDE)                                    \
    X(FAULT_RESET, "connection reset from between", INSIDE)                    \
    X(FAULT_HALF_OPEN, "connection gone without a word", INSIDE)               \
    X(FAULT_HANG_UP, "connection closed by the node", INSIDE)                  \
    X(FAULT_NODE_KILL, "node killed, data kept", INSIDE)                       \
    X(FAULT_NODE_POWER, "node's machine off, data kept", INSIDE)               \
    X(FAULT_FREEZE, "node frozen", INSIDE)                                     \
    X(FAULT_SLOW_NODE, "node slow", INSIDE)                                    \
    X(FAULT_REFUSAL, "node refuses (OOM, MISCONF)", INSIDE)                    \
    X(FAULT_SCRIPT_FLUSH, "scripts forgotten", INSIDE)                         \
    X(FAULT_NODE_BACK, "node's clock set back", INSIDE)                        \
    X(FAULT_NODE_RATE, "node's clock drifts, within bounds", INSIDE)           \
    X(FAULT_CLIENT_RATE, "client's clock drifts, within bounds", INSIDE)       \
    X(FAULT_CLIENT_WALL, "client's wall clock stepped", INSIDE)                \
    X(FAULT_PAUSE, "client paused or suspended", INSIDE)                       \
    X(FAULT_VM_PAUSE, "client's machine paused, boot clock too", INSIDE)       \
    X(FAULT_CLIENT_CRASH, "client killed", INSIDE)                             \
    X(FAULT_CLIENT_POWER, "client's machine off", INSIDE)                      \
    X(FAULT_CLIENT_QUIT, "client closed in order", INSIDE)                     \
    X(FAULT_NODE_EMPTY, "node restarted empty", OUTSIDE)                       \
    X(FAULT_NODE_EVERYSEC, "node restarted, last second lost", OUTSIDE)        \
    X(FAULT_FLUSH, "keys flushed", OUTSIDE)                                    \
    X(FAULT_EVICT, "key evicted", OUTSIDE)                                     \
    X(FAULT_NODE_FORWARD, "node's clock set forward", OUTSIDE)                 \
    X(FAULT_NODE_RACE, "node's clock too fast", OUTSIDE)                       \
    X(FAULT_CLIENT_CRAWL, "client's clock too slow", OUTSIDE)                  \
    X(FAULT_VM_BLINK, "client's machine paused, clock not put right", OUTSIDE) \
    X(FAULT_NODE_STOP, "node's clock stands still", GUARDED)                   \
    X(FAULT_PROMOTE, "replica promoted, data of the past", GUARDED)            \
    X(FAULT_SWAP, "the same, behind a proxy that hides it", GUARDED)

enum fault_rank { OPEN, INSIDE, OUTSIDE, GUARDED };

#define FAULT_ENUM(name, word, rank) name,
enum fault { FAULT_MAP(FAULT_ENUM) FAULTS };
#undef FAULT_ENUM

const char *fault_word(enum fault fault);
enum fault_rank fault_rank(enum fault fault);

/* What the clients are. MIXED: some are plain, on the same names. */
enum swarm_level {
    SWARM_EACH, /* to be drawn: none of the others */
    SWARM_PLAIN,
    SWARM_GUARDED,
    SWARM_STRICT,
    SWARM_MIXED,
    SWARM_ATTACKED, /* what GUARDED stands, and all clients plain: to compare */
};

/* A fault of single nodes that the guarded level stands. */
bool swarm_stands(enum fault fault);

struct swarm {
    unsigned nodes, clients, locks, handles;

    /* the locks */
    uint32_t ttl_ms, node_timeout_ms, connect_timeout_ms, drift_ppm;
    uint32_t retry_ms, notice_ms, cap_ms; /* cap 0: none */
    uint32_t renew_ppm;                   /* of the handles */

    /* what programs do with them */
    uint64_t think_ns, hold_ns; /* at most */
    uint32_t extend_ppm, look_ppm, leave_ppm, free_ppm, forget_ppm;
    uint32_t cancel_ppm, no_token_ppm;

    /* the network */
    uint64_t delay_ns, jitter_ns, straggler_ns;
    uint32_t straggler_ppm, loss_ppm, short_write_ppm, drip_ppm;
    uint32_t socket_bytes;

    /* the machines */
    uint64_t latency_ns; /* before a process runs, at most */
    uint32_t preempt_ppm;
    uint64_t preempt_ns;
    int64_t rate_ppm; /* clocks run so much faster or slower, at most */

    /* strikes: one of each kind in so many nanoseconds on average; 0: never */
    uint64_t every_ns[FAULTS];
    uint64_t fault_ns; /* how long one lasts, at most */
    bool outside;      /* some of them are outside the model */

    /* the guarded level */
    enum swarm_level level;
    bool guarded; /* the nodes are a group, and their clocks are kept right */
    bool silent;  /* they were never initialised, but are up for long */
    bool syncs;   /* appendfsync always */
    bool wild;    /* any number of nodes' clocks may be wrong at once */
    uint32_t max_ttl_ms, slack_ms, keep_ms, lock_delay_ms;
    uint64_t step_ns;    /* how far a clock is off, at most */
    uint64_t replica_ns; /* how old a replica's data is, at most */
};

enum swarm_choice {
    SWARM_ANY,
    SWARM_INSIDE, /* no faults outside the model */
    SWARM_CALM,   /* none at all */
};

void swarm_draw(struct swarm *ret_swarm, struct dice *dice,
                enum swarm_choice choice, enum swarm_level level);

#endif
