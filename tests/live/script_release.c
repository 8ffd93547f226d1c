/* SPDX-License-Identifier: BSD-2-Clause */
/* lua/guarded_release.lua and guarded_inspect.lua on a real server, branch by
 * branch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "script_bench.h"

/* --- Release ---------------------------------------------------------------
 */

static void release_frees_and_remembers(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_put_held(bench, "1000");
    assert_says("[1, T]", bench_release(bench, &terms));
    assert_string_equal(bench_lease(bench), "tok 1000 released");
    assert_in_range(atoll(bench_do(bench, "PTTL", LEASE, NULL)), 1, 60000);
    assert_says("0", bench_do(bench, "EXISTS", "lock", NULL));
    bench_remember(bench);
    assert_says("[0, T, '', 0]", bench_release(bench, &terms));
    assert_unchanged(bench);
}

/* Whoever would be helped by it most must not be refused. */
static void a_full_server_releases(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    for (int plain = 0; plain < 2; plain++) {
        bench_put_held(bench, "1000");
        if (!plain)
            bench_do(bench, "DEL", "lock", NULL);
        bench_do(bench, "CONFIG", "SET", "maxmemory", "1", NULL);
        assert_says("[1, T]", bench_release(bench, &terms));
        bench_do(bench, "CONFIG", "SET", "maxmemory", "0", NULL);
        assert_string_equal(bench_lease(bench), "tok 1000 released");
        assert_says("0", bench_do(bench, "EXISTS", "lock", NULL));
    }
}

static void release_takes_what_is_left(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    /* Late, but it is said that there was a release. */
    bench_put_lease(bench, "tok", -1, "1000", "held");
    assert_says("[1, T]", bench_release(bench, &terms));
    assert_string_equal(bench_lease(bench), "tok 1000 released");
    /* A plain key that outlived its record. */
    bench_put_lock(bench, "tok");
    assert_says("[1, T]", bench_release(bench, &terms));
    assert_says("0", bench_do(bench, "EXISTS", "lock", NULL));
    bench_do(bench, "DEL", LEASE, NULL);
    bench_put_lock(bench, "tok label");
    assert_says("[1, T]", bench_release(bench, &terms));
    assert_says("0", bench_do(bench, "EXISTS", "lock", LEASE, NULL));
    /* A foreign client has the plain key, and keeps it. */
    bench_put_lock(bench, "other");
    bench_put_lease(bench, "tok", 500000, "1000", "held");
    assert_says("[1, T]", bench_release(bench, &terms));
    assert_says("'other'", bench_do(bench, "GET", "lock", NULL));
}

static void release_leaves_what_is_not_ours(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_remember(bench);
    assert_says("[0, T, '', 0]", bench_release(bench, &terms));
    assert_unchanged(bench);
    bench_put_lease(bench, "other", 500000, "7", "held");
    bench_remember(bench);
    assert_says("[0, T, 'other', ms]", bench_release(bench, &terms));
    assert_in_range(bench->remaining, 400000, 500000);
    assert_unchanged(bench);
    bench_put_lock(bench, "other label");
    assert_says("[0, T, 'other label', ms]", bench_release(bench, &terms));
    bench_do(bench, "PERSIST", "lock", NULL);
    assert_says("[0, T, 'other label', -1]", bench_release(bench, &terms));
    bench_put_lease(bench, "other", -1, "7", "held");
    assert_says("[0, T, 'other label', -1]", bench_release(bench, &terms));
    bench_do(bench, "SET", "lock", "", NULL);
    assert_says("[0, T, '', -1]", bench_release(bench, &terms));
    bench_do(bench, "DEL", "lock", NULL);
    bench_remember(bench);
    assert_says("[0, T, '', 0]", bench_release(bench, &terms));
    assert_unchanged(bench);
}

/* On any node: one that may not vote, and one with a record full of nonsense,
 * which grants nothing and is left for people to look at. */
static void release_is_always_allowed(void **state)
{
    static const char *const nonsense[] = {"", "tok", "tok x 1 held 0",
                                           "tok 1 1 held", "tok 1 1 HELD 0"};
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_do(bench, "DEL", NODE, NULL);
    bench_put_held(bench, "1000");
    bench_do(bench, "DEL", NODE, NULL);
    assert_says("[1, T]", bench_release(bench, &terms));
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        bench_put_lock(bench, "tok");
        bench_do(bench, "SET", LEASE, nonsense[i], NULL);
        assert_says("[1, T]", bench_release(bench, &terms));
        assert_says("0", bench_do(bench, "EXISTS", "lock", NULL));
        assert_says("[0, T, '', 0]", bench_release(bench, &terms));
    }
    bench_do(bench, "DEL", LEASE, NULL);
    bench_do(bench, "RPUSH", LEASE, "x", NULL);
    assert_non_null(strstr(bench_release(bench, &terms), "WRONGTYPE"));
}

static bool the_record_is_gone(void *arg)
{
    return strcmp(bench_do(arg, "EXISTS", LEASE, NULL), "0") == 0;
}

static void release_without_memory(void **state)
{
    static const char *const keep[] = {"0", "00", "1", "50"};
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    for (int i = 0; i < 4; i++) {
        bench_put_held(bench, "1000");
        terms.keep = keep[i];
        assert_says("[1, T]", bench_release(bench, &terms));
        assert_true(clock_wait_until(the_record_is_gone, bench, HANG_MS));
    }
}

/* --- Inspect ---------------------------------------------------------------
 */

static void inspect_says_who_has_it(void **state)
{
    struct bench *bench = *state;

    bench_put_held(bench, "1000");
    bench_remember(bench);
    assert_says("[1, T, 'tok other-label', ms, 1000, 'held']",
                bench_inspect(bench));
    assert_in_range(bench->remaining, 800000, 900000);
    assert_unchanged(bench);
    bench_do(bench, "PERSIST", "lock", NULL);
    assert_says("[1, T, 'tok other-label', -1, 1000, 'held']",
                bench_inspect(bench));
    bench_do(bench, "DEL", "lock", NULL);
    assert_says("[1, T, 'tok', ms, 1000, 'held']", bench_inspect(bench));
    assert_in_range(bench->remaining, 400000, 500000);
}

static void inspect_knows_plain_keys(void **state)
{
    struct bench *bench = *state;

    bench_put_lock(bench, "someone");
    assert_says("[1, T, 'someone', ms, 0, 'plain']", bench_inspect(bench));
    bench_put_lease(bench, "tok", -1, "7", "held");
    assert_says("[1, T, 'someone', ms, 0, 'plain']", bench_inspect(bench));
    bench_put_lease(bench, "tok", 5000, "7", "released");
    assert_says("[1, T, 'someone', ms, 0, 'plain']", bench_inspect(bench));
    bench_do(bench, "SET", "lock", "", NULL);
    assert_says("[1, T, '', -1, 0, 'plain']", bench_inspect(bench));
}

static void inspect_remembers_who_had_it(void **state)
{
    struct bench *bench = *state;

    assert_says("[0, T, '', 0, 0, '']", bench_inspect(bench));
    bench_put_lease(bench, "tok", -1, "7", "held");
    assert_says("[0, T, 'tok', 0, 7, 'ended']", bench_inspect(bench));
    bench_put_lease(bench, "tok", 5000, "7", "released");
    assert_says("[0, T, '', 0, 7, 'released']", bench_inspect(bench));
    bench_do(bench, "SET", LEASE, "nonsense", NULL);
    assert_says("-ERR quorlock: the lease record cannot be read",
                bench_inspect(bench));
    bench_do(bench, "SET", LEASE, "tok 99999999999999999 1 held 0", NULL);
    assert_says("-ERR quorlock: the lease record cannot be read",
                bench_inspect(bench));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BENCH(release_frees_and_remembers),
        ON_BENCH(a_full_server_releases),
        ON_BENCH(release_takes_what_is_left),
        ON_BENCH(release_leaves_what_is_not_ours),
        ON_BENCH(release_is_always_allowed),
        ON_BENCH(release_without_memory),
        ON_BENCH(inspect_says_who_has_it),
        ON_BENCH(inspect_knows_plain_keys),
        ON_BENCH(inspect_remembers_who_had_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
