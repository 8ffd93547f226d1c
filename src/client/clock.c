/* SPDX-License-Identifier: BSD-2-Clause */
#include "client/clock.h"

#include <stdbool.h>
#include <time.h>

/* Without any clock nothing may be held to be valid, nor waited for: it counts
 * as the end of all time. Half of it, so that sums do not saturate. */
#define NO_CLOCK (UINT64_MAX / 2)

static bool read_clock(clockid_t id, uint64_t *ret_ns)
{
    struct timespec ts;

    if (clock_gettime(id, &ts) != 0)
        return false;
    *ret_ns = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
    return true;
}

static uint64_t read_boot_clock(void)
{
    uint64_t ns;

    /* A kernel or sandbox without the boot-time clock still has the other,
     * which does not count suspend; the wall clock then makes up for it. */
    if (read_clock(CLOCK_BOOTTIME, &ns) || read_clock(CLOCK_MONOTONIC, &ns))
        return ns;
    return NO_CLOCK;
}

void ql_clock_init(struct ql_clock *clock)
{
    uint64_t boot_ns = read_boot_clock(), wall_ns = boot_ns;

    (void)read_clock(CLOCK_REALTIME, &wall_ns);
    *clock = (struct ql_clock){.now = boot_ns,
                               .wall_ahead = (int64_t)(wall_ns - boot_ns)};
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
    uint64_t boot_ns = read_boot_clock();
    uint64_t wall_ns = boot_ns + (uint64_t)clock->wall_ahead;

    (void)read_clock(CLOCK_REALTIME, &wall_ns);
    return ql_clock_reckon(clock, boot_ns, wall_ns);
}
