/* SPDX-License-Identifier: BSD-2-Clause */
/* Bugs that other lock clients had, and that no other test here would notice:
 * see tests/museum. */
#include "client/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

static uint64_t boot_ns(void)
{
    struct timespec ts;

    assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &ts), 0);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void m37_time_is_counted_in_nanoseconds(void **state)
{
    struct ql_clock clock;
    uint64_t before = boot_ns(), now;

    (void)state;
    ql_clock_init(&clock);
    now = ql_clock_now(&clock);
    assert_in_range(now, before, boot_ns());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m37_time_is_counted_in_nanoseconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
