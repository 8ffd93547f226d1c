/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The oracle: who was inside which lock, and when, in true time.
 *
 * A file that is mapped by everybody: contenders write, oracle.py reads and
 * judges. Only CLOCK_MONOTONIC of the one machine counts here, which all its
 * processes share. Writers never wait for each other, and one that is killed
 * or stopped in the middle of writing harms nobody: its entry stays empty.
 *
 * The layout is known to oracle.py too; the sizes are asserted in oracle.c.
 */
#ifndef TESTS_CHAOS_ORACLE_H
#define TESTS_CHAOS_ORACLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define ORACLE_MAGIC UINT64_C(0x71756f726c6f636b)
#define ORACLE_SLOTS 64 /* contenders: one process at a time in each */
#define ORACLE_LOCKS 32

enum oracle_kind {
    ORACLE_EMPTY,
    ORACLE_ENTER,   /* a critical section begins */
    ORACLE_VALID,   /* the holder's validity got longer */
    ORACLE_LEAVE,   /* it ends, before the release is sent */
    ORACLE_STALE,   /* granted, but no validity was left when we looked */
    ORACLE_RESULT,  /* detail: what an acquisition that failed returned */
    ORACLE_RELEASE, /* detail: what the release returned */
};

struct oracle_entry {
    _Atomic uint32_t kind; /* written last */
    uint16_t slot;
    uint16_t lock;
    int32_t pid;
    int32_t detail;
    uint64_t at_ns;
    uint64_t valid_until_ns; /* by the holder's own clock; 0: not known */
    uint64_t company;        /* ENTER: slots that were inside, as bits */
    uint64_t last_tick_ns;   /* ENTER: of the slot's section before this one */
    uint64_t fence;          /* ENTER, STALE: its fencing token; 0: none */
};

struct oracle_slot {
    _Atomic uint64_t tick_ns; /* the last sign of life inside */
    _Atomic int32_t pid;      /* of whoever was inside last */
    _Atomic uint32_t entered; /* how often */
};

struct oracle {
    uint64_t magic;
    uint64_t capacity; /* of entries[] */
    _Atomic uint64_t count;
    _Atomic uint32_t stop; /* everybody shall leave */
    int32_t owner;         /* the test's pid: when it is gone, leave as well */
    _Atomic uint64_t inside[ORACLE_LOCKS]; /* slots, as bits */
    struct oracle_slot slots[ORACLE_SLOTS];
    struct oracle_entry entries[];
};

/* A contender's view: who it is. */
struct witness {
    struct oracle *oracle;
    unsigned slot;
    unsigned lock;
    unsigned ticks;
};

/* Ends the process, with a message, if the file is not an oracle's. */
struct oracle *oracle_open(const char *path);

uint64_t oracle_now_ns(void);

/* Whether it is time to go: the test says so, or is no more. */
bool oracle_over(const struct oracle *oracle);

void oracle_enter(struct witness *witness, uint64_t valid_until_ns,
                  uint64_t fence);
void oracle_valid(struct witness *witness, uint64_t valid_until_ns);
void oracle_leave(struct witness *witness);
void oracle_stale(struct witness *witness, uint64_t fence);
void oracle_tell(struct witness *witness, enum oracle_kind kind, int detail);

/* A sign of life. Returns whether it is time to go. */
bool oracle_tick(struct witness *witness);

void oracle_sleep_us(unsigned us);

#endif
