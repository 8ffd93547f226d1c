/* SPDX-License-Identifier: BSD-2-Clause */
/* Renewal without being asked: a third of the ttl after the last success, so
 * that two may fail, and the loss told before the validity ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/time.h"
#include "story.h"

STORY(renewed_at_a_third_of_the_ttl_and_nothing_is_told)
{
    story(
        &(struct story_terms){
            .nodes = 3, .ttl_ms = 9000, .renew = true, .loss_notice_ms = 500},
        "t=0.000  acquire   -> token; ask acquire of all\n"
        "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 8.907\n"
        "t=2.699  valid?    -> 6.209   (not before 2.7, by 3.0)\n"
        "t=due    time      -> ask extend of all\n"
        "+0.001   n1 yes\n"
        "+0.001   n2 yes\n"
        "+0.000   valid?    -> 8.906\n"
        "t=due    time      -> ask extend of all\n"
        "+0.001   n3 extend: yes\n"
        "+0.001   n1 n2 yes\n"
        "+0.000   valid?    -> 8.906\n");
}

STORY(no_renewal_unless_it_was_wished)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=0.001  due?      -> 9.898\n");
}

STORY(a_failed_renewal_is_tried_again_soon_and_the_loss_is_told_in_time)
{
    story(
        &(struct story_terms){
            .nodes = 1, .ttl_ms = 1200, .renew = true, .loss_notice_ms = 650},
        "t=0.000  acquire   -> token; ask acquire of all\n"
        "t=0.001  n1 yes    -> ACQUIRED, valid for 1.185\n"
        "t=due    time      -> ask extend of all\n"
        "+0.001   n1 failed\n"
        "+0.099999999 time    (not yet)\n"
        "+0.000000001 time    -> ask extend of all   (a twelfth)\n"
        "+0.001   n1 failed\n"
        "t=due    time      -> LOST, valid for 0.650\n"
        "+0.000   due?      -> never\n"
        "+0.000   extend 1.200 -> TOO LATE, valid for 0.650\n");
}

STORY(two_failed_renewals_are_borne)
{
    story(
        &(struct story_terms){
            .nodes = 3, .ttl_ms = 12000, .renew = true, .loss_notice_ms = 1000},
        "t=0.000  acquire   -> token; ask acquire of all\n"
        "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 11.877\n"
        "t=due    time      -> ask extend of all\n"
        "+0.001   n1 n2 failed\n"
        "+0.200   time      -> ask extend of all   (the retry delay)\n"
        "+0.050   time\n"
        "+0.2     time      -> ask extend of all\n"
        "+0.001   n3 extend: yes   (to the first)\n"
        "+0.001   n3 extend: yes   (to the second)\n"
        "+0.001   n3 yes\n"
        "+0.001   n1 extend: failed\n"
        "+0.001   n1 yes\n"
        "+0.000   valid?    -> 11.873\n");
}

STORY(trap_12_a_renewal_that_finds_a_foreign_majority)
{
    story(&(struct story_terms){.nodes = 3, .renew = true},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=due    time      -> ask extend of all\n"
          "+0.001   n1 held by A\n"
          "+0.001   n2 held by A -> LOST\n"
          "+0.000   valid?    -> 0.000\n"
          "+0.000   due?      -> never\n");
}

STORY(the_callers_extension_takes_the_place_of_a_renewal)
{
    story(&(struct story_terms){.nodes = 1, .renew = true},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=due    time      -> ask extend of all\n"
          "+0.001   extend 20.000 -> ask extend 20.000 of all\n"
          "+0.001   n1 extend: yes   (the renewal's)\n"
          "+0.001   n1 yes    -> EXTENDED, valid for 19.796\n"
          "t=due    time      -> ask extend 20.000 of all   (as asked last)\n");
}

STORY(a_renewal_that_is_due_waits_for_the_callers_question)
{
    story(
        &(struct story_terms){
            .nodes = 1, .ttl_ms = 300, .node_timeout_ms = 150, .renew = true},
        "t=0.000  acquire   -> token; ask acquire of all\n"
        "t=0.001  n1 yes    -> ACQUIRED, valid for 0.294\n"
        "t=0.050  verify    -> ask inspect of all\n"
        "t=0.150  time\n"
        "t=0.150  n1 yes 0.145 -> VERIFIED, valid for 0.04155\n"
        "t=0.150  time      -> ask extend of all\n"
        "t=0.151  n1 yes\n"
        "t=0.151  valid?    -> 0.294\n");
}

STORY(a_question_during_a_renewal_lets_it_start_again_afterwards)
{
    story(&(struct story_terms){.nodes = 1, .renew = true},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=due    time      -> ask extend of all\n"
          "+0.001   inspect   -> ask inspect of all\n"
          "+0.001   n1 extend: yes\n"
          "+0.001   n1 yes    -> HELD BY ANOTHER\n"
          "+0.000   time      -> ask extend of all\n");
}

STORY(a_loss_ends_the_renewals)
{
    story(
        &(struct story_terms){
            .nodes = 1, .ttl_ms = 300, .node_timeout_ms = 1000, .renew = true},
        "t=0.000  acquire   -> token; ask acquire of all\n"
        "t=0.001  n1 yes    -> ACQUIRED, valid for 0.294\n"
        "t=due    time      -> ask extend of all\n"
        "t=0.295  time      -> LOST\n"
        "t=0.295  due?      -> never\n"
        "t=0.296  n1 yes    (too late)\n"
        "t=0.296  valid?    -> 0.000\n");
}

/* Many machines that acquire at one moment do not renew at one moment. */
static void renewals_are_spread_over_the_last_tenth_of_the_third(void **state)
{
    const struct ql_rules rules = {.nodes = 1,
                                   .quorum = 1,
                                   .node_timeout_ns = 50 * QL_NS_PER_MS,
                                   .drift_ppm = 10000};
    const struct ql_terms terms = {
        .ttl_ns = 30000 * QL_NS_PER_MS, .max_hold_ns = QL_NEVER, .renew = true};
    struct ql_machine *m = malloc(ql_machine_size(1));
    unsigned in_tenth[10] = {0};

    (void)state;
    assert_non_null(m);
    for (unsigned seed = 0; seed < 2000; seed++) {
        struct ql_event event = {.kind = QL_EV_ACQUIRE, .until = QL_NEVER};
        struct ql_actions actions;
        uint64_t due_ms;

        ql_machine_init(m, &rules, &terms, seed);
        ql_step(m, &event, &actions);
        event = (struct ql_event){.kind = QL_EV_VOTE,
                                  .round = actions.list[1].round,
                                  .vote = QL_VOTE_YES};
        ql_step(m, &event, &actions);
        due_ms = ql_machine_deadline(m) / QL_NS_PER_MS;
        assert_in_range(due_ms, 9000, 10000);
        in_tenth[due_ms < 10000 ? (due_ms - 9000) / 100 : 9]++;
    }
    for (unsigned i = 0; i < 10; i++)
        assert_in_range(in_tenth[i], 140, 260);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renewals_are_spread_over_the_last_tenth_of_the_third),
        cmocka_unit_test(renewed_at_a_third_of_the_ttl_and_nothing_is_told),
        cmocka_unit_test(no_renewal_unless_it_was_wished),
        cmocka_unit_test(
            a_failed_renewal_is_tried_again_soon_and_the_loss_is_told_in_time),
        cmocka_unit_test(two_failed_renewals_are_borne),
        cmocka_unit_test(trap_12_a_renewal_that_finds_a_foreign_majority),
        cmocka_unit_test(the_callers_extension_takes_the_place_of_a_renewal),
        cmocka_unit_test(a_renewal_that_is_due_waits_for_the_callers_question),
        cmocka_unit_test(
            a_question_during_a_renewal_lets_it_start_again_afterwards),
        cmocka_unit_test(a_loss_ends_the_renewals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
