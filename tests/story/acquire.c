/* SPDX-License-Identifier: BSD-2-Clause */
/* One attempt: all nodes are asked at once, and the earliest answer that
 * decides it decides it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(success_at_the_answer_that_makes_the_majority)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire  -> token; ask acquire of all\n"
          "t=0.001  n1 yes\n"
          "t=0.002  n3 yes\n"
          "t=0.003  n4 yes   -> ACQUIRED, valid for 9.895\n"
          "t=0.004  n2 yes   (a fourth vote)\n"
          "t=0.005  valid?   -> 9.893\n"
          "t=9.898  time     -> LOST\n"
          "t=9.898  valid?   -> 0.000\n"
          "t=9.898  state?   -> lost\n");
}

STORY(failure_at_the_answer_that_leaves_no_majority)
{
    story(&(struct story_terms){0},
          "t=0.000  try               -> token; ask acquire of all\n"
          "t=0.001  n1 held\n"
          "t=0.002  n2 yes\n"
          "t=0.003  n3 held\n"
          "t=0.004  n4 held           -> ask release of all\n"
          "t=0.005  n1 held by A 8.000\n"
          "t=0.005  n3 n4 held by A 8.000\n"
          "t=0.005  n2 yes\n"
          "t=0.006  n5 acquire: held\n"
          "t=0.007  n5 held by A      -> HELD BY ANOTHER\n");
}

STORY(a_node_that_fails_or_cannot_be_reached_is_not_a_yes)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.000  n1 unsent\n"
          "t=0.001  n2 failed  -> ask release of n2 n3\n"
          "t=0.002  n3 acquire: yes\n"
          "t=0.002  n3 yes     -> NO QUORUM\n");
}

STORY(trap_07_one_node_down_is_no_failure)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.000  n3 unsent\n"
          "t=0.001  n1 yes\n"
          "t=0.002  n2 yes     -> ACQUIRED, valid for 9.896\n");
}

STORY(trap_08_the_first_node_may_be_the_dead_one)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.000  n1 unsent\n"
          "t=0.001  n2 failed\n"
          "t=0.002  n3 n4 yes\n"
          "t=0.003  n5 yes     -> ACQUIRED, valid for 9.895\n");
}

STORY(trap_04_silent_nodes_cost_one_node_timeout)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 yes\n"
          "t=0.001  due?       -> 0.050\n"
          "t=0.050  time       -> ask release of all\n"
          "t=0.051  n1 yes     -> NO QUORUM   (n2 and n3 are not waited for "
          "again)\n");
}

STORY(an_answer_before_the_timer_counts_even_after_the_node_timeout)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.060  sleep\n"
          "t=0.060  n1 yes     -> ACQUIRED, valid for 9.838\n");
}

STORY(validity_is_what_is_left_when_the_last_counted_answer_was_read)
{
    story(&(struct story_terms){.nodes = 3, .node_timeout_ms = 20000},
          "t=0.000        acquire  -> token; ask acquire of all\n"
          "t=0.001        n1 yes\n"
          "t=9.897999999  n2 yes   -> ACQUIRED, valid for 0.000000001\n"
          "t=9.898        time     -> LOST\n");
}

STORY(trap_03_a_majority_that_took_the_whole_validity_is_a_failure)
{
    story(&(struct story_terms){.nodes = 3, .node_timeout_ms = 20000},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n1 yes\n"
          "t=9.898  n2 yes   -> ask release of all\n"
          "t=9.898  valid?   -> 0.000\n"
          "t=9.899  n1 n2 yes\n"
          "t=9.899  n3 acquire: yes\n"
          "t=9.899  n3 yes   -> SPLIT\n");
}

STORY(trap_14_a_ttl_below_the_node_timeout)
{
    story(&(struct story_terms){.nodes = 3, .ttl_ms = 20},
          "t=0.000  acquire  -> token; ask acquire of all\n"
          "t=0.010  n1 yes\n"
          "t=0.0178 n2 yes   -> ask release of all   (20 ms less 2.2 ms)\n"
          "t=0.018  n3 acquire: yes\n"
          "t=0.019  n1 n2 n3 yes -> wait until 0.1178\n");
}

STORY(trap_14_a_ttl_of_one_millisecond_is_never_held)
{
    story(&(struct story_terms){.nodes = 1, .ttl_ms = 1},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.000  n1 yes   -> ask release of all\n"
          "t=0.001  n1 yes   -> SPLIT\n");
    story(&(struct story_terms){.nodes = 1, .ttl_ms = 3},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.000  n1 yes   -> ACQUIRED, valid for 0.00097\n"
          "t=0.00097 time    -> LOST\n"
          "t=0.002  release  -> ask release of all\n"
          "t=0.002  n1 yes   -> RELEASED\n");
}

STORY(a_late_no_after_success_counts_at_the_next_extension)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire     -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=0.002  n4 n5 held  (two nodes cannot be ours)\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 missing  -> GONE; LOST   (so two could still be)\n");
}

STORY(the_lock_is_lost_at_the_end_of_its_validity_and_not_before)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000        acquire  -> token; ask acquire of all\n"
          "t=0.001        n1 yes   -> ACQUIRED, valid for 9.897\n"
          "t=9.897999999  time\n"
          "t=9.897999999  valid?   -> 0.000000001\n"
          "t=9.897999999  state?   -> held\n"
          "t=9.898        time     -> LOST\n"
          "t=9.999        time     (told once)\n");
}

STORY(no_token_no_attempt)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire  -> token; ask acquire of all\n"
          "t=0.000  abort    -> ABORTED   (nothing was sent, nothing is "
          "released)\n"
          "t=0.000  due?     -> never\n"
          "t=0.001  acquire  -> token; ask acquire of all\n"
          "t=0.002  n1 n2 yes -> ACQUIRED, valid for 9.897\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_at_the_answer_that_makes_the_majority),
        cmocka_unit_test(failure_at_the_answer_that_leaves_no_majority),
        cmocka_unit_test(a_node_that_fails_or_cannot_be_reached_is_not_a_yes),
        cmocka_unit_test(trap_07_one_node_down_is_no_failure),
        cmocka_unit_test(trap_08_the_first_node_may_be_the_dead_one),
        cmocka_unit_test(trap_04_silent_nodes_cost_one_node_timeout),
        cmocka_unit_test(
            an_answer_before_the_timer_counts_even_after_the_node_timeout),
        cmocka_unit_test(
            validity_is_what_is_left_when_the_last_counted_answer_was_read),
        cmocka_unit_test(
            trap_03_a_majority_that_took_the_whole_validity_is_a_failure),
        cmocka_unit_test(trap_14_a_ttl_below_the_node_timeout),
        cmocka_unit_test(trap_14_a_ttl_of_one_millisecond_is_never_held),
        cmocka_unit_test(a_late_no_after_success_counts_at_the_next_extension),
        cmocka_unit_test(
            the_lock_is_lost_at_the_end_of_its_validity_and_not_before),
        cmocka_unit_test(no_token_no_attempt),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
