/* SPDX-License-Identifier: BSD-2-Clause */
/* Fenced acquisition: a majority must say yes under one number, which is the
 * token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

#define THREE .nodes = 3, .fenced = true
#define FIVE  .nodes = 5, .fenced = true

STORY(one_round_trip_if_the_answers_agree)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.000  fence?     -> #0\n"
          "t=0.001  n1 n2 yes #7\n"
          "t=0.002  n3 yes #7  -> ACQUIRED #7, valid for 9.896\n"
          "t=0.003  n4 n5 yes #7\n"
          "t=0.003  fence?     -> #7\n");
    story(&(struct story_terms){.nodes = 1, .fenced = true},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.002  n1 yes #7  -> ACQUIRED #7, valid for 9.896\n");
}

STORY(two_rounds_if_they_do_not)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1 n3\n"
          "t=0.002  due?       -> 0.050   (as before)\n"
          "t=0.003  n1 yes #7  -> ACQUIRED #7, valid for 9.895   (from 0)\n"
          "t=0.004  n3 acquire: yes #4\n"
          "t=0.005  n3 yes #7\n");
}

STORY(the_largest_is_what_all_are_raised_to)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.001  n2 yes #9\n"
          "t=0.002  n3 yes #7  -> ask confirm #9 of n1 n3 n4 n5\n"
          "t=0.003  n3 yes #9\n"
          "t=0.004  n4 acquire: yes #9   (had it by itself)\n"
          "-> ACQUIRED #9, valid for 9.894\n"
          "t=0.005  n4 yes #9\n");
}

STORY(a_node_that_refused_is_asked_for_nothing_more)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 held\n"
          "t=0.001  n2 failed\n"
          "t=0.002  n3 n4 yes #5\n"
          "t=0.003  n5 yes #6  -> ask confirm #6 of n3 n4\n"
          "t=0.004  n3 n4 yes #6 -> ACQUIRED #6, valid for 9.894\n");
}

STORY(a_majority_that_agrees_needs_no_larger_number)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #9\n"
          "t=0.002  n2 n3 yes #7 -> ask confirm #9 of n2 n3 n4 n5\n"
          "t=0.003  n2 yes #9\n"
          "t=0.004  n3 yes #9  -> ACQUIRED #9, valid for 9.894\n"
          "t=0.005  n4 acquire: yes #12\n"
          "t=0.006  n4 yes #12\n"
          "t=0.006  fence?     -> #9\n");
    story(&(struct story_terms){.nodes = 7, .fenced = true},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7\n"
          "t=0.002  n4 yes #7  -> ACQUIRED #7, valid for 9.896\n"
          "t=0.003  n5 yes #8\n");
}

STORY(a_larger_straggler_is_let_be_while_a_majority_can_have_the_number)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #5\n"
          "t=0.002  n3 yes #7  -> ask confirm #7 of n1 n2 n4 n5\n"
          "t=0.003  n4 acquire: yes #9\n"
          "t=0.004  n1 yes #7\n"
          "t=0.005  n2 yes #7  -> ACQUIRED #7, valid for 9.893\n");
}

STORY(a_larger_straggler_is_followed_when_no_majority_can_have_it)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #5\n"
          "t=0.002  n3 yes #7  -> ask confirm #7 of n1 n2 n4 n5\n"
          "t=0.003  n4 acquire: yes #9\n"
          "t=0.004  n1 failed  -> ask confirm #9 of n2 n3 n5\n"
          "t=0.005  n2 confirm: yes #7   (the first of two)\n"
          "t=0.006  n2 yes #9\n"
          "t=0.007  n4 yes #9  (long had it)\n"
          "t=0.008  n3 yes #9  -> ACQUIRED #9, valid for 9.890\n"
          "t=0.008  n5 acquire: failed\n"
          "t=0.008  n5 confirm: failed\n"
          "t=0.009  n5 confirm: failed\n");
}

STORY(a_larger_answer_to_a_confirm_is_followed_too)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1 n3\n"
          "t=0.003  n1 yes #8  -> ask confirm #8 of n2 n3\n"
          "t=0.004  n2 yes #8  -> ACQUIRED #8, valid for 9.894\n");
}

STORY(each_acquisition_has_its_own_token)
{
    story(&(struct story_terms){.nodes = 1, .fenced = true},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7 after A ended #5\n"
          "-> ACQUIRED #7 after a death, valid for 9.897\n"
          "t=0.002  release    -> ask release of all\n"
          "t=0.003  n1 yes     -> RELEASED\n"
          "t=1.000  acquire    -> token; ask acquire of all\n"
          "t=1.000  fence?     -> #0\n"
          "t=1.000  died?      -> no\n"
          "t=1.001  n1 yes #8 after B released #7\n"
          "-> ACQUIRED #8, valid for 9.897\n");
}

/* --- Nodes that have less than the token ---------------------------------- */

STORY(nodes_that_have_less_are_raised_after_the_grant)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7\n"
          "t=0.002  n3 yes #7  -> ACQUIRED #7, valid for 9.896\n"
          "t=0.003  n4 yes #6  -> ask confirm #7 of n4\n"
          "t=0.004  n5 yes #7\n"
          "t=0.004  n4 yes #7\n");
    story(&(struct story_terms){.nodes = 7, .fenced = true},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.001  n2 failed\n"
          "t=0.002  n3 n4 yes #7\n"
          "t=0.003  n5 yes #7  -> ask confirm #7 of n1 n6 n7\n"
          "t=0.004  n6 acquire: yes #7 -> ACQUIRED #7, valid for 9.894\n"
          "t=0.005  n7 acquire: yes #6   (was sent it before)\n");
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #6\n"
          "t=0.002  n2 yes #6\n"
          "t=0.003  n3 yes #5  -> ask confirm #6 of n3 n4 n5\n"
          "t=0.004  n4 acquire: yes #9\n"
          "t=0.004  n4 yes #9\n"
          "t=0.005  n5 acquire: yes #9\n"
          "t=0.005  n3 yes #9  -> ask confirm #9 of n1 n2\n"
          "-> ACQUIRED #9, valid for 9.893\n");
}

STORY(a_node_that_is_raised_behind_an_extension)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 n2 yes #7 -> EXTENDED #7, valid for 9.897\n"
          "t=1.002  n3 acquire: yes #6 -> ask confirm #7 of n3\n"
          "t=1.003  n3 extend: missing   (with 6)\n"
          "t=1.004  n3 yes #7\n"
          "t=2.000  extend 10.000 -> ask extend #7 of all\n"
          "t=2.001  n1 missing (the only one)\n"
          "t=2.002  n2 n3 yes #7 -> EXTENDED #7, valid for 9.896\n");
}

STORY(nodes_that_are_raised_after_the_grant_may_refuse)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=0.003  n3 yes #6  -> ask confirm #7 of n3\n"
          "t=0.004  n3 held\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 held    -> GONE; LOST\n");
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=0.003  n3 yes #6  -> ask confirm #7 of n3\n"
          "t=0.004  n3 failed  (which says nothing)\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 held\n"
          "t=1.002  n2 n3 yes #7 -> EXTENDED #7, valid for 9.896\n");
}

STORY(nodes_are_not_raised_for_a_lock_that_is_lost)
{
    story(&(struct story_terms){THREE, .ttl_ms = 20},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7 -> ACQUIRED #7, valid for 0.0168\n"
          "t=0.0178 time       -> LOST\n"
          "t=0.018  n3 yes #6\n"
          "t=0.019  release    -> ask release of all\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_round_trip_if_the_answers_agree),
        cmocka_unit_test(two_rounds_if_they_do_not),
        cmocka_unit_test(the_largest_is_what_all_are_raised_to),
        cmocka_unit_test(a_node_that_refused_is_asked_for_nothing_more),
        cmocka_unit_test(a_majority_that_agrees_needs_no_larger_number),
        cmocka_unit_test(
            a_larger_straggler_is_let_be_while_a_majority_can_have_the_number),
        cmocka_unit_test(
            a_larger_straggler_is_followed_when_no_majority_can_have_it),
        cmocka_unit_test(a_larger_answer_to_a_confirm_is_followed_too),
        cmocka_unit_test(each_acquisition_has_its_own_token),
        cmocka_unit_test(nodes_that_have_less_are_raised_after_the_grant),
        cmocka_unit_test(a_node_that_is_raised_behind_an_extension),
        cmocka_unit_test(nodes_that_are_raised_after_the_grant_may_refuse),
        cmocka_unit_test(nodes_are_not_raised_for_a_lock_that_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
