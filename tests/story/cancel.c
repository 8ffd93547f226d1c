/* SPDX-License-Identifier: BSD-2-Clause */
/* A cancelled request ends at once; what it left on the nodes is released all
 * the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(trap_05_cancel_in_the_middle_of_an_attempt)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.000  n3 unsent\n"
          "t=0.001  n1 yes\n"
          "t=0.002  cancel    -> ask release of n1 n2; CANCELLED\n"
          "t=0.003  n1 yes\n"
          "t=0.004  n2 acquire: yes\n"
          "t=0.005  n2 yes\n"
          "t=0.005  due?      -> never\n"
          "t=0.005  state?    -> idle\n");
}

STORY(cancel_while_cleaning)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 held -> ask release of all\n"
          "t=0.002  n1 held by A\n"
          "t=0.003  cancel    -> CANCELLED   (releases are under way)\n"
          "t=0.004  n2 held by A\n"
          "t=0.005  n3 acquire: yes\n"
          "t=0.005  n3 yes\n"
          "t=0.005  due?      -> never\n");
}

STORY(cancel_while_waiting)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 held   -> ask release of all\n"
          "t=0.002  n1 held by A -> wait until 0.101\n"
          "t=0.003  cancel    -> CANCELLED\n"
          "t=0.003  due?      -> never\n"
          "t=0.200  acquire   -> token; ask acquire of all\n");
}

STORY(cancel_an_extension_and_keep_the_lock)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  cancel    -> CANCELLED, valid for 8.897\n"
          "t=1.002  n1 yes    (not counted any more)\n"
          "t=1.002  valid?    -> 8.896\n"
          "t=2.000  extend 10.000 -> ask extend of all\n"
          "t=2.001  n1 yes    -> EXTENDED, valid for 9.897\n");
}

STORY(cancel_a_shorter_extension_and_it_is_shorter_all_the_same)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 5.000 -> ask extend 5.000 of all\n"
          "t=1.001  cancel    -> CANCELLED, valid for 4.947\n");
}

STORY(cancel_verify_and_inspect)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  inspect   -> ask inspect of all\n"
          "t=0.001  cancel    -> CANCELLED\n"
          "t=0.002  n1 missing\n"
          "t=0.003  acquire   -> token; ask acquire of all\n"
          "t=0.004  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=1.000  verify    -> ask inspect of all\n"
          "t=1.001  cancel    -> CANCELLED, valid for 8.900\n"
          "t=1.002  n1 held   (not asked any more)\n"
          "t=1.002  valid?    -> 8.899\n");
}

STORY(cancel_a_release_and_nobody_knows)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  release   -> ask release of all\n"
          "t=1.001  n1 yes\n"
          "t=1.002  cancel    -> UNSURE\n"
          "t=1.003  n2 n3 yes\n"
          "t=1.003  due?      -> never\n");
}

STORY(cancel_where_nothing_runs_says_nothing)
{
    story(&(struct story_terms){.nodes = 1, .renew = true},
          "t=0.000  cancel\n"
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=0.002  cancel\n"
          "t=due    time      -> ask extend of all\n"
          "+0.001   cancel    (a renewal is not the caller's request)\n"
          "+0.001   n1 yes\n"
          "+0.000   valid?    -> 9.896\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trap_05_cancel_in_the_middle_of_an_attempt),
        cmocka_unit_test(cancel_while_cleaning),
        cmocka_unit_test(cancel_while_waiting),
        cmocka_unit_test(cancel_an_extension_and_keep_the_lock),
        cmocka_unit_test(
            cancel_a_shorter_extension_and_it_is_shorter_all_the_same),
        cmocka_unit_test(cancel_verify_and_inspect),
        cmocka_unit_test(cancel_a_release_and_nobody_knows),
        cmocka_unit_test(cancel_where_nothing_runs_says_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
