/* SPDX-License-Identifier: BSD-2-Clause */
/* A cap on how long the lock is held in all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(the_validity_never_goes_beyond_the_cap)
{
    story(&(struct story_terms){.nodes = 1, .max_hold_ms = 5000},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 4.999\n"
          "t=5.000  time      -> LOST BY THE CAP\n"
          "t=5.000  valid?    -> 0.000\n");
    story(&(struct story_terms){.nodes = 1, .max_hold_ms = 15000},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=9.000  extend 10.000 -> ask extend of all\n"
          "t=9.001  n1 yes    -> EXTENDED, valid for 5.999\n"
          "t=9.002  extend 10.000 -> CAPPED, valid for 5.998\n"
          "t=15.000 time      -> LOST BY THE CAP\n"
          "t=15.000 extend 10.000 -> TOO LATE\n");
}

STORY(the_cap_counts_from_the_attempt_that_succeeded)
{
    story(&(struct story_terms){.nodes = 1, .max_hold_ms = 5000},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 held   -> ask release of all\n"
          "t=0.002  n1 held by A -> wait until 0.101\n"
          "t=0.101  time      -> token; ask acquire of all\n"
          "t=0.102  n1 yes    -> ACQUIRED, valid for 4.999\n");
}

STORY(no_renewal_once_the_cap_is_reached_and_the_loss_is_told_before)
{
    story(&(struct story_terms){.nodes = 1,
                                .max_hold_ms = 5000,
                                .renew = true,
                                .loss_notice_ms = 1000},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 4.999\n"
          "t=0.001  due?      -> 4.000\n"
          "t=4.000  time      -> LOST BY THE CAP, valid for 1.000\n"
          "t=4.000  due?      -> never\n"
          "t=4.500  release   -> ask release of all\n"
          "t=4.501  n1 yes    -> RELEASED\n");
}

STORY(renewals_go_up_to_the_cap)
{
    story(&(struct story_terms){.nodes = 1,
                                .max_hold_ms = 12000,
                                .renew = true,
                                .loss_notice_ms = 1000},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=due    time      -> ask extend of all\n"
          "+0.001   n1 yes\n"
          "t=11.000 time      -> LOST BY THE CAP, valid for 1.000\n");
}

STORY(another_loss_than_by_the_cap_is_called_just_that)
{
    story(&(struct story_terms){.nodes = 1, .max_hold_ms = 12000},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=9.898  time      -> LOST\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_validity_never_goes_beyond_the_cap),
        cmocka_unit_test(the_cap_counts_from_the_attempt_that_succeeded),
        cmocka_unit_test(
            no_renewal_once_the_cap_is_reached_and_the_loss_is_told_before),
        cmocka_unit_test(renewals_go_up_to_the_cap),
        cmocka_unit_test(another_loss_than_by_the_cap_is_called_just_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
