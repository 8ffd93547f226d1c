/* SPDX-License-Identifier: BSD-2-Clause */
/* Drift and the end of validity, at the edges where others went wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/rand.h"
#include "core/time.h"
#include "core/validity.h"

#define PERCENT UINT32_C(10000) /* in millionths */
#define MS(ms)  ((ms)*QL_NS_PER_MS)

static void drift_is_a_percent_and_two_milliseconds(void **state)
{
    static const struct {
        uint64_t ttl_ns, drift_ns;
    } table[] = {
        {0, 2000000},
        {1, 2000000},
        {99, 2000000},
        {100, 2000001},
        {MS(1), 2010000},
        {MS(2), 2020000},
        {MS(499), 6990000},
        {MS(500), 7000000},
        {MS(501), 7010000},
        {MS(10000), 102000000},
        {MS(10000) + 50, 102000000},
        {MS(10000) + 150, 102000001},
        {MS(UINT64_C(2147483647)), UINT64_C(21474838470000)},
        {MS(UINT64_C(2147483648)), UINT64_C(21474838480000)},
        {MS(UINT64_C(2147483649)), UINT64_C(21474838490000)},
        {MS(UINT64_C(24) * 3600 * 1000), UINT64_C(864002000000)},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(ql_drift_ns(table[i].ttl_ns, PERCENT),
                         table[i].drift_ns);
}

static void drift_is_exact_for_every_ttl(void **state)
{
    static const uint32_t ppm[] = {0, 1, 50, PERCENT, 500000, 999999, 1000000};
    struct ql_rand rand;

    (void)state;
    ql_rand_seed(&rand, 1);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t ttl = ql_rand_next(&rand) >> (i % 64);
        uint32_t drift_ppm = ppm[i / 64 % (sizeof(ppm) / sizeof(ppm[0]))];
        unsigned __int128 exact =
            (unsigned __int128)ttl * drift_ppm / 1000000 + QL_DRIFT_FLOOR_NS;
        uint64_t drift = ql_drift_ns(ttl, drift_ppm);

        if (exact > QL_NEVER)
            exact = QL_NEVER;
        /* Two parts are rounded down, instead of the whole: 1 ns at most. */
        assert_true(drift <= exact && exact - drift <= 1);
    }
}

static void validity_ends_a_ttl_after_t0_less_the_drift(void **state)
{
    static const struct {
        uint64_t t0, ttl_ns, until;
    } table[] = {
        {MS(7), MS(1), MS(7)}, /* there is none */
        {MS(7), MS(2), MS(7)},
        {MS(7), MS(3), MS(7) + 970000},
        {0, MS(499), 492010000},
        {0, MS(500), 493000000},
        {0, MS(501), 493990000},
        {MS(1000), MS(10000), 10898000000},
        {0, MS(UINT64_C(2147483647)), UINT64_C(2126008808530000)},
        {0, MS(UINT64_C(2147483648)), UINT64_C(2126008809520000)},
        {0, MS(UINT64_C(2147483649)), UINT64_C(2126008810510000)},
        {1, MS(UINT64_C(86400000)), UINT64_C(85535998000001)},
        {5, 0, 5},
        {0, 2020202, 0}, /* the drift is the whole ttl, */
        {0, 2020203, 1}, /* and all but a nanosecond */
        {QL_NEVER - MS(9), MS(10), QL_NEVER - MS(9) + 7900000},
        {QL_NEVER - MS(5), MS(10), QL_NEVER},
        {QL_NEVER, MS(10000), QL_NEVER},
        {0, QL_NEVER, QL_NEVER - QL_NEVER / 100 - MS(2)},
        {QL_NEVER / 2, QL_NEVER, QL_NEVER},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(ql_valid_until(table[i].t0, table[i].ttl_ns, PERCENT),
                         table[i].until);
}

static void other_drifts(void **state)
{
    (void)state;
    assert_int_equal(ql_valid_until(0, MS(1000), 0), MS(998));
    assert_int_equal(ql_valid_until(0, MS(1000), 500000), MS(498));
    assert_int_equal(ql_valid_until(0, MS(1000), 1000000), 0);
    assert_int_equal(ql_valid_until(0, MS(1000), 998000), 0);
    assert_int_equal(ql_valid_until(0, MS(1000), 997999), 1000);
}

static void the_end_never_lies_before_t0_or_beyond_the_ttl(void **state)
{
    struct ql_rand rand;

    (void)state;
    ql_rand_seed(&rand, 2);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t t0 = ql_rand_next(&rand) >> (i % 61);
        uint64_t ttl = ql_rand_next(&rand) >> (i % 59);
        uint64_t until = ql_valid_until(t0, ttl, i % 1000001);

        assert_true(until >= t0);
        assert_true(until <= ql_time_add(t0, ttl));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drift_is_a_percent_and_two_milliseconds),
        cmocka_unit_test(drift_is_exact_for_every_ttl),
        cmocka_unit_test(validity_ends_a_ttl_after_t0_less_the_drift),
        cmocka_unit_test(other_drifts),
        cmocka_unit_test(the_end_never_lies_before_t0_or_beyond_the_ttl),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
