/* SPDX-License-Identifier: BSD-2-Clause */
/* A loss that nobody's answer to the extension shows: the nodes that are waited
 * for in vain, and what an earlier answer said, make it together. And an answer
 * that comes when all is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(the_time_of_the_round_is_up_and_a_majority_has_no_key_of_ours)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 missing\n"
          "t=1.002  n3 acquire: held\n"
          "t=1.050  time      -> GONE; LOST\n"
          "t=1.050  valid?    -> 0.000\n");
}

STORY(nothing_is_renewed_that_was_lost_at_that_moment)
{
    story(&(struct story_terms){.nodes = 3, .renew = true},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes -> ACQUIRED, valid for 9.897\n"
          "t=due    time      -> ask extend of all\n"
          "+0.001   n1 missing\n"
          "+0.001   n3 acquire: held\n"
          "+0.048   time      -> LOST\n"
          "+0.000   due?      -> never\n");
}

STORY(an_answer_to_the_acquisition_that_comes_after_the_loss)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes -> ACQUIRED, valid for 9.897\n"
          "t=9.898  time      -> LOST\n"
          "t=9.899  n3 acquire: unsent\n"
          "t=9.900  release   -> ask release of n1 n2\n"
          "t=9.901  n1 n2 missing -> GONE\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_time_of_the_round_is_up_and_a_majority_has_no_key_of_ours),
        cmocka_unit_test(nothing_is_renewed_that_was_lost_at_that_moment),
        cmocka_unit_test(
            an_answer_to_the_acquisition_that_comes_after_the_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
