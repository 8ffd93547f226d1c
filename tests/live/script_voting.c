/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which node may vote: the part that lua/guarded_acquire.lua, _confirm and
 * _extend share, asked through each of the three. The lock is held by "tok"
 * with number 1000, so that a node that may vote says yes to all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/script.h"
#include "script_bench.h"

typedef const char *ask_fn(struct bench *bench, const struct terms *terms);

static ask_fn *const ask[] = {bench_acquire, bench_confirm, bench_extend};
#define SCRIPTS 3

static void put_lock(struct bench *bench)
{
    bench_put_lock(bench, "tok label");
    bench_put_lease(bench, "tok", 500000, "1000", "held");
    bench_do(bench, "HSET", NODE, "hw", "1000", NULL);
}

/* A refusal changes nothing. */
static void refused(struct bench *bench, const struct terms *terms,
                    const char *said)
{
    bench_remember(bench);
    for (int i = 0; i < SCRIPTS; i++) {
        assert_says(said, ask[i](bench, terms));
        assert_unchanged(bench);
    }
}

static void granted(struct bench *bench, const struct terms *terms)
{
    for (int i = 0; i < SCRIPTS; i++)
        if (strncmp(ask[i](bench, terms), "[1, T, 1000", 11) != 0)
            fail_msg("script %d: %s", i, bench->said);
}

static void a_ready_node_votes(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    put_lock(bench);
    granted(bench, &terms);
}

/* Flushed, another database, an empty restart. */
static void trap_a_node_that_lost_its_record(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    put_lock(bench);
    bench_do(bench, "DEL", NODE, NULL);
    refused(bench, &terms, "[-1, T, 'missing']");
    bench_do(bench, "HSET", NODE, "hw", "1000", "run", bench->run, "cfg", CFG,
             NULL);
    refused(bench, &terms, "[-1, T, 'missing']");
    bench_do(bench, "FLUSHALL", NULL);
    refused(bench, &terms, "[-1, T, 'missing']");
}

static void trap_another_list_of_nodes(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    put_lock(bench);
    terms.cfg = "0123456789abcdef.2.3";
    refused(bench, &terms, "[-1, T, 'cfg']");
    /* While the members change, both lists are served. */
    bench_do(bench, "HSET", NODE, "prev", "0123456789abcdef.2.3", NULL);
    granted(bench, &terms);
    terms.cfg = CFG;
    granted(bench, &terms);
}

/* An empty prev is nobody's config. */
static void no_config_is_none(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    put_lock(bench);
    terms.cfg = "";
    refused(bench, &terms, "[-1, T, 'cfg']");
    bench_do(bench, "HSET", NODE, "cfg", "", NULL);
    refused(bench, &terms, "[-1, T, 'cfg']");
    bench_do(bench, "HDEL", NODE, "prev", NULL);
    refused(bench, &terms, "[-1, T, 'cfg']");
}

/* Restarted with its old data, or a replica that was promoted. */
static void trap_a_record_of_another_process(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    put_lock(bench);
    bench_do(bench, "HSET", NODE, "run",
             "0000000000000000000000000000000000000000", NULL);
    refused(bench, &terms, "[-1, T, 'not ready']");
    bench_do(bench, "HSET", NODE, "run", "", NULL);
    refused(bench, &terms, "[-1, T, 'not ready']");
    terms.run = "";
    refused(bench, &terms, "[-1, T, 'not ready']");
    bench_do(bench, "HDEL", NODE, "run", NULL);
    refused(bench, &terms, "[-1, T, 'not ready']");
}

static void only_ready_is_ready(void **state)
{
    static const char *const states[] = {"forming", "quarantine", "removed",
                                         "READY",   "",           "later"};
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    put_lock(bench);
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        bench_do(bench, "HSET", NODE, "state", states[i], NULL);
        refused(bench, &terms, "[-1, T, 'not ready']");
    }
}

/* A proxy leads to another process than the one that was greeted. */
static void strict_asks_the_process_itself(void **state)
{
    static const char other[] = "0123456789012345678901234567890123456789";
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    put_lock(bench);
    terms.strict = "1";
    granted(bench, &terms);
    terms.run = other;
    bench_do(bench, "HSET", NODE, "run", other, NULL);
    refused(bench, &terms, "[-1, T, 'not ready']");
    terms.strict = "0";
    granted(bench, &terms);
}

static void trap_a_snapshot_that_was_restored(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    put_lock(bench);
    terms.seen = "1001";
    refused(bench, &terms, "[-1, T, 'rolled back']");
    terms.seen = "1000";
    granted(bench, &terms);
    terms.seen = "0000000000001000"; /* as it is put into a request */
    granted(bench, &terms);
}

static void a_ttl_beyond_the_groups_is_refused(void **state)
{
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    put_lock(bench);
    terms.ttl = "60001";
    bench_remember(bench);
    assert_says("[-1, T, 'ttl']", bench_acquire(bench, &terms));
    assert_says("[-1, T, 'ttl']", bench_extend(bench, &terms));
    assert_unchanged(bench);
    terms.ttl = "60000";
    granted(bench, &terms);
    terms.ttl = "0";
    assert_says("-ERR quorlock: an argument is not a number",
                bench_acquire(bench, &terms));
}

static void a_node_record_that_cannot_be_read_votes_not(void **state)
{
    static const char *const fields[] = {"hw", "max_ttl_ms", "slack_ms",
                                         "floor", "least"};
    static const char *const nonsense[] = {
        "",    "inf", "-inf", "nan", "0x10",
        "1e3", "-1",  " 1",   "1.5", "12345678901234567"};
    struct bench *bench = *state;
    struct terms terms = bench_terms(bench);

    for (int i = 0; i < 5; i++) {
        put_lock(bench);
        for (size_t k = 0; k < sizeof(nonsense) / sizeof(nonsense[0]); k++) {
            bench_do(bench, "HSET", NODE, fields[i], nonsense[k], NULL);
            refused(bench, &terms,
                    "-ERR quorlock: the node record cannot be read");
        }
        bench_do(bench, "HDEL", NODE, fields[i], NULL);
        if (i >= 3) { /* missing: 0 */
            granted(bench, &terms);
            continue;
        }
        refused(bench, &terms, "-ERR quorlock: the node record cannot be read");
        bench_do(bench, "HSET", NODE, fields[i], "60000", NULL);
    }
}

/* One rule in three files. */
static void the_shared_part_is_the_same(void **state)
{
    static const char begin[] = "local function number(text)";
    static const char end[] = "local time = redis.call('TIME')";
    static const enum ql_command_kind kinds[] = {QL_CMD_SET, QL_CMD_CONFIRM,
                                                 QL_CMD_EXTEND};
    const char *first = NULL;
    size_t first_len = 0;

    (void)state;
    for (int i = 0; i < SCRIPTS; i++) {
        const char *at =
            ql_script_at((unsigned)ql_script_of(kinds[i], true))->source;
        const char *stop;

        at = strstr(at, begin);
        assert_non_null(at);
        stop = strstr(at, end);
        assert_non_null(stop);
        if (first) {
            assert_int_equal(stop - at, first_len);
            assert_memory_equal(at, first, first_len);
        }
        first = at;
        first_len = (size_t)(stop - at);
    }
    assert_true(first_len > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BENCH(a_ready_node_votes),
        ON_BENCH(trap_a_node_that_lost_its_record),
        ON_BENCH(trap_another_list_of_nodes),
        ON_BENCH(no_config_is_none),
        ON_BENCH(trap_a_record_of_another_process),
        ON_BENCH(only_ready_is_ready),
        ON_BENCH(strict_asks_the_process_itself),
        ON_BENCH(trap_a_snapshot_that_was_restored),
        ON_BENCH(a_ttl_beyond_the_groups_is_refused),
        ON_BENCH(a_node_record_that_cannot_be_read_votes_not),
        cmocka_unit_test(the_shared_part_is_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
