/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client's clock: nanoseconds that count suspend and never go back. The
 * wall clock may push it forward, never hold it: a virtual machine that was
 * paused can wake up with both boot-time clocks standing where they stood,
 * while the wall clock has been put right.
 */
#ifndef QL_CLIENT_CLOCK_H
#define QL_CLIENT_CLOCK_H

#include <stdint.h>

/* A wall clock that runs ahead by less than this is being disciplined. */
#define QL_WALL_SLACK_NS UINT64_C(1000000000)

struct ql_clock {
    uint64_t now;       /* the last reading */
    uint64_t skipped;   /* what the wall clock has added to the boot clock */
    int64_t wall_ahead; /* wall clock minus boot clock, when last taken over */
};

void ql_clock_init(struct ql_clock *clock);
uint64_t ql_clock_now(struct ql_clock *clock);

/* The same with the two clocks' readings passed in: the rule by itself. */
uint64_t ql_clock_reckon(struct ql_clock *clock, uint64_t boot_ns,
                         uint64_t wall_ns);

/* What the kernel's boot-time clock shows at `time` of ours: for timers. */
static inline uint64_t ql_clock_boot(const struct ql_clock *clock,
                                     uint64_t time)
{
    return time > clock->skipped ? time - clock->skipped : 0;
}

#endif
