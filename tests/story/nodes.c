/* SPDX-License-Identifier: BSD-2-Clause */
/* Majorities: the same rules for one node and for seven. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(one_node_decides_alone)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n1 yes   -> ACQUIRED, valid for 9.897\n"
          "t=0.002  release  -> ask release of all\n"
          "t=0.003  n1 yes   -> RELEASED\n"
          "t=0.004  try      -> token; ask acquire of all\n"
          "t=0.005  n1 held  -> ask release of all\n"
          "t=0.006  n1 held by A 3.000 -> HELD BY ANOTHER\n");
}

STORY(two_nodes_must_agree)
{
    story(&(struct story_terms){.nodes = 2},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n2 yes\n"
          "t=0.002  n1 yes   -> ACQUIRED, valid for 9.896\n");
    story(&(struct story_terms){.nodes = 2},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n2 held  -> ask release of all\n"
          "t=0.002  n2 held by A\n"
          "t=0.002  n1 acquire: held\n"
          "t=0.003  n1 held by A -> HELD BY ANOTHER\n");
}

STORY(three_nodes_need_two)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n3 yes\n"
          "t=0.002  n1 held\n"
          "t=0.003  n2 yes   -> ACQUIRED, valid for 9.895\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n3 held\n"
          "t=0.002  n1 held  -> ask release of all\n"
          "t=0.003  n1 n3 held by A\n"
          "t=0.003  n2 acquire: held\n"
          "t=0.003  n2 held by A -> HELD BY ANOTHER\n");
}

STORY(four_nodes_need_three)
{
    story(&(struct story_terms){.nodes = 4},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes\n"
          "t=0.002  n4 yes   -> ACQUIRED, valid for 9.896\n");
    story(&(struct story_terms){.nodes = 4},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n1 held\n"
          "t=0.002  n2 held  -> ask release of all\n"
          "t=0.003  n3 n4 acquire: held   (too late to decide, but it tells "
          "more)\n"
          "t=0.004  n1 n2 n3 n4 held by A -> HELD BY ANOTHER\n");
}

STORY(five_nodes_need_three)
{
    story(&(struct story_terms){.nodes = 5},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n1 n2 held\n"
          "t=0.002  n3 n4 yes\n"
          "t=0.003  n5 yes   -> ACQUIRED, valid for 9.895\n");
    story(&(struct story_terms){.nodes = 5},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n1 n2 held\n"
          "t=0.002  n3 n4 yes\n"
          "t=0.003  n5 held  -> ask release of all\n"
          "t=0.004  n1 n2 n5 held by A\n"
          "t=0.004  n3 n4 yes -> HELD BY ANOTHER\n");
}

STORY(seven_nodes_need_four)
{
    story(&(struct story_terms){.nodes = 7},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n7 n6 n5 yes\n"
          "t=0.002  n1 n2 n3 held\n"
          "t=0.003  n4 yes   -> ACQUIRED, valid for 9.895\n");
    story(&(struct story_terms){.nodes = 7},
          "t=0.000  try      -> token; ask acquire of all\n"
          "t=0.001  n7 n6 n5 held\n"
          "t=0.002  n1 n2 n3 yes\n"
          "t=0.003  n4 failed -> ask release of all\n"
          "t=0.004  n1 n2 n3 yes\n"
          "t=0.004  n5 n6 n7 held by A -> SPLIT   (A has three, not four)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_node_decides_alone),
        cmocka_unit_test(two_nodes_must_agree),
        cmocka_unit_test(three_nodes_need_two),
        cmocka_unit_test(four_nodes_need_three),
        cmocka_unit_test(five_nodes_need_three),
        cmocka_unit_test(seven_nodes_need_four),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
