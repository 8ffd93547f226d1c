/* SPDX-License-Identifier: BSD-2-Clause */
/* Called before it asked to be, for another's deadline say, the machine has
 * nothing to do, and says nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(early_in_an_attempt)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 yes\n"
          "t=0.049  time\n"
          "t=0.049  state?    -> acquiring\n"
          "t=0.049  n2 yes    -> ACQUIRED, valid for 9.849\n");
}

STORY(early_in_the_cleaning)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  n1 n2 held -> ask release of all\n"
          "t=0.050  time\n"
          "t=0.050  state?    -> cleaning\n"
          "t=0.051  time      -> HELD BY ANOTHER\n");
}

STORY(early_before_the_next_attempt)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 held   -> ask release of all\n"
          "t=0.002  n1 held by A -> wait until 0.101\n"
          "t=0.100  time\n"
          "t=0.101  time      -> token; ask acquire of all\n");
}

STORY(early_in_an_extension_and_in_a_release)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=0.500  time\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.049  time\n"
          "t=1.049  n1 n2 yes -> EXTENDED, valid for 9.849\n"
          "t=2.000  release   -> ask release of all\n"
          "t=2.049  time\n"
          "t=2.049  state?    -> releasing\n"
          "t=2.050  time      -> UNSURE\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(early_in_an_attempt),
        cmocka_unit_test(early_in_the_cleaning),
        cmocka_unit_test(early_before_the_next_attempt),
        cmocka_unit_test(early_in_an_extension_and_in_a_release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
