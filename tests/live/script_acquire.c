/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lua/guarded_acquire.lua on a real server, branch by branch; then what is not
 * to be believed: clocks, records, and arguments. Traps have the names of
 * doc/protocol.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "script_bench.h"

static struct terms by(const struct bench *bench, const char *token)
{
    struct terms terms = bench_terms(bench);

    terms.token = terms.value = token;
    return terms;
}

/* --- Granted ---------------------------------------------------------------
 */

static void a_free_lock_is_granted(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);
    char record[128];

    assert_says("[1, T, 1000, 0, 0, '', '']", bench_acquire(bench, &terms));
    snprintf(record, sizeof(record), "'tok %llu 1000 held 0'",
             (unsigned long long)bench->time_us + 12500000);
    assert_says(record, bench_do(bench, "GET", LEASE, NULL));
    assert_says("'tok label'", bench_do(bench, "GET", "lock", NULL));
    assert_in_range(atoll(bench_do(bench, "PTTL", "lock", NULL)), 1, 10000);
    assert_in_range(atoll(bench_do(bench, "PTTL", LEASE, NULL)), 10001, 72500);
    assert_says("1000", bench_field(bench, "hw"));
}

static void the_number_grows_always(void **state)
{
    static const struct {
        const char *hw, *f, *asked, *given, *hw_then;
    } rows[] = {
        {"0", NULL, "1", "1", "1"},
        {"0", NULL, "0", "1", "1"},
        /* No record: it was no larger than the node's largest. */
        {"5000", NULL, "1000", "5001", "5001"},
        {"5000", NULL, "5000", "5001", "5001"},
        {"5000", NULL, "5001", "5001", "5001"},
        {"5000", NULL, "7000", "7000", "7000"},
        /* With one it is this lock's own number that counts. */
        {"5000", "7", "8", "8", "5000"},
        {"5000", "7", "7", "8", "5000"},
        {"5000", "7", "1", "8", "5000"},
        {"0", "7000", "1", "7001", "7001"},
        {"9007199254740989", NULL, "1", "9007199254740990", "9007199254740990"},
    };
    struct bench *bench = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct terms terms = bench_terms(bench);
        char said[128];

        bench_do(bench, "DEL", "lock", LEASE, NULL);
        bench_do(bench, "HSET", NODE, "hw", rows[i].hw, NULL);
        if (rows[i].f)
            bench_put_lease(bench, "old", -1, rows[i].f, "released");
        snprintf(said, sizeof(said), "[1, T, %s, %d, %s, '%s', '']",
                 rows[i].given, rows[i].f ? 1 : 0, rows[i].f ? rows[i].f : "0",
                 rows[i].f ? "old" : "");
        terms.fence = rows[i].asked;
        assert_says(said, bench_acquire(bench, &terms));
        assert_says(rows[i].hw_then, bench_field(bench, "hw"));
    }
}

static void how_the_holder_before_ended_is_told(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_put_lease(bench, "old", -1, "7", "held");
    assert_says("[1, T, 1000, 2, 7, 'old', '']", bench_acquire(bench, &terms));
    bench_release(bench, &terms);
    terms = by(bench, "new");
    assert_says("[1, T, 1001, 1, 1000, 'tok', '']",
                bench_acquire(bench, &terms));
}

/* Whoever gives up an attempt was not told of those before, and whoever dies
 * may be a contender: neither hides a holder that died. */
static void who_died_is_told_until_a_holder_has_released(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_put_lease(bench, "a", -1, "7", "held");
    terms.held = "0";
    assert_says("[1, T, 1000, 2, 7, 'a', '']", bench_acquire(bench, &terms));
    assert_string_equal(bench_lease(bench), "tok 1000 held a");
    bench_release(bench, &terms);
    assert_string_equal(bench_lease(bench), "tok 1000 released a");
    assert_says("[1, T, 1001, 1, 1000, 'tok', ' a']",
                bench_acquire(bench, &terms));
    bench_put_lease(bench, "d", -1, "1002", "held c b a");
    assert_says("[1, T, 1003, 2, 1002, 'd', ' c b a']",
                bench_acquire(bench, &terms));
    assert_string_equal(bench_lease(bench), "tok 1003 held d c b");
    terms.fence = "1005";
    assert_says("[1, T, 1005]", bench_confirm(bench, &terms));
    assert_says("[1, T, 1005]", bench_extend(bench, &terms));
    assert_string_equal(bench_lease(bench), "tok 1005 held d c b");
    terms.held = "1";
    bench_release(bench, &terms);
    assert_string_equal(bench_lease(bench), "tok 1005 released");
}

/* A release ends the lease at once, however long it was. */
static void what_was_released_is_free_at_once(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_put_lease(bench, "old", 100000, "7", "released");
    assert_says("[1, T, 1000, 1, 7, 'old', '']", bench_acquire(bench, &terms));
}

static void the_same_request_again_changes_nothing(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_put_lock(bench, "tok label");
    bench_put_lease(bench, "tok", 50000, "7", "held");
    bench_do(bench, "HSET", NODE, "hw", "7", NULL);
    bench_remember(bench);
    assert_says("[1, T, 7, 0, 0, '', '']", bench_acquire(bench, &terms));
    assert_unchanged(bench);
    /* But no number is answered that the node could forget. */
    bench_do(bench, "HSET", NODE, "hw", "5", NULL);
    assert_says("[1, T, 7, 0, 0, '', '']", bench_acquire(bench, &terms));
    assert_says("7", bench_field(bench, "hw"));
}

static void a_plain_key_of_ours_is_no_obstacle(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_put_lock(bench, "tok");
    assert_says("[1, T, 1000, 0, 0, '', '']", bench_acquire(bench, &terms));
    assert_says("'tok label'", bench_do(bench, "GET", "lock", NULL));
    assert_in_range(atoll(bench_do(bench, "PTTL", "lock", NULL)), 1, 10000);
}

/* --- Held ------------------------------------------------------------------
 */

static void a_live_record_of_another_holds(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_put_lease(bench, "old", 500000, "7", "held");
    bench_remember(bench);
    assert_says("[0, T, 'old', ms]", bench_acquire(bench, &terms));
    assert_in_range(bench->remaining, 400000, 500000);
    assert_unchanged(bench);
    /* With its plain key that names the holder; free it is when both are. */
    bench_do(bench, "SET", "lock", "old label", "PX", "1000000", NULL);
    assert_says("[0, T, 'old label', ms]", bench_acquire(bench, &terms));
    assert_in_range(bench->remaining, 900000, 1000000);
    bench_do(bench, "SET", "lock", "old label", "PX", "50000", NULL);
    assert_says("[0, T, 'old label', ms]", bench_acquire(bench, &terms));
    assert_in_range(bench->remaining, 400000, 500000);
    bench_do(bench, "PERSIST", "lock", NULL);
    assert_says("[0, T, 'old label', -1]", bench_acquire(bench, &terms));
}

/* A key that the server dropped too early, as after a step of its clock. */
static void trap_a_plain_key_that_ended_early(void **state)
{
    struct bench *bench = *state;
    struct terms mine = by(bench, "mine"), theirs = by(bench, "theirs");

    assert_says("[1, T, 1000, 0, 0, '', '']", bench_acquire(bench, &mine));
    bench_do(bench, "DEL", "lock", NULL);
    assert_says("[0, T, 'mine', ms]", bench_acquire(bench, &theirs));
    assert_in_range(bench->remaining, 1, 12500);
}

static void a_plain_key_of_another_holds(void **state)
{
    static const char *const values[] = {"someone", "",       " ",   "to",
                                         "toka",    "toka b", " tok"};
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);
    char said[128];

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        bench_put_lock(bench, values[i]);
        bench_remember(bench);
        snprintf(said, sizeof(said), "[0, T, '%s', ms]", values[i]);
        assert_says(said, bench_acquire(bench, &terms));
        assert_in_range(bench->remaining, 600000, 900000);
        assert_unchanged(bench);
    }
    bench_do(bench, "SET", "lock", "x", NULL);
    assert_says("[0, T, 'x', -1]", bench_acquire(bench, &terms));
    bench_do(bench, "SETRANGE", "lock", "1000000", "x", NULL);
    bench_acquire(bench, &terms);
    assert_true(strlen(bench->said) < 200);
}

/* What is left of one who ended counts, as it does for plain clients. */
static void a_plain_key_holds_whatever_the_record_says(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_put_lock(bench, "old label");
    bench_put_lease(bench, "old", -1, "7", "held");
    assert_says("[0, T, 'old label', ms]", bench_acquire(bench, &terms));
    bench_put_lease(bench, "old", -1, "7", "released");
    assert_says("[0, T, 'old label', ms]", bench_acquire(bench, &terms));
    bench_put_lease(bench, "tok", 50000, "7", "held");
    assert_says("[0, T, 'old label', ms]", bench_acquire(bench, &terms));
}

/* --- Clocks ----------------------------------------------------------------
 */

static void trap_a_clock_that_is_off(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);
    char number[24];

    bench_remember(bench);
    terms.lo = "9000000000000000";
    assert_says("[-2, T]", bench_acquire(bench, &terms));
    terms.lo = "0";
    snprintf(number, sizeof(number), "%llu",
             (unsigned long long)bench_now_us(bench) - 1);
    terms.hi = number; /* and so a request that comes late is refused */
    assert_says("[-2, T]", bench_acquire(bench, &terms));
    assert_unchanged(bench);
    terms.hi = "9000000000000000";
    terms.lo = number;
    assert_says("[1, T, 1000, 0, 0, '', '']", bench_acquire(bench, &terms));
}

static void trap_a_proposal_from_a_fast_clock(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);
    char number[24];

    snprintf(number, sizeof(number), "%llu",
             (unsigned long long)bench_now_us(bench) + 60 * 1000000);
    terms.fence = number;
    bench_remember(bench);
    assert_says("[-2, T]", bench_acquire(bench, &terms));
    assert_unchanged(bench);
    bench_do(bench, "HSET", NODE, "slack_ms", "60000", NULL);
    bench_acquire(bench, &terms);
    assert_int_equal(strncmp(bench->said, "[1, T, ", 7), 0);
}

/* tostring(1795184369123457) would be 1.7951843691235e+15. */
static void trap_lua_numbers_are_doubles(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_do(bench, "HSET", NODE, "hw", "1795184369123457", NULL);
    assert_says("[1, T, 1795184369123458, 0, 0, '', '']",
                bench_acquire(bench, &terms));
    assert_says("1795184369123458", bench_field(bench, "hw"));
    assert_non_null(
        strstr(bench_do(bench, "GET", LEASE, NULL), " 1795184369123458 held"));
}

/* 2^53 + 1 is 2^53. */
static void trap_numbers_that_are_used_up(void **state)
{
    static const char *const last[] = {"9007199254740990", "9007199254740991",
                                       "9007199254740993", "9999999999999999"};
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++) {
        bench_do(bench, "DEL", LEASE, NULL);
        bench_do(bench, "HSET", NODE, "hw", last[i], NULL);
        bench_remember(bench);
        assert_says("[-1, T, 'exhausted']", bench_acquire(bench, &terms));
        assert_unchanged(bench);
        bench_do(bench, "HSET", NODE, "hw", "0", NULL);
        bench_put_lease(bench, "old", -1, last[i], "released");
        assert_says("[-1, T, 'exhausted']", bench_acquire(bench, &terms));
    }
}

/* --- Old data, and clocks that were ahead ----------------------------------
 */

/* Restarted with a record from before others came and went elsewhere. */
static void trap_a_number_from_old_data(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    terms.fence = "1";
    bench_do(bench, "HSET", NODE, "hw", "5000", "floor", "4000", NULL);
    bench_put_lease(bench, "old", -1, "7", "released");
    assert_says("[1, T, 4001, 1, 7, 'old', '']", bench_acquire(bench, &terms));
    bench_do(bench, "DEL", "lock", NULL);
    bench_put_lease(bench, "old", -1, "4500", "released");
    assert_says("[1, T, 4501, 1, 4500, 'old', '']",
                bench_acquire(bench, &terms));
    /* It excludes others all the same while it lasts. */
    bench_do(bench, "DEL", "lock", NULL);
    bench_put_lease(bench, "old", 500000, "7", "held");
    assert_says("[0, T, 'old', ms]", bench_acquire(bench, &terms));
    /* And gives nobody the number that stands there. */
    bench_put_lease(bench, "tok", 500000, "7", "held");
    assert_says("[1, T, 4001, 2, 7, 'tok', '']", bench_acquire(bench, &terms));
}

/* What the group's other nodes have given before its members changed. */
static void trap_a_number_from_before_a_change(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    terms.fence = "1";
    bench_do(bench, "HSET", NODE, "hw", "5000", "least", "4000", NULL);
    bench_put_lease(bench, "tok", 500000, "7", "held");
    assert_says("[1, T, 7, 0, 0, '', '']", bench_acquire(bench, &terms));
    assert_says("[1, T, 9]", (terms.fence = "9", bench_confirm(bench, &terms)));
    assert_says("[1, T, 9]", bench_extend(bench, &terms));
    bench_release(bench, &terms);
    assert_says("[1, T, 4001, 1, 9, 'tok', '']", bench_acquire(bench, &terms));
}

/* A clock that was ahead let another in, who gave up; it is right again. */
static void trap_a_lease_that_was_displaced(void **state)
{
    struct bench *bench = *state;
    struct terms one = by(bench, "one"), two = by(bench, "two");
    struct terms three = by(bench, "three");
    char record[128];
    uint64_t until;

    one.linger = "0";
    one.ttl = "1";
    assert_says("[1, T, 1000, 0, 0, '', '']", bench_acquire(bench, &one));
    until = bench->time_us + 1000;
    clock_sleep_ms(5);
    assert_says("[1, T, 1001, 2, 1000, 'one', '']", bench_acquire(bench, &two));
    snprintf(record, sizeof(record), "'two %llu 1001 held %llu one'",
             (unsigned long long)bench->time_us + 12500000,
             (unsigned long long)until);
    assert_says(record, bench_do(bench, "GET", LEASE, NULL));
    bench_release(bench, &two);
    /* As it looks when the clock has been put back. */
    until = bench_now_us(bench) + 500000000;
    snprintf(record, sizeof(record), "two 1 1001 released %llu one",
             (unsigned long long)until);
    bench_do(bench, "SET", LEASE, record, "PX", "900000", NULL);
    bench_remember(bench);
    assert_says("[0, T, 'two', ms]", bench_acquire(bench, &three));
    assert_in_range(bench->remaining, 400000, 500000);
    three.fence = "2000";
    assert_says("[0, T, '', 0]", bench_extend(bench, &three));
    assert_unchanged(bench);
    /* Of several the largest; and a release does not forget it. */
    snprintf(record, sizeof(record), "two 1 1001 held %llu one",
             (unsigned long long)until);
    bench_do(bench, "SET", LEASE, record, "PX", "900000", NULL);
    bench_release(bench, &two);
    assert_says("[0, T, 'two', ms]", bench_acquire(bench, &three));
}

/* --- What is not to be believed --------------------------------------------
 */

static void a_record_that_cannot_be_read_grants_nothing(void **state)
{
    static const char *const records[] = {
        "",
        "x",
        "tok",
        "tok 1 1",
        "tok 1 1 held",
        "tok 1 1 free 0",
        "tok 1 1 held 0 ",
        " tok 1 1 held 0",
        "tok  1 1 held 0",
        "tok 1 1 HELD 0",
        "tok 1 1 held 0  x",
        "tok 1 1 held  0",
        "tok 1 1 heldx 0",
        "tok 1 1 held x",
        "tok 1 1 held -1",
        "tok 1 1 held 0x10",
        "tok 1 1 held 12345678901234567",
        "tok -1 1 held 0",
        "tok inf 1 held 0",
        "tok 1 nan held 0",
        "tok 1 0x10 held 0",
        "tok 1 1e3 held 0",
        "tok 1 0 held 0",
        "tok 1 00000000000000001 held 0",
        "tok 10000000000000000 1 held 0",
        "tok 1 99999999999999999 released 0",
        "tok\n1 1 held 0",
    };
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        bench_do(bench, "SET", LEASE, records[i], NULL);
        bench_remember(bench);
        assert_says("-ERR quorlock: the lease record cannot be read",
                    bench_acquire(bench, &terms));
        assert_unchanged(bench);
    }
}

static void other_types_grant_nothing(void **state)
{
    static const char *const keys[] = {"lock", LEASE};
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    for (size_t i = 0; i < 2; i++) {
        bench_do(bench, "RPUSH", keys[i], "x", NULL);
        bench_remember(bench);
        assert_non_null(strstr(bench_acquire(bench, &terms), "WRONGTYPE"));
        assert_unchanged(bench);
        bench_do(bench, "DEL", keys[i], NULL);
    }
    bench_do(bench, "SET", NODE, "x", NULL);
    bench_remember(bench);
    assert_non_null(strstr(bench_acquire(bench, &terms), "WRONGTYPE"));
    assert_unchanged(bench);
}

static void arguments_that_are_no_numbers_grant_nothing(void **state)
{
    static const char *const nonsense[] = {
        "",   "inf", "nan", "0x10", "1e3",
        "-1", " 1",  "1 ",  "1.5",  "12345678901234567"};
    struct bench *bench = *state;

    bench_remember(bench);
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
        for (int k = 0; k < 7; k++) {
            struct terms terms = bench_terms(bench);
            const char **fields[] = {&terms.ttl,   &terms.fence, &terms.lo,
                                     &terms.hi,    &terms.keep,  &terms.seen,
                                     &terms.linger};

            *fields[k] = nonsense[i];
            assert_says("-ERR quorlock: an argument is not a number",
                        bench_acquire(bench, &terms));
            assert_says("-ERR quorlock: an argument is not a number",
                        bench_extend(bench, &terms));
        }
    assert_unchanged(bench);
}

/* Nothing is done by halves: the first write is refused. */
static void a_full_server_grants_nothing(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    bench_remember(bench);
    bench_do(bench, "CONFIG", "SET", "maxmemory", "1", NULL);
    assert_non_null(strstr(bench_acquire(bench, &terms), "OOM"));
    assert_unchanged(bench);
    bench_put_lease(bench, "old", -1, "1000", "held"); /* is refused as well */
    bench_do(bench, "CONFIG", "SET", "maxmemory", "0", NULL);
    assert_unchanged(bench);
}

/* --- What is left behind ---------------------------------------------------
 */

static bool only_the_node_is_left(void *arg)
{
    return strcmp(bench_do(arg, "DBSIZE", NULL), "1") == 0;
}

/* One number is left for all the names that there ever were. */
static void records_expire_and_numbers_do_not(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    terms.ttl = "20";
    terms.linger = "20";
    terms.keep = "100";
    assert_says("[1, T, 1000, 0, 0, '', '']", bench_acquire(bench, &terms));
    assert_true(clock_wait_until(only_the_node_is_left, bench, HANG_MS));
    assert_says("-1", bench_do(bench, "PTTL", NODE, NULL));
    terms.fence = "1";
    assert_says("[1, T, 1001, 0, 0, '', '']", bench_acquire(bench, &terms));
    bench_release(bench, &terms);
    assert_true(clock_wait_until(only_the_node_is_left, bench, HANG_MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BENCH(a_free_lock_is_granted),
        ON_BENCH(the_number_grows_always),
        ON_BENCH(how_the_holder_before_ended_is_told),
        ON_BENCH(who_died_is_told_until_a_holder_has_released),
        ON_BENCH(what_was_released_is_free_at_once),
        ON_BENCH(the_same_request_again_changes_nothing),
        ON_BENCH(a_plain_key_of_ours_is_no_obstacle),
        ON_BENCH(a_live_record_of_another_holds),
        ON_BENCH(trap_a_plain_key_that_ended_early),
        ON_BENCH(a_plain_key_of_another_holds),
        ON_BENCH(a_plain_key_holds_whatever_the_record_says),
        ON_BENCH(trap_a_clock_that_is_off),
        ON_BENCH(trap_a_proposal_from_a_fast_clock),
        ON_BENCH(trap_lua_numbers_are_doubles),
        ON_BENCH(trap_numbers_that_are_used_up),
        ON_BENCH(trap_a_number_from_old_data),
        ON_BENCH(trap_a_number_from_before_a_change),
        ON_BENCH(trap_a_lease_that_was_displaced),
        ON_BENCH(a_record_that_cannot_be_read_grants_nothing),
        ON_BENCH(other_types_grant_nothing),
        ON_BENCH(arguments_that_are_no_numbers_grant_nothing),
        ON_BENCH(a_full_server_grants_nothing),
        ON_BENCH(records_expire_and_numbers_do_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
