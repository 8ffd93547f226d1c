/* SPDX-License-Identifier: BSD-2-Clause */
/* A failed attempt: released at once on every node that was sent anything, and
 * described by who has what. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(release_also_where_it_was_refused_or_not_answered)
{
    story(&(struct story_terms){0},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.000  n5 unsent (so it is not sent a release)\n"
          "t=0.001  n1 yes\n"
          "t=0.002  n2 held\n"
          "t=0.003  n3 failed -> ask release of n1 n2 n3 n4\n"
          "t=0.051  n1 yes\n"
          "t=0.052  n2 held by A\n"
          "t=0.053  time      -> NO QUORUM   (n4 has said nothing at all)\n");
}

STORY(trap_06_an_answer_lost_after_the_write_is_released_too)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 failed -> ask release of all; NO QUORUM\n"
          "t=0.002  n1 yes    (it had been written)\n");
}

STORY(a_late_yes_after_failure_has_a_release_behind_it)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.050  time      -> ask release of all; NO QUORUM\n"
          "t=0.051  n1 n2 n3 acquire: yes\n"
          "t=0.052  valid?    -> 0.000\n"
          "t=0.052  n1 n2 n3 yes\n"
          "t=0.052  state?    -> idle\n");
}

STORY(the_cleaning_is_not_waited_for_longer_than_a_node_timeout)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 n2 held -> ask release of all\n"
          "t=0.002  n1 held by A\n"
          "t=0.002  due?      -> 0.051\n"
          "t=0.051  time      -> HELD BY ANOTHER\n");
}

STORY(a_node_that_is_not_waited_for_may_still_say_who_holds_it)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 held\n"
          "t=0.050  time      -> ask release of all\n"
          "t=0.051  n2 acquire: held\n"
          "t=0.052  n2 held by A\n"
          "t=0.053  n1 held by A -> HELD BY ANOTHER\n");
}

STORY(no_quorum_when_too_few_nodes_answer)
{
    story(&(struct story_terms){0},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes\n"
          "t=0.002  n3 n4 n5 failed -> ask release of all\n"
          "t=0.003  n1 n2 yes -> NO QUORUM\n");
}

STORY(held_when_one_holder_has_a_majority)
{
    story(&(struct story_terms){0},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes\n"
          "t=0.001  n3 n4 n5 held -> ask release of all\n"
          "t=0.002  n1 n2 yes\n"
          "t=0.002  n3 n4 n5 held by A -> HELD BY ANOTHER\n");
}

STORY(held_when_nobody_else_has_anything)
{
    story(&(struct story_terms){.nodes = 5},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 n2 held\n"
          "t=0.002  n3 failed -> ask release of all\n"
          "t=0.003  n1 n2 held by A\n"
          "t=0.004  n4 n5 acquire: failed\n"
          "t=0.004  n4 n5 failed -> NO QUORUM\n");
    story(&(struct story_terms){.nodes = 4},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 n2 held -> ask release of all\n"
          "t=0.002  n1 n2 held by A\n"
          "t=0.003  n3 acquire: held\n"
          "t=0.003  n3 missing   (it has just expired there)\n"
          "t=0.004  n4 acquire: failed\n"
          "t=0.004  n4 failed -> HELD BY ANOTHER\n");
}

STORY(split_when_several_have_something)
{
    story(&(struct story_terms){0},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 yes\n"
          "t=0.001  n2 n3 n4 held -> ask release of all\n"
          "t=0.002  n1 yes\n"
          "t=0.002  n5 acquire: held\n"
          "t=0.002  n2 n3 held by A\n"
          "t=0.002  n4 n5 held by B -> SPLIT\n");
    story(&(struct story_terms){0},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 held -> ask release of all\n"
          "t=0.002  n4 acquire: held\n"
          "t=0.002  n5 acquire: held\n"
          "t=0.002  n1 n2 held by A\n"
          "t=0.002  n3 n4 held by B\n"
          "t=0.002  n5 held by C -> SPLIT\n");
}

STORY(split_when_we_had_some_ourselves)
{
    story(&(struct story_terms){.nodes = 2},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 held   -> ask release of all\n"
          "t=0.003  n2 acquire: yes   (which is known too late to decide)\n"
          "t=0.005  n1 held by A\n"
          "t=0.005  n2 yes    -> SPLIT\n");
    story(&(struct story_terms){.nodes = 5},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes\n"
          "t=0.001  n3 held\n"
          "t=0.002  n4 n5 failed -> ask release of all\n"
          "t=0.003  n1 n2 yes\n"
          "t=0.003  n3 held by A -> SPLIT\n");
}

STORY(a_holder_that_is_gone_or_has_no_name_goes_with_the_largest)
{
    story(&(struct story_terms){0},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n4 n5 yes\n"
          "t=0.001  n1 n2 n3 held -> ask release of all\n"
          "t=0.002  n1 held by A\n"
          "t=0.002  n2 held\n"
          "t=0.002  n3 missing   (released in between)\n"
          "t=0.002  n4 n5 yes -> HELD BY ANOTHER\n");
    story(&(struct story_terms){.nodes = 7},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes\n"
          "t=0.001  n4 n5 n6 n7 held -> ask release of all\n"
          "t=0.002  n3 acquire: failed\n"
          "t=0.002  n3 failed\n"
          "t=0.002  n1 n2 yes\n"
          "t=0.002  n4 held by A\n"
          "t=0.002  n5 held by B\n"
          "t=0.002  n6 held\n"
          "t=0.002  n7 held   -> SPLIT   (three at most)\n");
}

STORY(what_a_gone_holder_had_counts_once)
{
    story(&(struct story_terms){0},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n4 n5 yes\n"
          "t=0.001  n1 n2 n3 held -> ask release of all\n"
          "t=0.002  n1 held by A\n"
          "t=0.002  n2 held by B\n"
          "t=0.002  n3 missing   (A's or B's, which makes two)\n"
          "t=0.002  n4 n5 yes -> SPLIT\n");
}

STORY(who_is_not_waited_for_counts_all_the_same)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 held\n"
          "t=0.050  time      -> ask release of all\n"
          "t=0.051  n2 acquire: held\n"
          "t=0.052  n2 held by B\n"
          "t=0.053  n1 held by A -> SPLIT\n");
}

STORY(barred_nodes_end_the_wait_at_once)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 barred\n"
          "t=0.002  n2 barred -> ask release of n3\n"
          "t=0.003  n3 acquire: yes\n"
          "t=0.003  n3 yes    -> NO QUORUM\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 barred -> ask release of n3\n"
          "t=0.001  n3 acquire: barred\n"
          "t=0.001  n3 barred -> NO QUORUM\n");
}

STORY(a_minority_of_barred_nodes_is_borne)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 barred\n"
          "t=0.002  n2 held   -> ask release of n2 n3\n"
          "t=0.003  n3 acquire: held\n"
          "t=0.003  n2 n3 held by A -> wait until 0.102\n");
}

STORY(nodes_that_bar_the_release_end_the_wait_too)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 held -> ask release of all\n"
          "t=0.002  n3 acquire: held\n"
          "t=0.003  n1 barred\n"
          "t=0.003  n2 barred\n"
          "t=0.003  n3 held by A -> NO QUORUM\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(release_also_where_it_was_refused_or_not_answered),
        cmocka_unit_test(
            trap_06_an_answer_lost_after_the_write_is_released_too),
        cmocka_unit_test(a_late_yes_after_failure_has_a_release_behind_it),
        cmocka_unit_test(
            the_cleaning_is_not_waited_for_longer_than_a_node_timeout),
        cmocka_unit_test(
            a_node_that_is_not_waited_for_may_still_say_who_holds_it),
        cmocka_unit_test(no_quorum_when_too_few_nodes_answer),
        cmocka_unit_test(held_when_one_holder_has_a_majority),
        cmocka_unit_test(held_when_nobody_else_has_anything),
        cmocka_unit_test(split_when_several_have_something),
        cmocka_unit_test(split_when_we_had_some_ourselves),
        cmocka_unit_test(
            a_holder_that_is_gone_or_has_no_name_goes_with_the_largest),
        cmocka_unit_test(what_a_gone_holder_had_counts_once),
        cmocka_unit_test(who_is_not_waited_for_counts_all_the_same),
        cmocka_unit_test(barred_nodes_end_the_wait_at_once),
        cmocka_unit_test(a_minority_of_barred_nodes_is_borne),
        cmocka_unit_test(nodes_that_bar_the_release_end_the_wait_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
