/* SPDX-License-Identifier: BSD-2-Clause */
/* Fenced acquisition: whether a holder before ended without a release. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

#define THREE .nodes = 3, .fenced = true
#define FIVE  .nodes = 5, .fenced = true

STORY(nobody_before_or_one_that_released)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7\n"
          "t=0.002  n2 yes #7  -> ACQUIRED #7, valid for 9.896\n");
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7 after A released #5\n"
          "-> ACQUIRED #7, valid for 9.897\n");
}

STORY(one_whose_lease_ended)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after A ended #5\n"
          "t=0.002  n2 yes #7 after A ended #5\n"
          "-> ACQUIRED #7 after a death, valid for 9.896\n");
}

STORY(one_node_is_enough_to_tell)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7\n"
          "t=0.002  n2 yes #7 after A ended #5\n"
          "-> ACQUIRED #7 after a death, valid for 9.896\n");
}

STORY(a_release_that_did_not_reach_every_node)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after A ended #5\n"
          "t=0.002  n2 yes #7 after A released #5\n"
          "-> ACQUIRED #7, valid for 9.896\n");
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after A released #5\n"
          "t=0.002  n2 yes #7 after A ended #5\n"
          "-> ACQUIRED #7, valid for 9.896\n");
}

/* B came when only n1 was free, gave it back, and hides A there. */
STORY(an_attempt_that_failed_in_between_does_not_hide_it)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after B released #6\n"
          "t=0.002  n2 yes #7 after A ended #5\n"
          "-> ACQUIRED #7 after a death, valid for 9.896\n");
}

/* The node remembers for whoever hid it. */
STORY(those_before_the_one_before)
{
    story(&(struct story_terms){.nodes = 1, .fenced = true},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after B released #6 earlier A\n"
          "-> ACQUIRED #7 after a death, valid for 9.897\n");
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after B released #6 earlier A\n"
          "t=0.002  n2 yes #7 after A released #5\n"
          "-> ACQUIRED #7, valid for 9.896\n");
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after B ended #6 earlier A\n"
          "t=0.002  n2 yes #7 after B released #6\n"
          "-> ACQUIRED #7 after a death, valid for 9.896\n");
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after A released #4\n"
          "t=0.002  n2 yes #7 after B released #6 earlier A earlier B\n"
          "-> ACQUIRED #7, valid for 9.896\n");
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after A released #4\n"
          "t=0.002  n2 yes #7 after B released #6 "
          "earlier A earlier B earlier C\n"
          "-> ACQUIRED #7 after a death, valid for 9.896\n");
}

STORY(what_was_answered_for_the_acquire_is_told_after_a_confirm)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #6 after A ended #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1 n3\n"
          "t=0.003  n1 yes #7\n"
          "-> ACQUIRED #7 after a death, valid for 9.895\n");
}

STORY(only_nodes_that_are_counted_tell)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #6 after A ended #5 earlier B\n"
          "t=0.002  n2 n3 yes #7 -> ask confirm #7 of n1 n4 n5\n"
          "t=0.003  n4 acquire: yes #7 -> ACQUIRED #7, valid for 9.895\n");
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #6 after A released #5\n"
          "t=0.002  n2 n3 yes #7 -> ask confirm #7 of n1 n4 n5\n"
          "t=0.003  n4 acquire: yes #7 after A ended #5\n"
          "-> ACQUIRED #7 after a death, valid for 9.895\n");
}

STORY(a_node_that_answers_after_the_grant_does_not_change_it)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=0.002  n3 yes #7 after A ended #5\n");
}

STORY(an_attempt_before_says_nothing_of_this_one)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after A ended #5\n"
          "t=0.002  n2 n3 failed -> ask release of all\n"
          "t=0.003  n1 yes     -> wait until 0.102\n"
          "t=0.102  time       -> token; ask acquire of all\n"
          "t=0.103  n1 yes #8 after B released #7\n"
          "t=0.103  n2 acquire: yes #8 -> ACQUIRED #8, valid for 9.897\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_before_or_one_that_released),
        cmocka_unit_test(one_whose_lease_ended),
        cmocka_unit_test(one_node_is_enough_to_tell),
        cmocka_unit_test(a_release_that_did_not_reach_every_node),
        cmocka_unit_test(an_attempt_that_failed_in_between_does_not_hide_it),
        cmocka_unit_test(those_before_the_one_before),
        cmocka_unit_test(
            what_was_answered_for_the_acquire_is_told_after_a_confirm),
        cmocka_unit_test(only_nodes_that_are_counted_tell),
        cmocka_unit_test(
            a_node_that_answers_after_the_grant_does_not_change_it),
        cmocka_unit_test(an_attempt_before_says_nothing_of_this_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
