/* SPDX-License-Identifier: BSD-2-Clause */
/* Repair: a node that has lost the key gets it back, but is not counted for
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(trap_13_a_node_restarted_empty_is_repaired)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n3 missing\n"
          "t=5.002  n1 yes\n"
          "t=5.004  n2 yes    -> EXTENDED, valid for 9.894\n"
          "-> ask acquire 9.996 of n3   (not beyond the others)\n"
          "t=5.005  n3 yes\n"
          "t=5.005  valid?    -> 9.893\n");
}

STORY(every_node_that_has_lost_it_is_repaired)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 n4 n5 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n1 n5 missing\n"
          "t=5.002  n2 n3 yes\n"
          "t=5.004  n4 yes    -> EXTENDED, valid for 9.894\n"
          "-> ask acquire 9.996 of n1 n5\n");
}

STORY(a_late_missing_is_repaired_too)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n1 n2 yes -> EXTENDED, valid for 9.897\n"
          "t=5.010  n3 missing -> ask acquire 9.990 of n3\n");
}

STORY(no_repair_without_a_majority)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n1 failed\n"
          "t=5.002  n2 missing -> NO QUORUM, valid for 4.896\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n1 failed\n"
          "t=5.002  n2 failed -> NO QUORUM, valid for 4.896\n"
          "t=5.003  n3 missing\n");
}

STORY(a_repair_is_not_counted_for_the_extension)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 n4 n5 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n4 n5 missing\n"
          "t=5.002  n1 n2 yes\n"
          "t=5.003  n3 missing -> GONE; LOST   (two yes and three repairs)\n");
}

STORY(a_repaired_node_counts_for_the_next_extension)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n3 missing\n"
          "t=1.002  n1 n2 yes -> EXTENDED, valid for 9.896\n"
          "-> ask acquire 9.998 of n3\n"
          "t=1.003  n3 yes\n"
          "t=2.000  extend 10.000 -> ask extend of all\n"
          "t=2.001  n2 missing (only n2 has nothing now)\n"
          "t=2.002  n3 yes\n"
          "t=2.003  n1 yes    -> EXTENDED, valid for 9.895\n"
          "-> ask acquire 9.997 of n2\n");
}

STORY(a_repair_that_finds_another_holder_is_a_node_less)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n3 missing\n"
          "t=1.002  n1 n2 yes -> EXTENDED, valid for 9.896\n"
          "-> ask acquire 9.998 of n3\n"
          "t=1.003  n3 held   (somebody was faster)\n"
          "t=2.000  extend 10.000 -> ask extend of all\n"
          "t=2.001  n2 held by A -> GONE; LOST\n");
}

STORY(a_repair_without_an_answer_may_have_been_done)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n3 missing\n"
          "t=1.002  n1 n2 yes -> EXTENDED, valid for 9.896\n"
          "-> ask acquire 9.998 of n3\n"
          "t=1.003  n3 failed\n"
          "t=2.000  extend 10.000 -> ask extend of all\n"
          "t=2.001  n2 held by A\n"
          "t=2.002  n3 yes\n"
          "t=2.003  n1 yes    -> EXTENDED, valid for 9.895\n");
}

STORY(a_repaired_node_is_sent_the_release)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.000  n3 unsent (down when we asked)\n"
          "t=0.001  n1 n2 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 n2 yes -> EXTENDED, valid for 9.897\n"
          "t=1.002  n3 missing -> ask acquire 9.998 of n3\n"
          "t=1.003  release   -> ask release of all\n"
          "t=1.004  n3 acquire: yes\n"
          "t=1.005  n1 n2 yes -> RELEASED\n");
}

STORY(a_repair_for_as_long_as_the_lock_lasts_and_no_longer)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 0.100 -> ask extend 0.100 of all\n"
          "t=1.001  n1 n2 yes -> EXTENDED, valid for 0.096\n"
          "t=1.097  time      -> LOST\n"
          "t=1.098  n3 missing\n");
    story(&(struct story_terms){.nodes = 3, .drift_ppm = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.99699\n"
          "t=1.000  extend 0.004 -> ask extend 0.004 of all\n"
          "t=1.001  n1 n2 yes -> EXTENDED, valid for 0.000999996\n"
          "t=1.0015 n3 missing -> ask acquire 0.0025 of n3\n");
}

STORY(no_repair_while_something_else_is_asked)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 n2 yes -> EXTENDED, valid for 9.897\n"
          "t=1.002  verify    -> ask inspect of all\n"
          "t=1.003  n3 extend: missing\n"
          "t=1.004  n1 n2 yes 9.900 -> VERIFIED, valid for 9.797\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trap_13_a_node_restarted_empty_is_repaired),
        cmocka_unit_test(every_node_that_has_lost_it_is_repaired),
        cmocka_unit_test(a_late_missing_is_repaired_too),
        cmocka_unit_test(no_repair_without_a_majority),
        cmocka_unit_test(a_repair_is_not_counted_for_the_extension),
        cmocka_unit_test(a_repaired_node_counts_for_the_next_extension),
        cmocka_unit_test(a_repair_that_finds_another_holder_is_a_node_less),
        cmocka_unit_test(a_repair_without_an_answer_may_have_been_done),
        cmocka_unit_test(a_repaired_node_is_sent_the_release),
        cmocka_unit_test(a_repair_for_as_long_as_the_lock_lasts_and_no_longer),
        cmocka_unit_test(no_repair_while_something_else_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
