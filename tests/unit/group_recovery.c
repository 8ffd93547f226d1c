/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes of a group that were restarted, flushed or promoted, and how they come
 * to vote again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sights.h"

#define S_US UINT64_C(1000000)

static void ready_nodes_vote(void **state)
{
    struct sights s;

    (void)state;
    for (unsigned nodes = 1; nodes <= QL_NODES_MAX; nodes++) {
        sights_ready(&s, nodes);
        for (unsigned i = 0; i < nodes; i++)
            sights_expect(&s, i, QL_V_GRANTED, QL_DUTY_NONE, NULL);
        assert_true(s.group.known);
        assert_string_equal(s.group.cfg, s.sight[0].record.cfg);
    }
}

/* --- What sends a node into quarantine --------------------------------------
 */

static void a_record_that_is_missing_was_lost(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_flush(&s, 1);
    sights_expect(&s, 1, QL_V_NOTREADY, QL_DUTY_QUARANTINE,
                  "lost its data: votes again in 308 s");
    assert_int_equal(s.group.node[1].left_us, sights_quarantine_us(&s));
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    /* It is still so when its quarantine runs, with a record made anew. */
    s.sight[1].record = s.sight[0].record;
    sights_quarantine(&s, 1, 266 * S_US, 266 * S_US);
    s.sight[1].record.hw = 0;
    sights_expect(&s, 1, QL_V_NOTREADY, QL_DUTY_NONE,
                  "lost its data: votes again in 42 s");
    assert_int_equal(s.group.node[1].left_us, 41500000);
}

static void another_process_was_restarted_or_promoted(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_restart(&s, 2);
    sights_expect(&s, 2, QL_V_NOTREADY, QL_DUTY_QUARANTINE,
                  "restarted: votes again in 308 s");
    s.sight[2].uptime_s = 308;
    sights_expect(&s, 2, QL_V_NOTREADY, QL_DUTY_QUARANTINE,
                  "restarted or promoted: votes again in 308 s");
}

static void what_was_saved_with_each_write_is_trusted(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_restart(&s, 0);
    strcpy(s.sight[0].record.sync, "run1");
    s.sight[0].durable = true;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_DURABLE, "with all its data");
    /* Only if that was so before and after, */
    s.sight[0].durable = false;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "restarted");
    s.sight[0].durable = true;
    strcpy(s.sight[0].record.sync, "");
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "restarted");
    /* and in the life in which it was ready. */
    strcpy(s.sight[0].record.sync, "run0");
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "restarted");
    strcpy(s.sight[0].record.sync, "");
    strcpy(s.sight[0].record.run, "");
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "restarted");
}

static void how_a_node_saves_is_noted(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    s.sight[0].durable = true;
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_VERIFIED, NULL);
    strcpy(s.sight[0].record.sync, "run1");
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    s.sight[0].durable = false; /* no longer */
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_VERIFIED, NULL);
    s.sight[0].durable = true; /* it was, in another life */
    strcpy(s.sight[0].record.sync, "run0");
    sights_expect(&s, 0, QL_V_GRANTED, QL_DUTY_VERIFIED, NULL);
}

/* --- How long it lasts ------------------------------------------------------
 */

static void the_slower_of_two_clocks_counts(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_quarantine(&s, 0, 300 * S_US, 200 * S_US);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE,
                  "restarted: votes again in 108 s");
    sights_quarantine(&s, 0, 200 * S_US, 300 * S_US);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE,
                  "restarted: votes again in 108 s");
    /* Its own clock jumped ahead. */
    sights_quarantine(&s, 0, 100000 * S_US, S_US);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE,
                  "restarted: votes again in 307 s");
    /* The others' time was later when it began. */
    sights_quarantine(&s, 0, 100000 * S_US, 0);
    s.sight[0].record.ref_us += 1000 * S_US;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE,
                  "restarted: votes again in 22 min");
}

static void its_time_is_what_it_is_now(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_quarantine(&s, 0, 100 * S_US, 200 * S_US);
    s.time_us[0] += 100 * S_US; /* it was looked at a while ago */
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE, "votes again in 108 s");
    s.time_us[0] = 0; /* not known: as it was when it was looked at */
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE, "votes again in 208 s");
}

static void a_restart_in_quarantine_begins_it_again(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_quarantine(&s, 0, 300 * S_US, 300 * S_US);
    strcpy(s.sight[0].run_id, "once more");
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_QUARANTINE,
                  "restarted: votes again in 308 s");
}

static void a_clock_that_was_set_back_begins_it_again(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_quarantine(&s, 0, 300 * S_US, 300 * S_US);
    s.sight[0].record.now_us = s.sight[0].record.at_us - 1;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "308 s");
    s.sight[0].record.now_us = SIGHTS_NOW;
    s.time_us[0] = s.sight[0].record.at_us - 500001;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "308 s");
    /* Our estimate is not that exact. */
    s.time_us[0] = s.sight[0].record.at_us - 500000;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE, "308 s");
}

static void without_the_others_time_nothing_begins(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_restart(&s, 0);
    sights_flush(&s, 1);
    s.view.ref_us = 0;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE, "a majority");
    sights_expect(&s, 1, QL_V_NOTREADY, QL_DUTY_NONE, "a majority");
    assert_true(s.group.node[0].left_us == UINT64_MAX);
    sights_ready(&s, 3);
    sights_quarantine(&s, 0, 1000 * S_US, 1000 * S_US);
    s.view.ref_us = 0;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE, "a majority");
    /* It was not known when it began: the verb notes it. */
    s.view.ref_us = SIGHTS_NOW;
    s.sight[0].record.ref_us = 0;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_READY, "in 308 s");
}

/* --- How it ends ------------------------------------------------------------
 */

static void numbers_are_read_back_from_enough_others(void **state)
{
    /* N - q + 1 */
    static const unsigned needed[] = {0, 0, 1, 2, 2, 3, 3, 4};
    struct sights s;

    (void)state;
    for (unsigned nodes = 2; nodes < sizeof(needed) / sizeof(needed[0]);
         nodes++) {
        sights_ready(&s, nodes);
        sights_quarantine(&s, 0, 400 * S_US, 400 * S_US);
        s.sight[0].record.hw = 5000;
        sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_READY, "in a moment");
        assert_int_equal(s.group.node[0].left_us, 0);
        /* The largest of theirs, not of its own. */
        assert_int_equal(s.group.hw, 1000 + nodes - 1);
        for (unsigned i = nodes - 1; i > needed[nodes]; i--)
            sights_away(&s, i);
        sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_READY, "in a moment");
        assert_int_equal(s.group.hw, 1000 + needed[nodes]);
    }
    sights_ready(&s, 5);
    sights_quarantine(&s, 0, 400 * S_US, 400 * S_US);
    sights_away(&s, 1);
    sights_away(&s, 2);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE,
                  "when 3 other nodes are ready, now 2 are");
    assert_true(s.group.node[0].left_us == UINT64_MAX);
}

/* An attempt that had the vote before it was forgotten may have won meanwhile,
 * and have lifted the other's number. */
static void old_numbers_are_not_good_enough(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_quarantine(&s, 0, 400 * S_US, 400 * S_US);
    s.sight[2].record.now_us = SIGHTS_NOW - S_US;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_READY, "in a moment");
    s.sight[2].record.now_us--;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE, "in a moment");
    sights_expect(&s, 1, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    sights_expect(&s, 2, QL_V_GRANTED, QL_DUTY_LOOK, NULL);
    /* It was looked at, and its time is not as late as was thought. */
    s.sight[2].record.now_us = SIGHTS_NOW + 500000;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_READY, "in a moment");
    /* Its clock was set back since. */
    s.sight[2].record.now_us++;
    sights_expect(&s, 2, QL_V_GRANTED, QL_DUTY_LOOK, NULL);
    s.time_us[2] = 0;
    sights_expect(&s, 2, QL_V_GRANTED, QL_DUTY_LOOK, NULL);
    /* Any duty's answer is a look. */
    s.sight[2].durable = true;
    sights_expect(&s, 2, QL_V_GRANTED, QL_DUTY_VERIFIED, NULL);
    /* Where others are enough, nobody is asked. */
    sights_ready(&s, 5);
    sights_quarantine(&s, 0, 400 * S_US, 400 * S_US);
    s.sight[2].record.now_us = SIGHTS_NOW - 2 * S_US;
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_READY, "in a moment");
    sights_expect(&s, 2, QL_V_GRANTED, QL_DUTY_NONE, NULL);
}

static void a_node_alone_goes_on_above_its_clock(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 1);
    sights_restart(&s, 0);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_QUARANTINE,
                  "restarted: votes again in 308 s");
    sights_quarantine(&s, 0, 400 * S_US, 400 * S_US);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_READY, "in a moment");
    assert_int_equal(s.group.hw, SIGHTS_NOW + 500000);
}

static void two_of_five_come_back_at_once(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 5);
    sights_quarantine(&s, 0, 400 * S_US, 400 * S_US);
    sights_quarantine(&s, 3, 400 * S_US, 400 * S_US);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_READY, "in a moment");
    sights_expect(&s, 3, QL_V_NOTREADY, QL_DUTY_READY, "in a moment");
    assert_int_equal(s.group.hw, 1004);
}

/* --- When too many have forgotten -------------------------------------------
 */

static void a_majority_that_forgot_needs_a_word(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_quarantine(&s, 0, 100 * S_US, 100 * S_US);
    sights_restart(&s, 2);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE,
                  "restarted, as too many others have: run quorlock init "
                  "--again -S db1:6379,db2:6379,db3:6379");
    assert_true(s.group.node[0].left_us == UINT64_MAX);
    /* The quarantine runs all the same: the word may come later. */
    sights_expect(&s, 2, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "--again");
    /* The third cannot be asked, and may remember. */
    sights_ready(&s, 5);
    sights_restart(&s, 0);
    sights_restart(&s, 1);
    sights_away(&s, 2);
    sights_away(&s, 3);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_QUARANTINE, "in 308 s");
}

static void records_lost_by_a_majority_are_not_made_up(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_flush(&s, 0);
    sights_flush(&s, 1);
    sights_expect(&s, 0, QL_V_GROUP, QL_DUTY_NONE, "quorlock init --again");
    sights_expect(&s, 2, QL_V_GROUP, QL_DUTY_NONE, "quorlock init --again");
    assert_false(s.group.known);
}

static void a_few_that_answer_cannot_tell_whose_record_was_lost(void **state)
{
    struct sights s;

    (void)state;
    sights_ready(&s, 3);
    sights_flush(&s, 0);
    sights_away(&s, 1);
    sights_expect(&s, 0, QL_V_NOTREADY, QL_DUTY_NONE, "too few nodes answer");
    sights_expect(&s, 2, QL_V_GRANTED, QL_DUTY_NONE, NULL);
    assert_true(s.group.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_nodes_vote),
        cmocka_unit_test(a_record_that_is_missing_was_lost),
        cmocka_unit_test(another_process_was_restarted_or_promoted),
        cmocka_unit_test(what_was_saved_with_each_write_is_trusted),
        cmocka_unit_test(how_a_node_saves_is_noted),
        cmocka_unit_test(the_slower_of_two_clocks_counts),
        cmocka_unit_test(its_time_is_what_it_is_now),
        cmocka_unit_test(a_restart_in_quarantine_begins_it_again),
        cmocka_unit_test(a_clock_that_was_set_back_begins_it_again),
        cmocka_unit_test(without_the_others_time_nothing_begins),
        cmocka_unit_test(numbers_are_read_back_from_enough_others),
        cmocka_unit_test(old_numbers_are_not_good_enough),
        cmocka_unit_test(a_node_alone_goes_on_above_its_clock),
        cmocka_unit_test(two_of_five_come_back_at_once),
        cmocka_unit_test(a_majority_that_forgot_needs_a_word),
        cmocka_unit_test(records_lost_by_a_majority_are_not_made_up),
        cmocka_unit_test(a_few_that_answer_cannot_tell_whose_record_was_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
