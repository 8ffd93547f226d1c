/* SPDX-License-Identifier: BSD-2-Clause */
/* How long to wait before the next attempt: its bounds and its spread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/backoff.h"
#include "core/time.h"

#define MS(ms) ((ms)*QL_NS_PER_MS)

static void uniform_between_half_the_delay_and_the_delay(void **state)
{
    struct ql_terms terms = {.retry_delay_ns = MS(200)};
    unsigned in_tenth[10] = {0};
    uint64_t least = QL_NEVER, most = 0;
    struct ql_rand rand;

    (void)state;
    ql_rand_seed(&rand, 5);
    for (unsigned i = 0; i < 10000; i++) {
        uint64_t delay = ql_backoff_ns(&terms, 2, &rand);

        assert_in_range(delay, MS(100), MS(200));
        least = ql_time_min(least, delay);
        most = ql_time_max(most, delay);
        in_tenth[ql_time_min((delay - MS(100)) / MS(10), 9)]++;
    }
    for (unsigned i = 0; i < 10; i++)
        assert_in_range(in_tenth[i], 850, 1150);
    assert_in_range(least, MS(100), MS(101));
    assert_in_range(most, MS(199), MS(200));
}

static void contenders_with_other_seeds_spread_out(void **state)
{
    struct ql_terms terms = {.retry_delay_ns = MS(200)};
    struct ql_rand a, b;
    unsigned equal = 0;

    (void)state;
    ql_rand_seed(&a, 6);
    ql_rand_seed(&b, 7);
    for (unsigned i = 0; i < 1000; i++)
        equal += ql_backoff_ns(&terms, 2, &a) == ql_backoff_ns(&terms, 2, &b);
    assert_in_range(equal, 0, 5);
}

static uint32_t callers_own(unsigned attempt, void *arg)
{
    return *(const uint32_t *)arg + attempt;
}

static void the_callers_own_delay_is_taken_as_it_is(void **state)
{
    static const uint32_t delay_ms[] = {1, 2, 500, 86400000, UINT32_MAX - 9};
    struct ql_rand rand;

    (void)state;
    ql_rand_seed(&rand, 8);
    for (unsigned i = 0; i < sizeof(delay_ms) / sizeof(delay_ms[0]); i++) {
        uint32_t base_ms = delay_ms[i];
        struct ql_terms terms = {.retry_delay_ns = MS(200),
                                 .delay = callers_own,
                                 .delay_arg = &base_ms};

        for (unsigned attempt = 2; attempt < 9; attempt++)
            assert_int_equal(ql_backoff_ns(&terms, attempt, &rand),
                             MS((uint64_t)base_ms + attempt));
    }
}

static void no_delay_is_a_millisecond(void **state)
{
    static const uint64_t delay_ns[] = {0, 1, 2, 999999, 1000000};
    uint32_t zero = 0;
    struct ql_terms own = {.delay = callers_own, .delay_arg = &zero};
    struct ql_rand rand;

    (void)state;
    ql_rand_seed(&rand, 9);
    for (unsigned i = 0; i < sizeof(delay_ns) / sizeof(delay_ns[0]); i++) {
        struct ql_terms terms = {.retry_delay_ns = delay_ns[i]};

        for (unsigned k = 0; k < 100; k++)
            assert_int_equal(ql_backoff_ns(&terms, 2, &rand), MS(1));
    }
    assert_int_equal(ql_backoff_ns(&own, 0, &rand), MS(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_between_half_the_delay_and_the_delay),
        cmocka_unit_test(contenders_with_other_seeds_spread_out),
        cmocka_unit_test(the_callers_own_delay_is_taken_as_it_is),
        cmocka_unit_test(no_delay_is_a_millisecond),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
