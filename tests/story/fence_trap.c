/* SPDX-License-Identifier: BSD-2-Clause */
/* Fenced acquisition: what must not make a token, and confirms that come to
 * nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

#define THREE .nodes = 3, .fenced = true
#define FIVE  .nodes = 5, .fenced = true

/* --- What does not count -------------------------------------------------- */

STORY(trap_fence_equal_answers_of_a_minority_are_no_token)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7\n"
          "t=0.002  n3 n4 n5 failed -> ask release of all\n"
          "t=0.003  n1 n2 yes  -> wait until 0.102\n"
          "t=0.003  fence?     -> #0\n");
    story(&(struct story_terms){FIVE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7\n"
          "t=0.002  n3 yes #6  -> ask confirm #7 of n3 n4 n5\n"
          "t=0.050  time       -> ask release of all   (two of three equal)\n"
          "t=0.051  n3 confirm: yes #7   (too late)\n"
          "t=0.052  n1 n2 yes  -> NO QUORUM\n");
}

STORY(trap_fence_a_majority_of_unlike_answers_is_no_token)
{
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #6  -> ask confirm #6 of n1 n3\n"
          "t=0.003  n3 acquire: yes #7\n"
          "t=0.003  state?     -> acquiring   (three yeses)\n"
          "t=0.050  time       -> ask release of all\n"
          "t=0.051  n2 yes\n"
          "t=0.052  n3 confirm: yes #7\n"
          "t=0.053  n3 yes     -> SPLIT\n");
}

STORY(trap_fence_an_acknowledgement_is_not_counted_for_what_was_asked)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #5\n"
          "t=0.002  n3 yes #7  -> ask confirm #7 of n1 n2 n4 n5\n"
          "t=0.003  n1 yes #7\n"
          "t=0.004  n2 yes #8  -> ask confirm #8 of n1 n3 n4 n5\n"
          "t=0.005  n1 yes #8\n"
          "t=0.006  n3 yes #8  -> ACQUIRED #8, valid for 9.892\n");
}

STORY(trap_fence_a_smaller_answer_than_was_asked_for_is_no_yes)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1 n3\n"
          "t=0.003  n1 yes #6\n"
          "t=0.004  n3 acquire: yes #6   (its confirm is on the way)\n"
          "t=0.005  n3 yes #7  -> ACQUIRED #7, valid for 9.893\n");
}

STORY(trap_fence_a_number_that_was_left_behind_is_not_agreed_on)
{
    /* Three have said 5; two of them were told to have 7. */
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #5\n"
          "t=0.002  n3 yes #7  -> ask confirm #7 of n1 n2 n4 n5\n"
          "t=0.003  n4 acquire: yes #5\n"
          "t=0.003  state?     -> acquiring\n"
          "t=0.004  n1 n2 yes #7 -> ACQUIRED #7, valid for 9.894\n");
}

STORY(trap_fence_no_number_is_no_token)
{
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes\n"
          "t=0.050  time       -> ask release of all\n"
          "t=0.051  n1 n2 n3 yes -> SPLIT\n");
}

/* --- Confirms that fail --------------------------------------------------- */

STORY(trap_fence_a_refused_confirm_takes_the_yes_back)
{
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.000  n3 held\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1\n"
          "t=0.003  n1 missing -> ask release of all   (its lease has ended)\n"
          "t=0.004  n1 missing\n"
          "t=0.004  n2 yes\n"
          "t=0.004  n3 held by A -> SPLIT\n");
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.000  n3 held\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1\n"
          "t=0.003  n1 held    -> ask release of all   (somebody else came)\n"
          "t=0.004  n1 held by A\n"
          "t=0.004  n2 yes\n"
          "t=0.004  n3 held by A -> HELD BY ANOTHER\n");
}

STORY(a_refused_confirm_leaves_the_others)
{
    story(&(struct story_terms){FIVE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #5\n"
          "t=0.002  n3 yes #7  -> ask confirm #7 of n1 n2 n4 n5\n"
          "t=0.003  n1 missing (four may still agree)\n"
          "t=0.004  n2 yes #7\n"
          "t=0.005  n4 acquire: yes #6\n"
          "t=0.006  n5 acquire: held\n"
          "t=0.006  n5 missing\n"
          "t=0.007  n4 yes #7  -> ACQUIRED #7, valid for 9.891\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n3 missing -> GONE; LOST   (and n1 and n5 before it)\n");
}

STORY(a_confirm_that_cannot_be_sent_or_is_not_answered)
{
    story(&(struct story_terms){FIVE, .tries = 1},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #5\n"
          "t=0.002  n3 yes #7  -> ask confirm #7 of n1 n2 n4 n5\n"
          "t=0.003  n1 unsent\n"
          "t=0.003  n4 confirm: unsent\n"
          "t=0.004  n4 yes #7  (for the acquire; it was counted out)\n"
          "t=0.005  n5 acquire: failed -> ask release of all\n"
          "t=0.005  n5 confirm: failed\n"
          "t=0.006  n1 n3 n4 yes\n"
          "t=0.006  n2 confirm: yes #7\n"
          "t=0.006  n2 yes     -> NO QUORUM   (two had kept their yes)\n"
          "t=0.007  n5 yes\n");
}

STORY(a_confirm_may_be_the_first_that_is_heard_of_a_node)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1 n3\n"
          "t=0.003  n3 confirm: yes #7 -> ACQUIRED #7, valid for 9.895\n"
          "t=0.004  n3 held    (which is known better)\n"
          "t=0.005  n1 missing\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n2 n3 yes #7 -> EXTENDED #7, valid for 9.897\n");
}

STORY(nodes_that_owe_a_confirm_are_not_waited_for_twice)
{
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1 n3\n"
          "t=0.050  time       -> ask release of all\n"
          "t=0.051  n2 yes     -> NO QUORUM\n"
          "t=0.052  n1 confirm: yes #7\n"
          "t=0.053  n1 yes\n"
          "t=0.054  n3 acquire: yes #7\n"
          "t=0.055  n3 confirm: yes #7\n"
          "t=0.056  n3 yes\n"
          "t=0.056  fence?     -> #0\n");
}

STORY(a_late_confirm_after_the_timeout_is_nothing)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1 n3\n"
          "t=0.050  time       -> ask release of all\n"
          "t=0.050  n1 confirm: yes #7\n"
          "t=0.050  state?     -> cleaning\n"
          "t=0.051  n2 yes     -> wait until 0.150\n"
          "t=0.052  n3 acquire: yes #7\n"
          "t=0.053  n3 confirm: yes #7\n"
          "t=0.053  state?     -> waiting\n");
}

STORY(an_agreement_that_took_the_whole_validity_is_a_failure)
{
    story(&(struct story_terms){THREE, .ttl_ms = 20},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1 n3\n"
          "t=0.0178 n1 yes #7  -> ask release of all\n"
          "t=0.018  n1 n2 yes\n"
          "t=0.018  n3 acquire: yes #7\n"
          "t=0.018  n3 confirm: yes #7\n"
          "t=0.018  n3 yes     -> SPLIT\n"
          "t=0.018  fence?     -> #0\n");
}

STORY(what_was_confirmed_before_does_not_bind_the_next_attempt)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #9  -> ask confirm #9 of n1 n3\n"
          "t=0.003  n1 failed\n"
          "t=0.003  n3 acquire: failed -> ask release of all\n"
          "t=0.003  n3 confirm: failed\n"
          "t=0.004  n1 n3 missing\n"
          "t=0.004  n2 yes     -> wait until 0.103\n"
          "t=0.103  time       -> token; ask acquire of all\n"
          "t=0.104  n1 n3 yes #6 -> ACQUIRED #6, valid for 9.897\n");
}

STORY(trap_fence_answers_to_an_earlier_attempt_are_not_counted)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5\n"
          "t=0.002  n2 yes #7  -> ask confirm #7 of n1 n3\n"
          "t=0.050  time       -> ask release of all\n"
          "t=0.051  n2 yes     -> wait until 0.150\n"
          "t=0.150  time       -> token; ask acquire of all   (a new owner)\n"
          "t=0.151  n2 yes #8\n"
          "t=0.152  n1 confirm: yes #8   (of the old one)\n"
          "t=0.153  n1 release: yes\n"
          "t=0.154  n1 yes #9  -> ask confirm #9 of n2 n3\n"
          "t=0.155  n2 yes #9  -> ACQUIRED #9, valid for 9.893\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trap_fence_equal_answers_of_a_minority_are_no_token),
        cmocka_unit_test(trap_fence_a_majority_of_unlike_answers_is_no_token),
        cmocka_unit_test(
            trap_fence_an_acknowledgement_is_not_counted_for_what_was_asked),
        cmocka_unit_test(
            trap_fence_a_smaller_answer_than_was_asked_for_is_no_yes),
        cmocka_unit_test(
            trap_fence_a_number_that_was_left_behind_is_not_agreed_on),
        cmocka_unit_test(trap_fence_no_number_is_no_token),
        cmocka_unit_test(trap_fence_a_refused_confirm_takes_the_yes_back),
        cmocka_unit_test(a_refused_confirm_leaves_the_others),
        cmocka_unit_test(a_confirm_that_cannot_be_sent_or_is_not_answered),
        cmocka_unit_test(a_confirm_may_be_the_first_that_is_heard_of_a_node),
        cmocka_unit_test(nodes_that_owe_a_confirm_are_not_waited_for_twice),
        cmocka_unit_test(a_late_confirm_after_the_timeout_is_nothing),
        cmocka_unit_test(
            an_agreement_that_took_the_whole_validity_is_a_failure),
        cmocka_unit_test(
            what_was_confirmed_before_does_not_bind_the_next_attempt),
        cmocka_unit_test(
            trap_fence_answers_to_an_earlier_attempt_are_not_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
