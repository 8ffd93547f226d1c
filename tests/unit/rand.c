/* SPDX-License-Identifier: BSD-2-Clause */
/* The seeded generator: its known numbers, its bounds, its spread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/rand.h"

static void the_numbers_are_those_of_splitmix64(void **state)
{
    /* From the reference implementation, seed 1234567. */
    static const uint64_t known[] = {
        UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
        UINT64_C(16408922859458223821),
    };
    struct ql_rand rand;

    (void)state;
    ql_rand_seed(&rand, 1234567);
    for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        assert_true(ql_rand_next(&rand) == known[i]);
}

static void a_seed_is_a_story_and_another_seed_another(void **state)
{
    struct ql_rand a, b, c;
    unsigned equal = 0;

    (void)state;
    ql_rand_seed(&a, 0);
    ql_rand_seed(&b, 0);
    ql_rand_seed(&c, 1);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t next = ql_rand_next(&a);

        assert_true(next == ql_rand_next(&b));
        equal += next == ql_rand_next(&c);
    }
    assert_int_equal(equal, 0);
}

static void both_bounds_are_included(void **state)
{
    unsigned seen[5] = {0};
    struct ql_rand rand;

    (void)state;
    ql_rand_seed(&rand, 3);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t value = ql_rand_between(&rand, 10, 14);

        assert_in_range(value, 10, 14);
        seen[value - 10]++;
    }
    for (unsigned i = 0; i < 5; i++)
        assert_in_range(seen[i], 120, 280);
}

static void narrow_and_wide_ranges(void **state)
{
    uint64_t high_bits = 0;
    struct ql_rand rand;

    (void)state;
    ql_rand_seed(&rand, 4);
    for (unsigned i = 0; i < 100; i++) {
        assert_true(ql_rand_between(&rand, 7, 7) == 7);
        assert_true(ql_rand_between(&rand, UINT64_MAX, UINT64_MAX) ==
                    UINT64_MAX);
        assert_true(ql_rand_between(&rand, 1, UINT64_MAX) >= 1);
        assert_true(ql_rand_between(&rand, 0, UINT64_MAX - 1) < UINT64_MAX);
        high_bits |= ql_rand_between(&rand, 0, UINT64_MAX);
    }
    assert_true(high_bits == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_are_those_of_splitmix64),
        cmocka_unit_test(a_seed_is_a_story_and_another_seed_another),
        cmocka_unit_test(both_bounds_are_included),
        cmocka_unit_test(narrow_and_wide_ranges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
