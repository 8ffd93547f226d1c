/* SPDX-License-Identifier: BSD-2-Clause */
/* What time the nodes show, and the band of times that may be counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/rand.h"
#include "guard/timebase.h"

#define NODES_MAX 32
#define MS_NS     UINT64_C(1000000)
#define T         UINT64_C(1800000000000000) /* by the nodes' clocks */
#define NOW       (1000 * MS_NS)             /* by ours */
#define S         UINT64_C(500000)

struct bench {
    struct ql_timebase base;
    struct ql_timebase_node node[NODES_MAX];
};

static void begin(struct bench *b, unsigned nodes)
{
    *b = (struct bench){.base = {.nodes = nodes,
                                 .quorum = nodes / 2 + 1,
                                 .trusted_ns = 50 * MS_NS}};
    b->base.node = b->node;
}

static void show(struct bench *b, unsigned node, uint64_t time_us)
{
    ql_timebase_note(&b->base, node, time_us, NOW, NOW);
}

static void expect_band(const struct bench *b, uint64_t low, uint64_t high)
{
    struct ql_band band;

    assert_true(ql_timebase_band(&b->base, S, NOW, &band));
    assert_int_equal(band.low_us, low);
    assert_int_equal(band.high_us, high);
}

/* --- One node ---------------------------------------------------------------
 */

static void an_answer_is_as_old_as_half_its_way(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, 3);
    assert_int_equal(ql_timebase_of(&b.base, 1, NOW), 0);
    ql_timebase_note(&b.base, 1, T, NOW, NOW + 10 * MS_NS);
    assert_int_equal(ql_timebase_of(&b.base, 1, NOW + 5 * MS_NS), T);
    assert_int_equal(ql_timebase_of(&b.base, 1, NOW + 10 * MS_NS), T + 5000);
    assert_int_equal(ql_timebase_of(&b.base, 1, NOW + 1005 * MS_NS),
                     T + 1000000);
    assert_int_equal(ql_timebase_of(&b.base, 1, NOW), T); /* not before */
    assert_int_equal(ql_timebase_of(&b.base, 0, NOW), 0);
    ql_timebase_forget(&b.base, 1);
    assert_int_equal(ql_timebase_of(&b.base, 1, NOW), 0);
}

static void a_slow_answer_is_better_than_none(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, 3);
    ql_timebase_note(&b.base, 0, T, NOW, NOW + 2000 * MS_NS);
    assert_int_equal(ql_timebase_of(&b.base, 0, NOW + 1000 * MS_NS), T);
    ql_timebase_note(&b.base, 0, T + 7, NOW, NOW + 50 * MS_NS);
    assert_int_equal(ql_timebase_of(&b.base, 0, NOW + 25 * MS_NS), T + 7);
    /* It says nothing against what is known: 0.5 s may have gone by on the
     * way back. */
    ql_timebase_note(&b.base, 0, T, NOW + 10 * MS_NS, NOW + 525 * MS_NS);
    assert_int_equal(ql_timebase_of(&b.base, 0, NOW + 25 * MS_NS), T + 7);
}

static void a_slow_answer_may_show_that_a_clock_was_set(void **state)
{
    /* Known for the moment of the answer: T + 100000. It took 200 ms, and both
     * may be off by what is trusted, 50 ms. */
    static const struct {
        uint64_t time_us;
        bool believed;
    } table[] = {
        {T + 100000, false}, {T + 150000, false}, /* known too small, by what is
                                                     trusted */
        {T + 150001, true},  {T - 150000, false}, /* its way back took all the
                                                     time */
        {T - 150001, true},  {T + 120000000, true}, {T - 120000000, true},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct bench b;

        begin(&b, 1);
        show(&b, 0, T);
        ql_timebase_note(&b.base, 0, table[i].time_us, NOW - 100 * MS_NS,
                         NOW + 100 * MS_NS);
        assert_int_equal(ql_timebase_of(&b.base, 0, NOW),
                         table[i].believed ? table[i].time_us : T);
    }
}

static void a_time_that_no_script_can_count_is_no_time(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, 1);
    show(&b, 0, UINT64_MAX);
    show(&b, 0, UINT64_C(1) << 53);
    show(&b, 0, 0);
    assert_int_equal(ql_timebase_of(&b.base, 0, NOW), 0);
    show(&b, 0, (UINT64_C(1) << 53) - 1);
    assert_int_equal(ql_timebase_of(&b.base, 0, NOW), (UINT64_C(1) << 53) - 1);
    show(&b, 0, 0);
    assert_int_equal(ql_timebase_of(&b.base, 0, NOW), (UINT64_C(1) << 53) - 1);
}

/* --- The band ---------------------------------------------------------------
 */

static void with_all_known_it_is_about_the_middle(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, 1);
    show(&b, 0, T);
    expect_band(&b, T - S, T + S);
    begin(&b, 3);
    show(&b, 0, T + 120000000);
    show(&b, 1, T);
    show(&b, 2, T - 7);
    expect_band(&b, T - S, T + S);
    begin(&b, 5);
    show(&b, 0, 1);
    show(&b, 1, T + 2);
    show(&b, 2, T + 1);
    show(&b, 3, T);
    show(&b, 4, T + 120000000);
    expect_band(&b, T + 1 - S, T + 1 + S);
}

static void with_an_even_number_it_goes_by_both_in_the_middle(void **state)
{
    struct bench b;
    struct ql_band band;

    (void)state;
    begin(&b, 2);
    show(&b, 0, T + 300);
    show(&b, 1, T);
    expect_band(&b, T + 300 - S, T + S);
    begin(&b, 4);
    show(&b, 0, T + 9000);
    show(&b, 1, T + 300);
    show(&b, 2, T);
    show(&b, 3, T - 120000000);
    expect_band(&b, T + 300 - S, T + S);
    assert_true(ql_timebase_band(&b.base, S, NOW, &band));
    assert_int_equal(band.median_us, T);
}

static void unknown_nodes_may_show_anything(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, 3);
    show(&b, 0, T);
    show(&b, 2, T + 100);
    expect_band(&b, T + 100 - S, T + S);
    begin(&b, 5);
    show(&b, 0, T);
    show(&b, 1, T + 100);
    show(&b, 2, T + 200);
    expect_band(&b, T + 200 - S, T + S);
    show(&b, 3, T + 300);
    expect_band(&b, T + 200 - S, T + 100 + S);
}

static void too_few_known_or_too_far_apart_is_no_band(void **state)
{
    struct ql_band band = {.median_us = 17};
    struct bench b;

    (void)state;
    begin(&b, 3);
    assert_false(ql_timebase_band(&b.base, S, NOW, &band));
    show(&b, 0, T);
    assert_false(ql_timebase_band(&b.base, S, NOW, &band));
    show(&b, 1, T + 2 * S);
    expect_band(&b, T + S, T + S);
    show(&b, 1, T + 2 * S + 1);
    assert_false(ql_timebase_band(&b.base, S, NOW, &band));
    /* The third settles it. */
    show(&b, 2, T + 1);
    expect_band(&b, T + 1 - S, T + 1 + S);
    assert_int_equal(band.median_us, 17);
}

static void early_times_do_not_come_round(void **state)
{
    struct bench b;

    (void)state;
    begin(&b, 1);
    show(&b, 0, S - 1);
    expect_band(&b, 0, 2 * S - 1);
}

/* --- Against the definition -------------------------------------------------
 */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* The middle, lower or upper, if all the unknown show `filling`. */
static uint64_t middle(const uint64_t *time, unsigned nodes, uint64_t filling,
                       unsigned rank)
{
    uint64_t sorted[NODES_MAX];

    for (unsigned i = 0; i < nodes; i++)
        sorted[i] = time[i] ? time[i] : filling;
    qsort(sorted, nodes, sizeof(sorted[0]), compare);
    return sorted[rank];
}

static void it_is_what_the_medians_say(void **state)
{
    struct ql_rand rand;

    (void)state;
    ql_rand_seed(&rand, 4);
    for (unsigned round = 0; round < 20000; round++) {
        unsigned nodes = 1 + (unsigned)(ql_rand_next(&rand) % NODES_MAX);
        unsigned known = 0;
        uint64_t time[NODES_MAX] = {0}, low, high;
        struct ql_band band;
        struct bench b;
        bool there;

        begin(&b, nodes);
        for (unsigned i = 0; i < nodes; i++) {
            if (ql_rand_next(&rand) % 4 == 0)
                continue;
            time[i] = T + ql_rand_next(&rand) % (round % 3 ? 50 : 3 * S);
            show(&b, i, time[i]);
            known++;
        }
        low = middle(time, nodes, 0, (nodes - 1) / 2);
        high = middle(time, nodes, UINT64_MAX, nodes / 2);
        there = ql_timebase_band(&b.base, S, NOW, &band);
        assert_int_equal(there, known >= b.base.quorum && high - low <= 2 * S);
        if (!there)
            continue;
        assert_int_equal(band.low_us, high - S);
        assert_int_equal(band.high_us, low + S);
        assert_int_equal(band.median_us, low);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_is_as_old_as_half_its_way),
        cmocka_unit_test(a_slow_answer_is_better_than_none),
        cmocka_unit_test(a_slow_answer_may_show_that_a_clock_was_set),
        cmocka_unit_test(a_time_that_no_script_can_count_is_no_time),
        cmocka_unit_test(with_all_known_it_is_about_the_middle),
        cmocka_unit_test(with_an_even_number_it_goes_by_both_in_the_middle),
        cmocka_unit_test(unknown_nodes_may_show_anything),
        cmocka_unit_test(too_few_known_or_too_far_apart_is_no_band),
        cmocka_unit_test(early_times_do_not_come_round),
        cmocka_unit_test(it_is_what_the_medians_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
