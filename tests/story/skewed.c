/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes that refuse for the time they show: they did nothing, and the attempt
 * is made once more at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

#define THREE .nodes = 3, .fenced = true
#define FIVE  .nodes = 5, .fenced = true

STORY(one_that_is_skewed_is_no_yes_and_no_harm)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 skewed\n"
          "t=0.002  n2 n3 yes #7 -> ACQUIRED #7, valid for 9.896\n"
          "t=0.003  release    -> ask release of n2 n3   (nothing is on n1)\n");
}

STORY(an_attempt_that_failed_for_it_is_made_again_at_once)
{
    story(&(struct story_terms){THREE, .tries = 1},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 skewed\n"
          "t=0.002  n2 skewed  -> ask release of n3\n"
          "t=0.003  n3 acquire: yes #7\n"
          "t=0.004  n3 yes     -> wait until 0.002   (no longer than needed)\n"
          "t=0.004  due?       -> 0.002\n"
          "t=0.004  time       -> token; ask acquire of all\n"
          "t=0.005  n1 n2 yes #8 -> ACQUIRED #8, valid for 9.897\n");
}

STORY(all_of_them_leave_nothing_to_tidy_up)
{
    story(&(struct story_terms){.nodes = 1, .fenced = true},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 skewed  -> wait until 0.001\n"
          "t=0.001  time       -> token; ask acquire of all\n"
          "t=0.002  n1 yes #8  -> ACQUIRED #8, valid for 9.897\n");
}

STORY(only_once_in_a_row)
{
    story(&(struct story_terms){.nodes = 1, .fenced = true},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 skewed  -> wait until 0.001\n"
          "t=0.001  time       -> token; ask acquire of all\n"
          "t=0.002  n1 skewed  -> NO QUORUM\n"
          "t=1.000  try        -> token; ask acquire of all   (anew)\n"
          "t=1.001  n1 skewed  -> wait until 1.001\n"
          "t=1.001  time       -> token; ask acquire of all\n"
          "t=1.002  cancel     -> ask release of all; CANCELLED\n"
          "t=2.000  try        -> token; ask acquire of all\n"
          "t=2.000  n1 acquire: skewed   (for the one before)\n"
          "t=2.001  n1 release: missing\n"
          "t=2.002  n1 skewed  -> wait until 2.002\n");
}

STORY(it_is_not_counted_among_the_tries)
{
    story(&(struct story_terms){.nodes = 1, .fenced = true, .tries = 2},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 skewed  -> wait until 0.001\n"
          "t=0.001  time       -> token; ask acquire of all\n"
          "t=0.002  n1 skewed  -> wait until 0.102   (as after any failure)\n"
          "t=0.102  time       -> token; ask acquire of all\n"
          "t=0.103  n1 skewed  -> wait until 0.103   (this try's second)\n"
          "t=0.103  time       -> token; ask acquire of all\n"
          "t=0.104  n1 skewed  -> NO QUORUM\n");
}

static uint32_t number(unsigned attempt, void *arg)
{
    *(unsigned *)arg = attempt;
    return 100;
}

STORY(a_second_try_does_not_make_the_next_pause_longer)
{
    unsigned asked_for = 0;

    story(&(struct story_terms){.nodes = 1,
                                .fenced = true,
                                .delay = number,
                                .delay_arg = &asked_for},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 skewed  -> wait until 0.001\n"
          "t=0.001  time       -> token; ask acquire of all\n"
          "t=0.002  n1 held    -> ask release of all\n"
          "t=0.003  n1 held by A -> wait until 0.102\n");
    assert_int_equal(asked_for, 2);
}

STORY(not_if_it_was_not_for_that)
{
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n2 held\n"
          "t=0.002  n3 held    -> ask release of all\n"
          "t=0.003  n1 acquire: skewed\n"
          "t=0.003  n1 missing\n"
          "t=0.003  n2 n3 held by A -> HELD BY ANOTHER\n");
    story(&(struct story_terms){FIVE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 skewed\n"
          "t=0.002  n2 yes #7\n"
          "t=0.050  time       -> ask release of n2 n3 n4 n5\n"
          "t=0.051  n2 yes     -> NO QUORUM   (two of five, at most)\n");
}

STORY(if_it_may_have_been_for_that)
{
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 skewed\n"
          "t=0.002  n2 held    -> ask release of n2 n3\n"
          "t=0.003  n2 held by A\n"
          "t=0.003  n3 acquire: held\n"
          "t=0.004  n3 held by A -> wait until 0.002\n"
          "t=0.004  time       -> token; ask acquire of all\n"
          "t=0.005  n2 n3 held -> ask release of all\n"
          "t=0.006  n2 n3 held by A\n"
          "t=0.007  n1 acquire: held\n"
          "t=0.008  n1 held by A -> HELD BY ANOTHER\n");
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 held\n"
          "t=0.002  n2 yes #7\n"
          "t=0.003  n3 skewed  -> ask release of n1 n2\n"
          "t=0.004  n1 n2 yes  -> wait until 0.003\n");
}

STORY(nodes_that_are_silent_are_not_waited_for_twice)
{
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 skewed\n"
          "t=0.002  n2 yes #7\n"
          "t=0.050  time       -> ask release of n2 n3\n"
          "t=0.051  n2 yes     -> wait until 0.050\n"
          "t=0.051  time       -> token; ask acquire of all\n");
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 skewed\n"
          "t=0.050  time       -> ask release of n2 n3   (too few spoke)\n"
          "-> NO QUORUM\n");
    story(&(struct story_terms){THREE},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 skewed\n"
          "t=0.002  n2 yes #7\n"
          "t=0.050  time       -> ask release of n2 n3\n"
          "t=0.100  time       -> token; ask acquire of all\n");
}

STORY(made_again_in_the_step_in_which_it_ended)
{
    story(&(struct story_terms){.nodes = 4, .fenced = true},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.001  n1 n2 skewed -> ask release of n3 n4\n"
          "t=0.002  n3 n4 acquire: failed\n"
          "t=0.051  time       -> token; ask acquire of all\n");
    story(
        &(struct story_terms){.nodes = 1, .fenced = true, .node_timeout_ms = 5},
        "t=0.000  try        -> token; ask acquire of all\n"
        "t=0.006  sleep\n"
        "t=0.006  n1 skewed  -> wait until 0.006\n"
        "t=0.006  time       -> token; ask acquire of all\n");
}

STORY(after_a_cancellation_there_is_no_second_try)
{
    story(&(struct story_terms){.nodes = 1, .fenced = true},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 skewed  -> wait until 0.001\n"
          "t=0.001  cancel     -> CANCELLED\n"
          "t=0.001  due?       -> never\n");
}

STORY(an_extension_that_is_refused_for_it)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 n2 skewed -> NO QUORUM, valid for 8.897\n"
          "t=1.002  n3 yes #7\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_skewed_is_no_yes_and_no_harm),
        cmocka_unit_test(an_attempt_that_failed_for_it_is_made_again_at_once),
        cmocka_unit_test(all_of_them_leave_nothing_to_tidy_up),
        cmocka_unit_test(only_once_in_a_row),
        cmocka_unit_test(it_is_not_counted_among_the_tries),
        cmocka_unit_test(a_second_try_does_not_make_the_next_pause_longer),
        cmocka_unit_test(not_if_it_was_not_for_that),
        cmocka_unit_test(if_it_may_have_been_for_that),
        cmocka_unit_test(nodes_that_are_silent_are_not_waited_for_twice),
        cmocka_unit_test(made_again_in_the_step_in_which_it_ended),
        cmocka_unit_test(after_a_cancellation_there_is_no_second_try),
        cmocka_unit_test(an_extension_that_is_refused_for_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
