/* SPDX-License-Identifier: BSD-2-Clause */
/* The client's clock: what the wall clock may do to it, and what not. */
#include "client/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define S    UINT64_C(1000000000)
#define MS   UINT64_C(1000000)
#define HOUR (3600 * S)
/* Where the tests begin: some time after boot, and some time in history. */
#define BOOT (1000 * S)
#define WALL (UINT64_C(1700000000) * S)

static struct ql_clock clock_at_start(void)
{
    return (struct ql_clock){.now = BOOT, .wall_ahead = (int64_t)(WALL - BOOT)};
}

/* Both clocks have gone on by so much, and the wall clock by `step` more. */
static uint64_t after(struct ql_clock *clock, uint64_t passed, int64_t step)
{
    return ql_clock_reckon(clock, BOOT + passed,
                           WALL + passed + (uint64_t)step) -
           BOOT;
}

static void it_goes_with_the_boot_clock(void **state)
{
    struct ql_clock clock = clock_at_start();

    (void)state;
    assert_int_equal(after(&clock, 0, 0), 0);
    assert_int_equal(after(&clock, S, 0), S);
    assert_int_equal(after(&clock, S, 0), S);
    assert_int_equal(after(&clock, 5 * S, 0), 5 * S);
    assert_int_equal(clock.skipped, 0);
}

static void trap_16_a_wall_clock_set_back_an_hour_changes_nothing(void **state)
{
    struct ql_clock clock = clock_at_start();

    (void)state;
    assert_int_equal(after(&clock, 2 * S, -(int64_t)HOUR), 2 * S);
    assert_int_equal(after(&clock, 9 * S, -(int64_t)HOUR), 9 * S);
    assert_int_equal(clock.skipped, 0);
}

static void
trap_16_a_wall_clock_set_on_an_hour_ends_what_was_valid(void **state)
{
    struct ql_clock clock = clock_at_start();

    (void)state;
    /* It may have been asleep: whatever is measured by it has passed. */
    assert_int_equal(after(&clock, 2 * S, (int64_t)HOUR), HOUR + 2 * S);
    assert_int_equal(after(&clock, 3 * S, (int64_t)HOUR), HOUR + 3 * S);
}

static void trap_16_back_and_forth_never_goes_back(void **state)
{
    struct ql_clock clock = clock_at_start();
    uint64_t last = 0, passed = 0;

    (void)state;
    for (int i = 0; i < 100; i++) {
        int64_t step = (i * 7919 % 13 - 6) * (int64_t)HOUR;
        uint64_t now = after(&clock, passed += 100 * MS, step);

        /* Never behind the boot clock either: no validity grows. */
        assert_true(now > last);
        assert_true(now >= passed);
        last = now;
    }
}

static void after_a_step_back_the_way_forward_counts(void **state)
{
    struct ql_clock clock = clock_at_start();

    (void)state;
    assert_int_equal(after(&clock, S, -(int64_t)HOUR), S);
    /* Nobody knows whether this is a correction or a sleep. */
    assert_int_equal(after(&clock, 2 * S, 0), HOUR + 2 * S);
}

static void a_paused_machine_is_noticed_by_the_wall_clock(void **state)
{
    struct ql_clock clock = clock_at_start();

    (void)state;
    /* The boot clock stood still for a minute. */
    assert_int_equal(after(&clock, 1 * MS, 60 * (int64_t)S), 60 * S + MS);
}

static void small_corrections_are_not_a_sleep(void **state)
{
    struct ql_clock clock = clock_at_start();
    int64_t step = 0;

    (void)state;
    /* A clock that is disciplined by NTP, a second too fast in all. */
    for (uint64_t i = 1; i <= 1000; i++)
        assert_int_equal(after(&clock, i * S, step += (int64_t)MS), i * S);
    assert_int_equal(clock.skipped, 0);
}

static void a_step_of_just_the_slack_is_a_correction(void **state)
{
    struct ql_clock clock = clock_at_start();

    (void)state;
    assert_int_equal(after(&clock, S, (int64_t)QL_WALL_SLACK_NS), S);
    clock = clock_at_start();
    assert_int_equal(after(&clock, S, (int64_t)QL_WALL_SLACK_NS + 1),
                     S + QL_WALL_SLACK_NS + 1);
}

static void timers_are_set_by_the_boot_clock(void **state)
{
    struct ql_clock clock = clock_at_start();
    uint64_t now;

    (void)state;
    now = BOOT + after(&clock, S, 10 * (int64_t)S);
    assert_int_equal(ql_clock_boot(&clock, now), BOOT + S);
    assert_int_equal(ql_clock_boot(&clock, now + S), BOOT + 2 * S);
    assert_int_equal(ql_clock_boot(&clock, 0), 0);
}

static void the_real_clock_goes_on(void **state)
{
    struct ql_clock clock;
    uint64_t first, second;

    (void)state;
    ql_clock_init(&clock);
    first = ql_clock_now(&clock);
    second = ql_clock_now(&clock);
    assert_true(second >= first);
    assert_true(first > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_goes_with_the_boot_clock),
        cmocka_unit_test(trap_16_a_wall_clock_set_back_an_hour_changes_nothing),
        cmocka_unit_test(
            trap_16_a_wall_clock_set_on_an_hour_ends_what_was_valid),
        cmocka_unit_test(trap_16_back_and_forth_never_goes_back),
        cmocka_unit_test(after_a_step_back_the_way_forward_counts),
        cmocka_unit_test(a_paused_machine_is_noticed_by_the_wall_clock),
        cmocka_unit_test(small_corrections_are_not_a_sleep),
        cmocka_unit_test(a_step_of_just_the_slack_is_a_correction),
        cmocka_unit_test(timers_are_set_by_the_boot_clock),
        cmocka_unit_test(the_real_clock_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
