/* SPDX-License-Identifier: BSD-2-Clause */
/* Release: released, gone, or nobody can tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(released_when_a_majority_has_deleted_our_key)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  release   -> ask release of all\n"
          "t=1.000  valid?    -> 0.000   (from now on it is not ours)\n"
          "t=1.001  n3 yes\n"
          "t=1.002  n1 yes    -> RELEASED\n"
          "t=1.003  n2 missing\n"
          "t=1.003  state?    -> idle\n");
}

STORY(trap_09_gone_when_it_is_somebody_elses)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  adopt\n"
          "t=0.001  release   -> ask release of all\n"
          "t=0.002  n1 held by A\n"
          "t=0.003  n2 held by A -> GONE\n");
}

STORY(trap_10_gone_when_it_has_expired)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=9.898  time      -> LOST\n"
          "t=12.000 release   -> ask release of all\n"
          "t=12.001 n1 missing\n"
          "t=12.002 n2 held by A -> GONE\n");
}

STORY(lost_but_still_there_is_released)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=9.898  time      -> LOST\n"
          "t=9.899  release   -> ask release of all\n"
          "t=9.900  n1 n2 yes -> RELEASED\n");
}

STORY(a_node_that_was_never_sent_the_lock_is_sent_no_release)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.000  n5 unsent\n"
          "t=0.000  n4 barred\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  release   -> ask release of n1 n2 n3\n"
          "t=1.001  n1 n2 n3 yes -> RELEASED\n");
}

STORY(a_node_that_was_never_sent_the_lock_counts_as_not_ours)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.000  n4 n5 unsent\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  release   -> ask release of n1 n2 n3\n"
          "t=1.001  n1 missing -> GONE   (three of five did not have it)\n");
}

STORY(a_node_whose_late_answer_said_that_nothing_was_sent_is_left_alone)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes -> ACQUIRED, valid for 9.897\n"
          "t=0.002  n3 unsent\n"
          "t=1.000  release   -> ask release of n1 n2\n"
          "t=1.001  n1 n2 yes -> RELEASED\n");
}

STORY(a_node_that_said_nothing_yet_or_failed_is_sent_the_release)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=0.002  n4 failed\n"
          "t=1.000  release   -> ask release of all\n"
          "t=1.001  n1 n2 n3 yes -> RELEASED\n");
}

STORY(unsure_when_too_few_answer)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  release   -> ask release of all\n"
          "t=1.000  n1 failed\n"
          "t=1.001  n2 yes\n"
          "t=1.050  time      -> UNSURE\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  release   -> ask release of all\n"
          "t=1.001  n1 failed\n"
          "t=1.002  n2 yes\n"
          "t=1.003  n3 failed -> UNSURE   (nobody is left to be waited for)\n");
}

STORY(unsure_comes_with_the_time_when_no_key_is_left)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.000  expires?  -> 10.152   (ttl, node timeout, and drift)\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 20.000 -> ask extend 20.000 of all\n"
          "t=1.000  expires?  -> 21.252\n"
          "t=1.001  n1 yes    -> EXTENDED, valid for 19.797\n"
          "t=2.000  extend 1.000 -> ask extend 1.000 of all\n"
          "t=2.000  expires?  -> 21.252   (the old one may be there)\n"
          "t=2.001  n1 yes    -> EXTENDED, valid for 0.987\n"
          "t=2.002  release   -> ask release of all\n"
          "t=2.052  time      -> UNSURE\n"
          "t=2.052  expires?  -> 21.252\n"
          "t=3.000  adopt\n"
          "t=3.000  expires?  -> 13.152   (the best guess)\n");
}

STORY(the_next_acquisition_is_not_disturbed_by_late_answers)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 n4 n5 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 n2 n3 yes -> EXTENDED, valid for 9.897\n"
          "t=1.002  release   -> ask release of all\n"
          "t=1.003  n1 n2 n3 yes -> RELEASED\n"
          "t=1.004  try       -> token; ask acquire of all\n"
          "t=1.005  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.006  n4 extend: held\n"
          "t=1.006  n4 release: held\n"
          "t=1.006  n4 yes\n"
          "t=1.007  n5 extend: missing\n"
          "t=1.007  n5 release: missing\n"
          "t=1.007  n5 yes\n"
          "t=2.000  extend 10.000 -> ask extend of all\n"
          "t=2.001  n3 missing   (only this one)\n"
          "t=2.002  n1 n2 n4 yes -> EXTENDED, valid for 9.896\n"
          "-> ask acquire 9.998 of n3\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(released_when_a_majority_has_deleted_our_key),
        cmocka_unit_test(trap_09_gone_when_it_is_somebody_elses),
        cmocka_unit_test(trap_10_gone_when_it_has_expired),
        cmocka_unit_test(lost_but_still_there_is_released),
        cmocka_unit_test(
            a_node_that_was_never_sent_the_lock_is_sent_no_release),
        cmocka_unit_test(
            a_node_that_was_never_sent_the_lock_counts_as_not_ours),
        cmocka_unit_test(
            a_node_whose_late_answer_said_that_nothing_was_sent_is_left_alone),
        cmocka_unit_test(
            a_node_that_said_nothing_yet_or_failed_is_sent_the_release),
        cmocka_unit_test(unsure_when_too_few_answer),
        cmocka_unit_test(unsure_comes_with_the_time_when_no_key_is_left),
        cmocka_unit_test(the_next_acquisition_is_not_disturbed_by_late_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
