/* SPDX-License-Identifier: BSD-2-Clause */
/* Bugs that other lock clients had, and that no other story here would notice:
 * see tests/museum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(m02_what_was_never_locked_is_not_valid)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  valid?    -> 0.000\n"
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.001  valid?    -> 0.000\n"
          "t=0.002  n1 yes    -> ACQUIRED, valid for 9.896\n");
}

STORY(m25_all_nodes_that_can_be_reached_are_no_majority)
{
    story(&(struct story_terms){0},
          "t=0.000  try       -> token; ask acquire of all\n"
          "t=0.000  n3 n4 unsent\n"
          "t=0.001  n1 n2 yes\n"
          "t=0.002  n5 unsent -> ask release of n1 n2\n"
          "t=0.003  n1 n2 yes -> NO QUORUM\n");
}

STORY(m39_a_renewal_that_is_answered_after_the_release_puts_nothing_back)
{
    story(&(struct story_terms){.nodes = 3, .renew = true},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=due    time      -> ask extend of all\n"
          "+0.001   release   -> ask release of all\n"
          "+0.001   n1 n2 extend: yes\n"
          "+0.000   n3 extend: missing\n"
          "+0.001   n1 n2 yes -> RELEASED\n"
          "+0.001   n3 missing\n"
          "+0.000   due?      -> never\n");
}

STORY(m41_a_lock_that_was_got_at_the_second_attempt_is_renewed)
{
    story(&(struct story_terms){.nodes = 1, .renew = true},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 held   -> ask release of all\n"
          "t=0.002  n1 missing -> wait until 0.101\n"
          "t=0.101  time      -> token; ask acquire of all\n"
          "t=0.102  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=due    time      -> ask extend of all\n"
          "+0.001   n1 yes\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m02_what_was_never_locked_is_not_valid),
        cmocka_unit_test(m25_all_nodes_that_can_be_reached_are_no_majority),
        cmocka_unit_test(
            m39_a_renewal_that_is_answered_after_the_release_puts_nothing_back),
        cmocka_unit_test(
            m41_a_lock_that_was_got_at_the_second_attempt_is_renewed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
