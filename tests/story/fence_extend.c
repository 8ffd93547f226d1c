/* SPDX-License-Identifier: BSD-2-Clause */
/* Fenced extension: the token is the handle's, nodes are counted if they have
 * it, and they repair by themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

#define THREE .nodes = 3, .fenced = true
#define FIVE  .nodes = 5, .fenced = true

/* --- The token ------------------------------------------------------------ */

STORY(extended_when_a_majority_has_the_token)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 5.000 -> ask extend #7 5.000 of all\n"
          "t=1.001  n1 yes #7\n"
          "t=1.002  n2 yes #7  -> EXTENDED #7, valid for 4.946\n"
          "t=1.003  n3 yes #7\n");
}

STORY(trap_fence_another_number_is_no_yes_and_the_token_stays)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 n2 yes #8 -> NO QUORUM, valid for 8.897\n"
          "t=1.001  n3 yes #8\n"
          "t=1.001  fence?     -> #7\n"
          "t=2.000  extend 10.000 -> ask extend #7 of all\n"
          "t=2.001  n1 yes #6\n"
          "t=2.002  n2 n3 yes #7 -> EXTENDED #7, valid for 9.896\n");
}

STORY(another_number_says_nothing_of_the_key)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 n2 yes #7 -> EXTENDED #7, valid for 9.897\n"
          "t=1.002  n3 missing\n"
          "t=2.000  extend 10.000 -> ask extend #7 of all\n"
          "t=2.001  n3 yes #8\n"
          "t=2.002  n1 missing -> GONE; LOST   (n3 too)\n");
}

STORY(renewals_are_for_the_token)
{
    story(&(struct story_terms){THREE, .renew = true},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=due    time       -> ask extend #7 of all\n"
          "+0.001   n1 n2 yes #7\n");
}

/* --- Repair --------------------------------------------------------------- */

STORY(a_node_that_has_repaired_is_ours_but_not_counted)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n3 missing repaired\n"
          "t=1.002  n1 yes #7\n"
          "t=1.003  n2 yes #7  -> EXTENDED #7, valid for 9.895\n"
          "t=2.000  extend 10.000 -> ask extend #7 of all\n"
          "t=2.001  n1 missing (the only one)\n"
          "t=2.002  n2 n3 yes #7 -> EXTENDED #7, valid for 9.896\n");
}

STORY(trap_fence_repairs_make_no_majority)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 missing repaired\n"
          "t=1.002  n2 missing repaired -> NO QUORUM, valid for 8.896\n"
          "t=1.003  n3 yes #7\n"
          "t=2.000  extend 10.000 -> ask extend #7 of all\n"
          "t=2.001  n1 n2 yes #7 -> EXTENDED #7, valid for 9.897\n");
}

STORY(no_repair_of_our_own)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n3 missing\n"
          "t=1.002  n1 n2 yes #7 -> EXTENDED #7, valid for 9.896\n"
          "t=2.000  extend 10.000 -> ask extend #7 of all\n"
          "t=2.001  n1 n2 yes #7 -> EXTENDED #7, valid for 9.897\n"
          "t=2.002  n3 missing repaired\n"
          "t=3.000  extend 10.000 -> ask extend #7 of all\n"
          "t=3.001  n1 n2 yes #7 -> EXTENDED #7, valid for 9.897\n"
          "t=3.002  n3 missing (late, and not repaired)\n"
          "t=4.000  extend 10.000 -> ask extend #7 of all\n"
          "t=4.001  n1 missing -> GONE; LOST\n");
}

STORY(nodes_that_will_not_repair_are_a_veto)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 n2 missing -> GONE; LOST\n");
}

/* n3 was sent nothing before, but may have it now. */
STORY(a_node_that_may_repair_is_sent_the_release)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.000  n3 unsent\n"
          "t=0.001  n1 n2 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 n2 yes #7 -> EXTENDED #7, valid for 9.897\n"
          "t=1.002  release    -> ask release of all\n"
          "t=1.003  n3 extend: missing repaired\n"
          "t=1.003  n3 yes\n"
          "t=1.004  n1 yes     -> RELEASED\n");
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 n2 yes #7 -> EXTENDED #7, valid for 9.897\n"
          "t=1.002  n3 acquire: skewed\n"
          "t=1.003  release    -> ask release of all\n"
          "t=1.004  n3 extend: missing repaired\n"
          "t=1.004  n3 yes\n"
          "t=1.004  n1 yes     -> RELEASED\n");
}

STORY(a_node_that_has_nothing_is_not_sent_the_release)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=0.002  n3 skewed\n"
          "t=1.003  release    -> ask release of n1 n2\n");
}

/* --- A token from elsewhere ----------------------------------------------- */

STORY(adopted_with_its_token)
{
    story(&(struct story_terms){THREE},
          "t=0.000  adopt #7\n"
          "t=0.000  fence?     -> #7\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 yes #8  (not this one)\n"
          "t=1.002  n2 yes #7\n"
          "t=1.003  n3 yes #7  -> EXTENDED #7, valid for 9.895\n");
}

STORY(adopted_without_it_and_learnt_from_a_majority)
{
    story(&(struct story_terms){THREE},
          "t=0.000  adopt\n"
          "t=0.000  fence?     -> #0\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 yes #8\n"
          "t=1.002  n2 yes #7\n"
          "t=1.002  state?     -> adopted   (two yeses)\n"
          "t=1.003  n3 yes #7  -> EXTENDED #7, valid for 9.895\n"
          "t=2.000  extend 10.000 -> ask extend #7 of all\n"
          "t=2.001  n1 n2 yes #8 -> NO QUORUM, valid for 8.897\n"
          "t=2.002  n3 yes #8\n"
          "t=2.002  fence?     -> #7\n");
}

STORY(trap_fence_adopted_and_no_majority_knows_its_token)
{
    story(&(struct story_terms){THREE},
          "t=0.000  adopt\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 yes #8\n"
          "t=1.002  n2 yes #7\n"
          "t=1.003  n3 yes #6  -> NO QUORUM\n"
          "t=1.003  fence?     -> #0\n"
          "t=2.000  extend 10.000 -> ask extend of all\n"
          "t=2.001  n1 yes #8\n"
          "t=2.002  n2 yes #7\n"
          "t=2.050  time       -> NO QUORUM\n"
          "t=2.051  n3 yes #7\n"
          "t=3.000  extend 10.000 -> ask extend of all\n"
          "t=3.001  n1 n2 n3 yes -> NO QUORUM   (of no number)\n"
          "t=4.000  extend 10.000 -> ask extend of all\n"
          "t=4.001  n1 n2 yes #8 -> EXTENDED #8, valid for 9.897\n");
}

STORY(trap_fence_adopted_after_an_acquisition_of_its_own)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #5 after A ended #4\n"
          "t=0.002  n2 yes #9  -> ask confirm #9 of n1 n3\n"
          "t=0.003  n1 yes #9\n"
          "-> ACQUIRED #9 after a death, valid for 9.895\n"
          "t=0.004  release    -> ask release of all\n"
          "t=0.005  n1 n2 yes  -> RELEASED\n"
          "t=1.000  adopt\n"
          "t=1.000  fence?     -> #0\n"
          "t=1.000  died?      -> no\n"
          "t=1.001  n3 acquire: yes #9\n"
          "t=1.001  n3 confirm: yes #9\n"
          "t=1.001  n3 yes\n"
          "t=2.000  extend 10.000 -> ask extend of all\n"
          "t=2.001  n1 n2 yes #7 -> EXTENDED #7, valid for 9.897\n");
}

STORY(adopted_without_it_and_too_late)
{
    story(&(struct story_terms){.nodes = 1, .fenced = true},
          "t=0.000  adopt\n"
          "t=0.000  extend 0.010 -> ask extend 0.010 of all\n"
          "t=0.0079 n1 yes #7  -> TOO LATE; LOST\n"
          "t=0.0079 fence?     -> #0\n");
}

/* --- The rest is as ever -------------------------------------------------- */

STORY(verified_by_those_whose_key_is_ours)
{
    story(&(struct story_terms){THREE},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes #7 -> ACQUIRED #7, valid for 9.897\n"
          "t=1.000  verify     -> ask inspect of all\n"
          "t=1.001  n1 yes 9.000\n"
          "t=1.002  n2 held\n"
          "t=1.003  n3 yes 9.000 -> VERIFIED, valid for 8.895\n");
}

STORY(a_lease_is_remembered_for_longer)
{
    story(&(struct story_terms){.nodes = 1,
                                .fenced = true,
                                .linger_ms = 2500,
                                .lock_delay_ms = 1000},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes #7  -> ACQUIRED #7, valid for 9.897\n"
          "t=0.001  expires?   -> 13.652\n"
          "t=1.000  extend 10.000 -> ask extend #7 of all\n"
          "t=1.001  n1 yes #7  -> EXTENDED #7, valid for 9.897\n"
          "t=1.001  expires?   -> 14.652\n");
    story(&(struct story_terms){.nodes = 1,
                                .linger_ms = 2500,
                                .lock_delay_ms = 1000},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  expires?   -> 10.152   (nothing is remembered)\n");
    story(&(struct story_terms){.nodes = 1,
                                .fenced = true,
                                .linger_ms = 2500,
                                .lock_delay_ms = 1000},
          "t=1.000  adopt #7\n"
          "t=1.000  expires?   -> 14.652\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extended_when_a_majority_has_the_token),
        cmocka_unit_test(
            trap_fence_another_number_is_no_yes_and_the_token_stays),
        cmocka_unit_test(another_number_says_nothing_of_the_key),
        cmocka_unit_test(renewals_are_for_the_token),
        cmocka_unit_test(a_node_that_has_repaired_is_ours_but_not_counted),
        cmocka_unit_test(trap_fence_repairs_make_no_majority),
        cmocka_unit_test(no_repair_of_our_own),
        cmocka_unit_test(nodes_that_will_not_repair_are_a_veto),
        cmocka_unit_test(a_node_that_may_repair_is_sent_the_release),
        cmocka_unit_test(a_node_that_has_nothing_is_not_sent_the_release),
        cmocka_unit_test(adopted_with_its_token),
        cmocka_unit_test(adopted_without_it_and_learnt_from_a_majority),
        cmocka_unit_test(trap_fence_adopted_and_no_majority_knows_its_token),
        cmocka_unit_test(trap_fence_adopted_after_an_acquisition_of_its_own),
        cmocka_unit_test(adopted_without_it_and_too_late),
        cmocka_unit_test(verified_by_those_whose_key_is_ours),
        cmocka_unit_test(a_lease_is_remembered_for_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
