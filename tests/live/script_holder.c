/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a holder does with its lock, on a real server: lua/guarded_confirm.lua
 * and guarded_extend.lua, branch by branch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script_bench.h"

static struct terms with(const struct bench *bench, const char *fence)
{
    struct terms terms = bench_terms(bench);

    terms.fence = fence;
    return terms;
}

/* --- Confirm ---------------------------------------------------------------
 */

static void confirm_raises_the_number(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1003");

    bench_put_held(bench, "1000");
    assert_says("[1, T, 1003]", bench_confirm(bench, &terms));
    assert_string_equal(bench_lease(bench), "tok 1003 held");
    assert_says("1003", bench_field(bench, "hw"));
    /* And nothing else: neither the end nor the expiry. */
    assert_true(atoll(bench_do(bench, "PTTL", LEASE, NULL)) > 800000);
    bench_remember(bench);
    assert_says("[1, T, 1003]", bench_confirm(bench, &terms));
    terms.fence = "7";
    assert_says("[1, T, 1003]", bench_confirm(bench, &terms));
    assert_unchanged(bench);
    bench_do(bench, "HSET", NODE, "hw", "1", NULL);
    assert_says("[1, T, 1003]", bench_confirm(bench, &terms));
    assert_says("1003", bench_field(bench, "hw"));
}

static void confirm_is_for_the_holder_only(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1003");

    bench_remember(bench);
    assert_says("[0, T, '', 0]", bench_confirm(bench, &terms));
    assert_unchanged(bench);
    for (int i = 0; i < 3; i++) {
        bench_put_lease(bench, i == 0 ? "other" : "tok", i == 1 ? -1 : 500000,
                        "7", i == 2 ? "released" : "held");
        bench_remember(bench);
        assert_says("[0, T, '', 0]", bench_confirm(bench, &terms));
        assert_unchanged(bench);
    }
}

/* Without the guard two holders are given the same number. */
static void trap_a_confirm_that_comes_late(void **state)
{
    struct bench *bench = *state;
    struct terms one = with(bench, "1"), two = with(bench, "2");

    one.token = one.value = "one";
    two.token = two.value = "two";
    assert_says("[1, T, 1, 0, 0, '', '']", bench_acquire(bench, &one));
    bench_release(bench, &one);
    assert_says("[1, T, 2, 1, 1, 'one', '']", bench_acquire(bench, &two));
    one.fence = "2";
    assert_says("[0, T, '', 0]", bench_confirm(bench, &one));
    assert_string_equal(bench_lease(bench), "two 2 held");
}

static void confirm_refuses_what_it_cannot_count(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "9007199254740991");

    bench_put_held(bench, "1000");
    bench_remember(bench);
    assert_says("[-1, T, 'exhausted']", bench_confirm(bench, &terms));
    terms.fence = "nan";
    assert_says("-ERR quorlock: an argument is not a number",
                bench_confirm(bench, &terms));
    assert_unchanged(bench);
    bench_do(bench, "SET", LEASE, "tok 1 held", NULL);
    terms.fence = "1";
    assert_says("-ERR quorlock: the lease record cannot be read",
                bench_confirm(bench, &terms));
}

/* --- Extend ----------------------------------------------------------------
 */

static void extend_prolongs(void **state)
{
    static const char *const known[] = {"1000", "0"};
    struct bench *bench = *state;

    for (int i = 0; i < 2; i++) {
        struct terms terms = with(bench, known[i]);
        char text[64];

        bench_put_held(bench, "1000");
        bench_put_lease(bench, "tok", 5000, "1000", "held");
        assert_says("[1, T, 1000]", bench_extend(bench, &terms));
        snprintf(text, sizeof(text), "'tok %llu 1000 held 0'",
                 (unsigned long long)bench->time_us + 12500000);
        assert_says(text, bench_do(bench, "GET", LEASE, NULL));
        assert_in_range(atoll(bench_do(bench, "PTTL", LEASE, NULL)), 10001,
                        72500);
        /* The plain key stays as it was set. */
        assert_says("'tok other-label'", bench_do(bench, "GET", "lock", NULL));
        assert_in_range(atoll(bench_do(bench, "PTTL", "lock", NULL)), 1, 10000);
    }
}

/* Or one whose clock was ahead for a while, and counted, takes it back. */
static void trap_a_lease_that_would_end_earlier(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1000");
    char record[128];

    bench_put_held(bench, "1000");
    snprintf(record, sizeof(record), "tok %llu 1000 held 0",
             (unsigned long long)bench_now_us(bench) + 100000000);
    bench_do(bench, "SET", LEASE, record, "PX", "900000", NULL);
    assert_says("[1, T, 1000]", bench_extend(bench, &terms));
    assert_non_null(strstr(bench_do(bench, "GET", LEASE, NULL), record));
    /* It stays as long as that says, and is remembered as long behind that. */
    assert_in_range(atoll(bench_do(bench, "PTTL", LEASE, NULL)), 60001, 160000);
}

/* It came back with old data: it is not counted, nor raised, nor his. */
static void trap_a_holder_from_old_data(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1000");

    bench_put_held(bench, "1000");
    bench_do(bench, "HSET", NODE, "hw", "2000", "floor", "1001", NULL);
    bench_remember(bench);
    assert_says("[0, T, '', 0]", bench_extend(bench, &terms));
    assert_says("[0, T, '', 0]", bench_confirm(bench, &terms));
    terms.fence = "0";
    assert_says("[0, T, '', 0]", bench_extend(bench, &terms));
    assert_unchanged(bench);
    /* But his number is large enough: it is given back. */
    terms.fence = "1001";
    assert_says("[0, T, '', 0]", bench_confirm(bench, &terms));
    assert_says("[2, T, 1001]", bench_extend(bench, &terms));
    assert_says("[1, T, 1001]", bench_extend(bench, &terms));
    bench_do(bench, "HSET", NODE, "floor", "1001", NULL);
    assert_says("[1, T, 1001]", bench_confirm(bench, &terms));
}

/* Ttl, linger and keep together, whoever writes it. */
static void the_record_outlives_its_lease(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1000");

    terms.linger = "600000";
    terms.keep = "900000";
    assert_says("[2, T, 1000]", bench_extend(bench, &terms));
    assert_in_range(atoll(bench_do(bench, "PTTL", LEASE, NULL)), 1400000,
                    1510000);
    assert_says("[1, T, 1000]", bench_extend(bench, &terms));
    assert_in_range(atoll(bench_do(bench, "PTTL", LEASE, NULL)), 1400000,
                    1510000);
    bench_do(bench, "DEL", "lock", LEASE, NULL);
    bench_acquire(bench, &terms);
    assert_in_range(atoll(bench_do(bench, "PTTL", LEASE, NULL)), 1400000,
                    1510000);
}

static void extend_sets_the_plain_key_again(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1000");

    bench_put_held(bench, "1000");
    bench_do(bench, "DEL", "lock", NULL);
    assert_says("[1, T, 1000]", bench_extend(bench, &terms));
    assert_says("'tok label'", bench_do(bench, "GET", "lock", NULL));
    assert_in_range(atoll(bench_do(bench, "PTTL", "lock", NULL)), 1, 10000);
}

/* A node that granted, but was not there to be told the number. */
static void extend_raises_a_number_that_was_never_confirmed(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1003");

    bench_put_held(bench, "1000");
    assert_says("[2, T, 1003]", bench_extend(bench, &terms));
    assert_string_equal(bench_lease(bench), "tok 1003 held");
    assert_says("1003", bench_field(bench, "hw"));
    assert_says("[1, T, 1003]", bench_extend(bench, &terms));
}

/* A straggler: whoever counts sees that it is not the lock's. */
static void extend_leaves_a_larger_number(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1000");

    bench_put_held(bench, "1003");
    assert_says("[1, T, 1003]", bench_extend(bench, &terms));
    assert_string_equal(bench_lease(bench), "tok 1003 held");
}

static void extend_finds_another(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1000");

    bench_put_lease(bench, "other", 500000, "7", "held");
    bench_remember(bench);
    assert_says("[0, T, 'other', ms]", bench_extend(bench, &terms));
    assert_in_range(bench->remaining, 400000, 500000);
    assert_unchanged(bench);
    bench_put_lock(bench, "other label");
    assert_says("[0, T, 'other label', ms]", bench_extend(bench, &terms));
    assert_in_range(bench->remaining, 800000, 900000);
    /* A foreign client with our record still there. */
    bench_put_lease(bench, "tok", 500000, "1000", "held");
    bench_remember(bench);
    assert_says("[0, T, 'other label', ms]", bench_extend(bench, &terms));
    bench_do(bench, "DEL", LEASE, NULL);
    assert_says("[0, T, 'other label', ms]", bench_extend(bench, &terms));
    bench_do(bench, "SET", "lock", "", NULL);
    assert_says("[0, T, '', -1]", bench_extend(bench, &terms));
}

/* Given back, but only if nobody can have come in between. */
static void extend_repairs(void **state)
{
    static const struct {
        const char *token; /* NULL: no record */
        const char *f, *how, *hw, *t, *said;
    } rows[] = {
        {NULL, NULL, NULL, "999", "1000", "[2, T, 1000]"},
        {NULL, NULL, NULL, "1000", "1000", "[2, T, 1000]"},
        {NULL, NULL, NULL, "1001", "1000", "[0, T, '', 0]"},
        {NULL, NULL, NULL, "0", "0", "[0, T, '', 0]"},
        /* Its lease has ended here, too soon. */
        {"tok", "1000", "held", "1000", "1000", "[2, T, 1000]"},
        {"tok", "1000", "held", "1000", "0", "[0, T, '', 0]"},
        {"tok", "1001", "held", "1001", "1000", "[0, T, '', 0]"},
        /* The one before us. */
        {"other", "999", "held", "2000", "1000", "[2, T, 1000]"},
        {"other", "999", "released", "2000", "1000", "[2, T, 1000]"},
        {"other", "1000", "released", "2000", "1000", "[2, T, 1000]"},
        /* Somebody after us. */
        {"other", "1001", "held", "1001", "1000", "[0, T, '', 0]"},
        {"other", "1001", "released", "1001", "1000", "[0, T, '', 0]"},
        /* We have released it, and this request was overtaken. */
        {"tok", "1000", "released", "1000", "1000", "[0, T, '', 0]"},
        {"tok", "7", "released", "1000", "1000", "[0, T, '', 0]"},
    };
    struct bench *bench = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct terms terms = with(bench, rows[i].t);
        bool repairs = rows[i].said[1] == '2';

        bench_do(bench, "DEL", "lock", LEASE, NULL);
        bench_do(bench, "HSET", NODE, "hw", rows[i].hw, NULL);
        if (rows[i].token)
            bench_put_lease(bench, rows[i].token, -1, rows[i].f, rows[i].how);
        bench_remember(bench);
        if (strcmp(bench_extend(bench, &terms), rows[i].said) != 0)
            fail_msg("row %zu: %s", i, bench->said);
        if (!repairs) {
            assert_unchanged(bench);
            continue;
        }
        assert_string_equal(bench_lease(bench), "tok 1000 held");
        assert_says("'tok label'", bench_do(bench, "GET", "lock", NULL));
        assert_true(atoi(bench_field(bench, "hw")) >= 1000);
        assert_says("[1, T, 1000]", bench_extend(bench, &terms));
    }
}

/* The plain key without its record: evicted, or of the plain level. */
static void extend_repairs_beside_its_plain_key(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1000");

    bench_put_lock(bench, "tok");
    assert_says("[2, T, 1000]", bench_extend(bench, &terms));
    assert_says("'tok'", bench_do(bench, "GET", "lock", NULL));
    assert_in_range(atoll(bench_do(bench, "PTTL", "lock", NULL)), 1, 10000);
}

static void extend_heeds_the_clock(void **state)
{
    struct bench *bench = *state;
    struct terms terms = with(bench, "1000");

    bench_put_held(bench, "1000");
    bench_remember(bench);
    terms.lo = "9000000000000000";
    assert_says("[-2, T]", bench_extend(bench, &terms));
    terms = with(bench, "1000");
    terms.hi = "1700000000000000";
    assert_says("[-2, T]", bench_extend(bench, &terms));
    terms = with(bench, "9007199254740991");
    assert_says("[-1, T, 'exhausted']", bench_extend(bench, &terms));
    assert_unchanged(bench);
    bench_do(bench, "SET", LEASE, "tok 1 1 HELD 0", NULL);
    terms = with(bench, "1000");
    assert_says("-ERR quorlock: the lease record cannot be read",
                bench_extend(bench, &terms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BENCH(confirm_raises_the_number),
        ON_BENCH(confirm_is_for_the_holder_only),
        ON_BENCH(trap_a_confirm_that_comes_late),
        ON_BENCH(confirm_refuses_what_it_cannot_count),
        ON_BENCH(extend_prolongs),
        ON_BENCH(trap_a_lease_that_would_end_earlier),
        ON_BENCH(trap_a_holder_from_old_data),
        ON_BENCH(the_record_outlives_its_lease),
        ON_BENCH(extend_sets_the_plain_key_again),
        ON_BENCH(extend_raises_a_number_that_was_never_confirmed),
        ON_BENCH(extend_leaves_a_larger_number),
        ON_BENCH(extend_finds_another),
        ON_BENCH(extend_repairs),
        ON_BENCH(extend_repairs_beside_its_plain_key),
        ON_BENCH(extend_heeds_the_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
