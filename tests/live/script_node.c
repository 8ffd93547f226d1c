/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lua/node.lua on a real server: each verb, when its conditions are met and
 * when they are not, and twice. A verb answers with the record's state.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script_bench.h"

#define R1 "1111111111111111111111111111111111111111"
#define R2 "2222222222222222222222222222222222222222"
#define D  "30000000" /* half a minute, in microseconds */

/* A server without a record. */
static int setup(void **state)
{
    struct bench *bench;

    bench_setup(state);
    bench = *state;
    bench_do(bench, "DEL", NODE, NULL);
    return 0;
}

#define ON_EMPTY(test)                                                         \
    cmocka_unit_test_setup_teardown(test, setup, bench_teardown)

/* "field=value,..." of the fields that are not empty, but for times. */
static void assert_record(struct bench *bench, const char *expected)
{
    static const char *const fields[] = {
        "cfg",      "prev", "run",   "state", "hw",     "max_ttl_ms",
        "slack_ms", "ref",  "q_run", "sync",  "members"};
    char text[1024] = "";

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const char *value = bench_field(bench, fields[i]);

        if (value[0])
            snprintf(text + strlen(text), sizeof(text) - strlen(text),
                     "%s%s=%s", text[0] ? "," : "", fields[i], value);
    }
    assert_string_equal(text, expected);
}

static void set_number(struct bench *bench, const char *field, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    bench_do(bench, "HSET", NODE, field, text, NULL);
}

/* `at` is the TIME of the last answer, or it is not. */
static void assert_began(struct bench *bench, bool now)
{
    uint64_t answered = bench->time_us;

    assert_int_equal(strtoull(bench_field(bench, "at"), NULL, 10) == answered,
                     now);
}

static void look_changes_nothing(void **state)
{
    struct bench *bench = *state;

    assert_says("absent", bench_node(bench, "look", NULL));
    assert_says("0", bench_do(bench, "DBSIZE", NULL));
    bench_do(bench, "HSET", NODE, "hw", "5", NULL);
    assert_says("absent", bench_node(bench, "look", NULL));
    bench_do(bench, "HSET", NODE, "state", "ready", NULL);
    bench_remember(bench);
    assert_says("ready", bench_node(bench, "look", NULL));
    assert_unchanged(bench);
    bench_do(bench, "HSET", NODE, "state", "what a later version says", NULL);
    assert_says("what a later version says", bench_node(bench, "look", NULL));
}

static void a_group_begins(void **state)
{
    struct bench *bench = *state;

    assert_says("forming", bench_node(bench, "form", "g.1.3", "60000", "500",
                                      R1, "a b c", "7", NULL));
    assert_began(bench, true);
    assert_record(bench, "cfg=g.1.3,run=" R1 ",state=forming,hw=7,max_ttl_ms="
                         "60000,slack_ms=500,members=a b c");
    assert_says("-1", bench_do(bench, "PTTL", NODE, NULL));
    /* Who comes second finds it done. */
    bench_remember(bench);
    assert_says("forming", bench_node(bench, "form", "h.1.3", "1", "1", R2, "x",
                                      "9", NULL));
    assert_says("forming",
                bench_node(bench, "activate", "h.1.3", R1, "", NULL));
    assert_unchanged(bench);
    assert_says("ready", bench_node(bench, "activate", "g.1.3", R1, R1, NULL));
    assert_began(bench, true);
    assert_record(bench, "cfg=g.1.3,run=" R1 ",state=ready,hw=7,max_ttl_ms="
                         "60000,slack_ms=500,sync=" R1 ",members=a b c");
    bench_remember(bench);
    assert_says("ready", bench_node(bench, "activate", "g.1.3", R1, "", NULL));
    assert_says("ready", bench_node(bench, "form", "g.1.3", "60000", "500", R1,
                                    "a b c", "7", NULL));
    assert_unchanged(bench);
}

/* It came back from disk as it was before it was activated. */
static void trap_a_forming_record_of_another_life(void **state)
{
    struct bench *bench = *state;

    bench_node(bench, "form", "g.1.3", "60000", "500", R1, "a b c", "0", NULL);
    bench_remember(bench);
    assert_says("forming",
                bench_node(bench, "activate", "g.1.3", R2, "", NULL));
    assert_unchanged(bench);
    assert_says("quarantine", bench_node(bench, "quarantine", "g.1.3", "", "1",
                                         "1", "x", R2, "1", NULL));
}

static void a_lost_record_is_written_anew(void **state)
{
    struct bench *bench = *state;

    assert_says("quarantine",
                bench_node(bench, "quarantine", "g.2.3", "g.1.2", "60000",
                           "500", "a b c", R1, "1000", NULL));
    assert_began(bench, true);
    assert_record(bench,
                  "cfg=g.2.3,prev=g.1.2,state=quarantine,hw=0,max_ttl_ms"
                  "=60000,slack_ms=500,ref=1000,q_run=" R1 ",members=a b c");
    /* Whoever sees it next leaves it to its course. */
    bench_remember(bench);
    assert_says("quarantine", bench_node(bench, "quarantine", "h.2.3", "", "1",
                                         "1", "x", R1, "2000", NULL));
    assert_unchanged(bench);
}

static void a_restarted_node_is_quarantined(void **state)
{
    static const char *const states[] = {"ready", "forming", "quarantine"};
    struct bench *bench = *state;

    for (int i = 0; i < 3; i++) {
        bench_do(bench, "DEL", NODE, NULL);
        bench_node(bench, "join", "g.1.3", "", "60000", "500", R1, "a b c", "9",
                   NULL);
        bench_do(bench, "HSET", NODE, "state", states[i], "q_run", R1, NULL);
        assert_says("quarantine",
                    bench_node(bench, "quarantine", "h.1.3", "h.0.3", "1", "1",
                               "x", R2, "1000", NULL));
        assert_began(bench, true);
        assert_record(bench,
                      "cfg=g.1.3,state=quarantine,hw=9,max_ttl_ms=60000,"
                      "slack_ms=500,ref=1000,q_run=" R2 ",members=a b c");
    }
}

static void a_ready_node_is_not_quarantined(void **state)
{
    struct bench *bench = *state;

    bench_node(bench, "join", "g.1.3", "", "60000", "500", R1, "a b c", "9",
               NULL);
    bench_remember(bench);
    assert_says("ready", bench_node(bench, "quarantine", "g.1.3", "", "1", "1",
                                    "x", R1, "1000", NULL));
    assert_unchanged(bench);
    /* Nor what is no member any more, or not ours to understand. */
    bench_do(bench, "HSET", NODE, "state", "removed", "run", "", NULL);
    bench_remember(bench);
    assert_says("removed", bench_node(bench, "quarantine", "g.1.3", "", "1",
                                      "1", "x", R1, "1000", NULL));
    assert_unchanged(bench);
    bench_do(bench, "HSET", NODE, "state", "later", NULL);
    bench_remember(bench);
    assert_says("later", bench_node(bench, "quarantine", "g.1.3", "", "1", "1",
                                    "x", R1, "1000", NULL));
    assert_unchanged(bench);
}

/* A quarantine that is to begin in the future never ends. */
static void trap_a_clock_that_was_set_back(void **state)
{
    struct bench *bench = *state;

    bench_node(bench, "quarantine", "g.1.3", "", "60000", "500", "a b c", R1,
               "1000", NULL);
    set_number(bench, "at", bench_now_us(bench) + 3600 * UINT64_C(1000000));
    assert_says("quarantine", bench_node(bench, "quarantine", "g.1.3", "", "1",
                                         "1", "x", R1, "2000", NULL));
    assert_began(bench, true);
    assert_says("2000", bench_field(bench, "ref"));
    bench_do(bench, "HSET", NODE, "at", "soon", NULL);
    bench_node(bench, "quarantine", "g.1.3", "", "1", "1", "x", R1, "3000",
               NULL);
    assert_began(bench, true);
}

/* In quarantine for `own` seconds by its own clock, since `ref` by others. */
static void put_quarantine(struct bench *bench, unsigned own, const char *ref)
{
    bench_do(bench, "DEL", NODE, NULL);
    bench_node(bench, "quarantine", "g.2.3", "g.1.2", "60000", "500", "a b c",
               R1, ref, NULL);
    set_number(bench, "at", bench_now_us(bench) - own * UINT64_C(1000000));
    bench_do(bench, "HSET", NODE, "hw", "50", NULL);
}

static void a_quarantine_ends_by_two_clocks(void **state)
{
    static const struct {
        unsigned own;
        const char *ref, *said;
    } rows[] = {
        {31, "30001000", "ready"},      {31, "99999999", "ready"},
        {29, "30001000", "quarantine"}, {31, "30000999", "quarantine"},
        {31, "0", "quarantine"},        {0, "99999999", "quarantine"},
    };
    struct bench *bench = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put_quarantine(bench, rows[i].own, "1000");
        bench_remember(bench);
        assert_says(rows[i].said, bench_node(bench, "ready", "g.2.3", R1,
                                             rows[i].ref, "70", D, R1, NULL));
        if (rows[i].said[0] == 'q') {
            assert_unchanged(bench);
            continue;
        }
        assert_began(bench, true);
        /* Records with smaller numbers came back from old times. */
        assert_says("70", bench_field(bench, "floor"));
        assert_record(bench,
                      "cfg=g.2.3,prev=g.1.2,run=" R1
                      ",state=ready,hw=70,max_ttl_ms=60000,slack_ms=500,ref="
                      "1000,q_run=" R1 ",sync=" R1 ",members=a b c");
    }
}

static void numbers_never_go_back(void **state)
{
    struct bench *bench = *state;

    put_quarantine(bench, 31, "1000");
    bench_node(bench, "ready", "g.2.3", R1, "99999999", "7", D, "", NULL);
    assert_says("50", bench_field(bench, "hw"));
    assert_says("50", bench_field(bench, "floor"));
    bench_do(bench, "HSET", NODE, "state", "removed", "hw", "60", NULL);
    assert_says("ready", bench_node(bench, "join", "g.3.3", "", "60000", "500",
                                    R1, "a b c", "7", NULL));
    assert_says("60", bench_field(bench, "hw"));
    assert_says("60", bench_field(bench, "floor"));
    bench_do(bench, "HDEL", NODE, "state", NULL);
    assert_says("forming", bench_node(bench, "form", "g.1.3", "60000", "500",
                                      R1, "a b c", "7", NULL));
    assert_says("60", bench_field(bench, "hw"));
}

static void a_quarantine_is_of_one_life_and_group(void **state)
{
    struct bench *bench = *state;

    put_quarantine(bench, 31, "1000");
    bench_remember(bench);
    bench_node(bench, "ready", "g.2.3", R2, "99999999", "70", D, "", NULL);
    bench_node(bench, "ready", "h.2.3", R1, "99999999", "70", D, "", NULL);
    bench_node(bench, "ready", "", R1, "99999999", "70", D, "", NULL);
    assert_unchanged(bench);
    /* The list of before is served as well. */
    assert_says("ready", bench_node(bench, "ready", "g.1.2", R1, "99999999",
                                    "70", D, "", NULL));
    bench_remember(bench);
    bench_node(bench, "ready", "g.2.3", R1, "99999999", "90", D, R1, NULL);
    assert_unchanged(bench);
}

/* 0 was written when it began: any time would be later by D. */
static void trap_a_second_clock_that_was_not_known(void **state)
{
    struct bench *bench = *state;

    put_quarantine(bench, 31, "0");
    assert_says("quarantine", bench_node(bench, "ready", "g.2.3", R1,
                                         "99999999", "70", D, "", NULL));
    assert_says("99999999", bench_field(bench, "ref"));
    assert_says("quarantine", bench_node(bench, "ready", "g.2.3", R1,
                                         "100000000", "70", D, "", NULL));
    assert_says("ready", bench_node(bench, "ready", "g.2.3", R1, "129999999",
                                    "70", D, "", NULL));
}

static void a_durable_restart_needs_no_quarantine(void **state)
{
    struct bench *bench = *state;

    bench_node(bench, "join", "g.1.3", "", "60000", "500", R1, "a b c", "9",
               NULL);
    /* Not verified in the life before; or not in this one. */
    bench_remember(bench);
    bench_node(bench, "durable", R2, R2, NULL);
    assert_unchanged(bench);
    assert_says("ready", bench_node(bench, "verified", R1, R1, NULL));
    assert_says(R1, bench_field(bench, "sync"));
    bench_remember(bench);
    bench_node(bench, "durable", R2, "", NULL);
    bench_node(bench, "durable", R2, R1, NULL);
    bench_node(bench, "verified", R2, R2, NULL);
    assert_unchanged(bench);
    assert_says("ready", bench_node(bench, "durable", R2, R2, NULL));
    assert_began(bench, true);
    assert_record(bench, "cfg=g.1.3,run=" R2 ",state=ready,hw=9,max_ttl_ms="
                         "60000,slack_ms=500,sync=" R2 ",members=a b c");
    /* It is so no longer. */
    bench_node(bench, "verified", R2, "", NULL);
    bench_remember(bench);
    bench_node(bench, "durable", R1, R1, NULL);
    assert_unchanged(bench);
    /* A quarantine is not to be cut short. */
    bench_do(bench, "HSET", NODE, "sync", R2, "state", "quarantine", NULL);
    bench_remember(bench);
    bench_node(bench, "durable", R1, R1, NULL);
    bench_node(bench, "verified", R2, "", NULL);
    assert_unchanged(bench);
}

static void members_change_one_step_at_a_time(void **state)
{
    struct bench *bench = *state;

    assert_says("absent",
                bench_node(bench, "next", "", "g.2.4", "x", "0", NULL));
    assert_says("absent", bench_node(bench, "settle", "", NULL));
    assert_says("absent", bench_node(bench, "remove", "", NULL));
    assert_says("0", bench_do(bench, "DBSIZE", NULL));
    bench_node(bench, "join", "g.1.3", "", "60000", "500", R1, "a b c", "9",
               NULL);
    /* Nothing that was not planned; and one plan at a time. */
    bench_remember(bench);
    bench_node(bench, "next", "g.1.3", "g.2.4", "a b c d", "20", NULL);
    bench_node(bench, "next", "g.1.3", "g.2.4", "", "20", NULL);
    bench_node(bench, "plan", "g.0.3", "a b c d", NULL);
    bench_node(bench, "abandon", "g.1.3", "", NULL);
    assert_unchanged(bench);
    bench_node(bench, "plan", "g.1.3", "b c", NULL);
    bench_remember(bench);
    bench_node(bench, "plan", "g.1.3", "a b c d", NULL);
    bench_node(bench, "plan", "g.1.3", "b c", NULL);
    bench_node(bench, "next", "g.1.3", "g.2.4", "a b c d", "20", NULL);
    bench_node(bench, "abandon", "g.1.3", "a b c d", NULL);
    bench_node(bench, "abandon", "g.0.3", "b c", NULL);
    assert_unchanged(bench);
    bench_node(bench, "abandon", "g.1.3", "b c", NULL);
    assert_says("", bench_field(bench, "plan"));
    bench_do(bench, "HSET", NODE, "state", "quarantine", NULL);
    bench_node(bench, "plan", "g.1.3", "b c", NULL);
    assert_says("", bench_field(bench, "plan"));
    bench_do(bench, "HSET", NODE, "state", "ready", NULL);
    bench_node(bench, "plan", "g.1.3", "a b c d", NULL);
    assert_says("a b c d", bench_field(bench, "plan"));
    assert_says("ready", bench_node(bench, "next", "g.1.3", "g.2.4", "a b c d",
                                    "20", NULL));
    assert_says("20", bench_field(bench, "least"));
    assert_says("", bench_field(bench, "plan"));
    assert_record(bench, "cfg=g.2.4,prev=g.1.3,run=" R1
                         ",state=ready,hw=20,max_ttl_ms=60000,slack_ms=500,"
                         "members=a b c d");
    bench_remember(bench);
    bench_node(bench, "next", "g.1.3", "g.2.4", "x", "30", NULL);
    bench_node(bench, "settle", "g.1.3", NULL);
    bench_node(bench, "remove", "g.0.3", NULL);
    bench_node(bench, "remove", "", NULL);
    bench_node(bench, "join", "h.1.3", "", "1", "1", R2, "x", "9", NULL);
    assert_unchanged(bench);
    assert_says("ready", bench_node(bench, "settle", "g.2.4", NULL));
    assert_says("", bench_field(bench, "prev"));
    assert_says("removed", bench_node(bench, "remove", "g.2.4", NULL));
    assert_record(bench, "cfg=g.2.4,state=removed,hw=20,max_ttl_ms=60000,"
                         "slack_ms=500,members=a b c d");
    bench_remember(bench);
    bench_node(bench, "remove", "g.2.4", NULL);
    bench_node(bench, "next", "g.2.4", "g.3.5", "x", "30", NULL);
    assert_unchanged(bench);
    assert_says("ready", bench_node(bench, "join", "g.4.4", "g.3.3", "50000",
                                    "400", R2, "a b d e", "20", NULL));
    assert_record(bench, "cfg=g.4.4,prev=g.3.3,run=" R2
                         ",state=ready,hw=20,max_ttl_ms=50000,slack_ms=400,"
                         "members=a b d e");
}

static void a_node_may_be_removed_by_either_list(void **state)
{
    struct bench *bench = *state;

    bench_node(bench, "join", "g.2.4", "g.1.3", "60000", "500", R1, "a b c d",
               "9", NULL);
    assert_says("removed", bench_node(bench, "remove", "g.1.3", NULL));
}

/* How long ago the old list was retired, the next step asks. */
static void retiring_a_list_takes_note_of_the_time(void **state)
{
    struct bench *bench = *state;

    bench_node(bench, "join", "g.2.4", "g.1.3", "60000", "500", R1, "a b c d",
               "9", NULL);
    bench_do(bench, "HSET", NODE, "at", "1", NULL);
    assert_says("ready", bench_node(bench, "settle", "g.2.4", NULL));
    assert_began(bench, true);
    bench_do(bench, "HSET", NODE, "at", "1", NULL);
    bench_node(bench, "settle", "g.2.4", NULL);
    assert_says("1", bench_field(bench, "at"));
    /* A quarantine's time is another. */
    bench_do(bench, "HSET", NODE, "state", "quarantine", "prev", "g.1.3", NULL);
    bench_node(bench, "settle", "g.2.4", NULL);
    assert_says("", bench_field(bench, "prev"));
    assert_says("1", bench_field(bench, "at"));
}

static void an_operator_has_a_group_begin_again(void **state)
{
    struct bench *bench = *state;

    bench_node(bench, "join", "g.2.4", "g.1.3", "60000", "500", R1, "a b c d",
               "90", NULL);
    assert_says("quarantine",
                bench_node(bench, "again", "h.1.3", "50000", "400", "a b c", R2,
                           "1000", "20", NULL));
    assert_began(bench, true);
    assert_record(bench, "cfg=h.1.3,state=quarantine,hw=90,max_ttl_ms=50000,"
                         "slack_ms=400,ref=1000,q_run=" R2 ",members=a b c");
}

static void nonsense_is_an_error(void **state)
{
    struct bench *bench = *state;

    bench_remember(bench);
    assert_says("-ERR quorlock: no such verb of the node record",
                bench_node(bench, "dance", NULL));
    assert_says("-ERR quorlock: no such verb of the node record",
                bench_node(bench, "", NULL));
    assert_says("-ERR quorlock: no such verb of the node record",
                bench_node(bench, "look", "x", NULL));
    assert_says("-ERR quorlock: no such verb of the node record",
                bench_node(bench, "form", "g.1.3", NULL));
    assert_says(
        "-ERR quorlock: an argument is not a number",
        bench_node(bench, "form", "g.1.3", "0x10", "500", R1, "a", "0", NULL));
    assert_says(
        "-ERR quorlock: an argument is not a number",
        bench_node(bench, "form", "g.1.3", "1", "500", R1, "a", "inf", NULL));
    assert_says(
        "-ERR quorlock: an argument is not a number",
        bench_node(bench, "ready", "g.1.3", R1, "1", "1", "-1", "", NULL));
    assert_unchanged(bench);
    bench_do(bench, "HSET", NODE, "state", "ready", "hw", "nan", NULL);
    bench_remember(bench);
    assert_says("ready", bench_node(bench, "look", NULL));
    assert_says("-ERR quorlock: the node record cannot be read",
                bench_node(bench, "verified", "", "x", NULL));
    assert_unchanged(bench);
    bench_do(bench, "SET", NODE, "x", NULL);
    assert_non_null(strstr(bench_node(bench, "look", NULL), "WRONGTYPE"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EMPTY(look_changes_nothing),
        ON_EMPTY(a_group_begins),
        ON_EMPTY(trap_a_forming_record_of_another_life),
        ON_EMPTY(a_lost_record_is_written_anew),
        ON_EMPTY(a_restarted_node_is_quarantined),
        ON_EMPTY(a_ready_node_is_not_quarantined),
        ON_EMPTY(trap_a_clock_that_was_set_back),
        ON_EMPTY(a_quarantine_ends_by_two_clocks),
        ON_EMPTY(numbers_never_go_back),
        ON_EMPTY(a_quarantine_is_of_one_life_and_group),
        ON_EMPTY(trap_a_second_clock_that_was_not_known),
        ON_EMPTY(a_durable_restart_needs_no_quarantine),
        ON_EMPTY(members_change_one_step_at_a_time),
        ON_EMPTY(a_node_may_be_removed_by_either_list),
        ON_EMPTY(retiring_a_list_takes_note_of_the_time),
        ON_EMPTY(an_operator_has_a_group_begin_again),
        ON_EMPTY(nonsense_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
