/* SPDX-License-Identifier: BSD-2-Clause */
/* A lock whose token came from elsewhere: no validity until it is extended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(adopted_promises_nothing_until_it_is_extended)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  adopt\n"
          "t=0.000  valid?    -> 0.000\n"
          "t=0.000  due?      -> never\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.000  valid?    -> 0.000\n"
          "t=1.001  n1 yes\n"
          "t=1.002  n2 yes    -> EXTENDED, valid for 9.896\n"
          "t=1.003  n3 missing -> ask acquire 9.997 of n3   (repair)\n"
          "t=2.000  release   -> ask release of all\n"
          "t=2.001  n1 n2 yes -> RELEASED\n");
}

STORY(adopted_and_released)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  adopt\n"
          "t=0.000  release   -> ask release of all\n"
          "t=0.001  n1 n2 yes -> RELEASED\n");
}

STORY(adopted_and_gone)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  adopt\n"
          "t=0.000  extend 10.000 -> ask extend of all\n"
          "t=0.001  n1 held\n"
          "t=0.002  n2 missing -> GONE; LOST\n"
          "t=0.003  extend 10.000 -> TOO LATE\n");
}

STORY(adopted_and_no_quorum_may_be_tried_again)
{
    story(&(struct story_terms){.nodes = 3, .renew = true},
          "t=0.000  adopt\n"
          "t=0.000  extend 10.000 -> ask extend of all\n"
          "t=0.001  n1 yes\n"
          "t=0.050  time      -> NO QUORUM\n"
          "t=0.051  n2 n3 failed\n"
          "t=0.051  valid?    -> 0.000\n"
          "t=0.051  due?      -> never   (nothing is held yet)\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 n2 yes -> EXTENDED, valid for 9.897\n");
}

STORY(adopted_and_extended_too_slowly)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  adopt\n"
          "t=0.000  extend 0.010 -> ask extend 0.010 of all\n"
          "t=0.0079 n1 yes    -> TOO LATE; LOST\n");
}

STORY(adopted_and_verified)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  adopt\n"
          "t=0.000  verify    -> ask inspect of all\n"
          "t=0.001  n1 n2 yes 5.000 -> VERIFIED\n"
          "t=0.001  valid?    -> 0.000   (whose clock was it?)\n"
          "t=0.002  verify    -> ask inspect of all\n"
          "t=0.003  n1 missing\n"
          "t=0.004  n2 held by A -> GONE; LOST\n");
}

STORY(late_answers_to_an_earlier_extension_say_nothing_either)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 n4 n5 yes -> ACQUIRED, valid for 9.897\n"
          "t=0.002  extend 10.000 -> ask extend of all\n"
          "t=0.003  n1 n2 n3 yes -> EXTENDED, valid for 9.897\n"
          "t=0.004  release   -> ask release of all\n"
          "t=0.005  n1 n2 n3 yes -> RELEASED\n"
          "t=1.000  adopt\n"
          "t=1.001  n4 n5 extend: held\n"
          "t=1.001  n4 n5 held\n"
          "t=1.002  extend 10.000 -> ask extend of all\n"
          "t=1.003  n3 missing\n"
          "t=1.004  n1 n2 n4 yes -> EXTENDED, valid for 9.896\n"
          "-> ask acquire 9.998 of n3\n");
}

STORY(the_cap_counts_from_the_adoption)
{
    story(&(struct story_terms){.nodes = 1, .max_hold_ms = 5000},
          "t=0.000  adopt\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 yes    -> EXTENDED, valid for 3.999\n");
    story(&(struct story_terms){.nodes = 1, .max_hold_ms = 5000},
          "t=0.000  adopt\n"
          "t=5.000  extend 10.000 -> CAPPED\n");
}

STORY(late_answers_to_an_earlier_acquisition_say_nothing_of_the_adopted)
{
    story(&(struct story_terms){.nodes = 5},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=0.002  release   -> ask release of all\n"
          "t=0.003  n1 n2 n3 yes -> RELEASED\n"
          "t=1.000  adopt\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 n2 n3 yes -> EXTENDED, valid for 9.897\n"
          "t=1.002  n4 n5 acquire: held\n"
          "t=2.000  extend 10.000 -> ask extend of all\n"
          "t=2.001  n3 missing\n"
          "t=2.001  n1 n2 yes\n"
          "t=2.050  time      -> NO QUORUM, valid for 8.848\n");
}

STORY(late_answers_to_an_acquisition_are_not_those_to_a_repair)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes -> ACQUIRED, valid for 9.897\n"
          "t=0.002  release   -> ask release of all\n"
          "t=0.003  n1 n2 yes -> RELEASED\n"
          "t=1.000  adopt\n"
          "t=1.001  n3 acquire: held\n"
          "t=1.001  n3 missing\n"
          "t=1.002  extend 10.000 -> ask extend of all\n"
          "t=1.003  n1 missing   (the only one)\n"
          "t=1.004  n2 n3 yes -> EXTENDED, valid for 9.896\n"
          "-> ask acquire 9.998 of n1\n");
}

/* Whoever acquired the lock had it on its way when it gave the token away. */
STORY(a_key_that_was_missing_has_arrived_since)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  adopt\n"
          "t=0.000  extend 10.000 -> ask extend of all\n"
          "t=0.001  n1 missing\n"
          "t=0.002  n2 failed -> NO QUORUM\n"
          "t=0.003  n3 failed\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 yes\n"
          "t=1.002  n2 missing   (the only one)\n"
          "t=1.003  n3 yes    -> EXTENDED, valid for 9.895\n"
          "-> ask acquire 9.997 of n2\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adopted_promises_nothing_until_it_is_extended),
        cmocka_unit_test(adopted_and_released),
        cmocka_unit_test(adopted_and_gone),
        cmocka_unit_test(adopted_and_no_quorum_may_be_tried_again),
        cmocka_unit_test(adopted_and_extended_too_slowly),
        cmocka_unit_test(adopted_and_verified),
        cmocka_unit_test(
            late_answers_to_an_earlier_extension_say_nothing_either),
        cmocka_unit_test(the_cap_counts_from_the_adoption),
        cmocka_unit_test(
            late_answers_to_an_earlier_acquisition_say_nothing_of_the_adopted),
        cmocka_unit_test(
            late_answers_to_an_acquisition_are_not_those_to_a_repair),
        cmocka_unit_test(a_key_that_was_missing_has_arrived_since),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
