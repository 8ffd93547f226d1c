/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums and differences of times saturate, and never wrap round. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/time.h"

static void sums_saturate(void **state)
{
    static const struct {
        uint64_t a, b, sum;
    } table[] = {
        {0, 0, 0},
        {1, 2, 3},
        {QL_NEVER - 1, 0, QL_NEVER - 1},
        {QL_NEVER - 1, 1, QL_NEVER},
        {QL_NEVER - 1, 2, QL_NEVER},
        {QL_NEVER / 2, QL_NEVER / 2, QL_NEVER - 1},
        {QL_NEVER / 2 + 1, QL_NEVER / 2 + 1, QL_NEVER},
        {QL_NEVER, 0, QL_NEVER},
        {QL_NEVER, 1, QL_NEVER},
        {QL_NEVER, QL_NEVER, QL_NEVER},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        assert_true(ql_time_add(table[i].a, table[i].b) == table[i].sum);
        assert_true(ql_time_add(table[i].b, table[i].a) == table[i].sum);
    }
}

static void differences_end_at_nothing(void **state)
{
    static const struct {
        uint64_t a, b, left;
    } table[] = {
        {0, 0, 0},
        {3, 2, 1},
        {2, 2, 0},
        {2, 3, 0},
        {0, QL_NEVER, 0},
        {QL_NEVER - 1, QL_NEVER, 0},
        {QL_NEVER - 1, 1, QL_NEVER - 2},
        {QL_NEVER, 0, QL_NEVER},
        {QL_NEVER, 1, QL_NEVER}, /* for ever is for ever */
        {QL_NEVER, QL_NEVER, QL_NEVER},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_true(ql_time_sub(table[i].a, table[i].b) == table[i].left);
}

static void the_smaller_and_the_larger(void **state)
{
    (void)state;
    assert_true(ql_time_min(1, 2) == 1 && ql_time_min(2, 1) == 1);
    assert_true(ql_time_max(1, 2) == 2 && ql_time_max(2, 1) == 2);
    assert_true(ql_time_min(3, 3) == 3 && ql_time_max(3, 3) == 3);
    assert_true(ql_time_min(QL_NEVER, 0) == 0);
    assert_true(ql_time_max(QL_NEVER, 0) == QL_NEVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_saturate),
        cmocka_unit_test(differences_end_at_nothing),
        cmocka_unit_test(the_smaller_and_the_larger),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
