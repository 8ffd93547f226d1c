/* SPDX-License-Identifier: BSD-2-Clause */
/* Time for tests: see clock.h. */
#include "clock.h"

#include <errno.h>
#include <time.h>

int64_t clock_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void clock_sleep_ms(int64_t ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
}

bool clock_wait_until(bool (*condition)(void *arg), void *arg, int64_t limit_ms)
{
    int64_t end = clock_now_ms() + limit_ms;

    while (!condition(arg)) {
        if (clock_now_ms() > end)
            return false;
        clock_sleep_ms(5);
    }
    return true;
}
