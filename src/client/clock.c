/* SPDX-License-Identifier: BSD-2-Clause */
#include "client/clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t id)
{
    struct timespec ts = {0};

    /* A kernel or sandbox without the boot-time clock still has this one; it
     * does not count suspend, which the wall clock then makes up for. */
    if (clock_gettime(id, &ts) != 0)
        (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void ql_clock_init(struct ql_clock *clock)
{
    uint64_t boot_ns = read_clock(CLOCK_BOOTTIME);

    *clock = (struct ql_clock){
        .now = boot_ns,
        .wall_ahead = (int64_t)(read_clock(CLOCK_REALTIME) - boot_ns)};
}

uint64_t ql_clock_reckon(struct ql_clock *clock, uint64_t boot_ns,
                         uint64_t wall_ns)
{
    int64_t ahead = (int64_t)(wall_ns - boot_ns);
    int64_t gained = ahead - clock->wall_ahead;
    uint64_t now;

    if (gained > (int64_t)QL_WALL_SLACK_NS)
        clock->skipped += (uint64_t)gained;
    /* Small corrections are followed and forgotten, and a step back changes
     * nothing but what the next step forward is measured from. */
    clock->wall_ahead = ahead;
    now = boot_ns + clock->skipped;
    if (now > clock->now)
        clock->now = now;
    return clock->now;
}

uint64_t ql_clock_now(struct ql_clock *clock)
{
    uint64_t wall_ns = read_clock(CLOCK_REALTIME);

    return ql_clock_reckon(clock, read_clock(CLOCK_BOOTTIME), wall_ns);
}
