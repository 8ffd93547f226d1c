/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking without touching: is it ours, and whose is it? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(verified_by_a_majority)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  verify    -> ask inspect of all\n"
          "t=1.001  n1 yes 9.000\n"
          "t=1.002  n2 yes 9.000 -> VERIFIED, valid for 8.896   (as it was)\n"
          "t=1.003  n3 missing\n"
          "t=1.003  valid?    -> 8.895\n");
}

STORY(trap_16_a_servers_word_may_shorten_the_validity)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 n4 n5 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  verify    -> ask inspect of all\n"
          "t=1.001  n1 yes 9.000\n"
          "t=1.002  n2 yes 2.000   (its clock was set)\n"
          "t=1.003  n3 yes 4.000 -> VERIFIED, valid for 1.975\n"
          "t=2.978  time      -> LOST   (1.000 and 2.000 less drift)\n");
}

STORY(what_a_majority_has_left_is_the_validity)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 n4 n5 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  verify    -> ask inspect of all\n"
          "t=1.001  n1 missing\n"
          "t=1.001  n2 yes 4.000\n"
          "t=1.001  n3 yes 5.000\n"
          "t=1.001  n4 yes 6.000 -> VERIFIED, valid for 3.957\n");
}

STORY(a_servers_word_never_lengthens_the_validity)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=1.000  verify    -> ask inspect of all\n"
          "t=1.001  n1 yes 60.000 -> VERIFIED, valid for 8.897\n");
}

STORY(verify_finds_it_gone)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  verify    -> ask inspect of all\n"
          "t=1.001  n1 missing\n"
          "t=1.002  n3 held by A -> GONE; LOST\n"
          "t=1.002  valid?    -> 0.000\n"
          "t=1.003  verify    -> ask inspect of all   (asked again, lost)\n"
          "t=1.004  n2 inspect: missing\n"
          "t=1.004  n1 missing\n"
          "t=1.004  n3 held by A -> GONE\n");
}

STORY(verify_cannot_tell)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  verify    -> ask inspect of all\n"
          "t=1.001  n1 yes 9.000\n"
          "t=1.050  time      -> NO QUORUM, valid for 8.848\n"
          "t=1.051  n2 yes 9.000\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  verify    -> ask inspect of all\n"
          "t=1.001  n1 failed\n"
          "t=1.001  n2 unsent -> NO QUORUM, valid for 8.897\n");
}

STORY(the_end_of_the_validity_ends_verify)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=9.890  verify    -> ask inspect of all\n"
          "t=9.898  time      -> TOO LATE; LOST\n"
          "t=9.899  n1 yes 0.090\n");
}

STORY(the_end_of_the_validity_does_not_end_inspect)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=9.890  inspect   -> ask inspect of all\n"
          "t=9.898  time      -> LOST\n"
          "t=9.899  n1 missing -> FREE\n");
}

STORY(inspect_waits_for_every_node)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  inspect   -> ask inspect of all\n"
          "t=0.001  n1 n2 missing   (a majority, but not all)\n"
          "t=0.002  n3 held by A -> FREE\n"
          "t=0.002  due?      -> never\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  inspect   -> ask inspect of all\n"
          "t=0.001  n1 n2 missing\n"
          "t=0.001  due?      -> 0.050\n"
          "t=0.050  time      -> FREE   (but not for ever)\n"
          "t=0.051  n3 missing\n");
}

STORY(held_by_one)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  inspect   -> ask inspect of all\n"
          "t=0.001  n1 held by A 4.000\n"
          "t=0.001  n2 held by A 4.000\n"
          "t=0.002  n3 failed -> HELD BY ANOTHER\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  inspect   -> ask inspect of all\n"
          "t=0.001  n1 yes 4.000   (by our own token)\n"
          "t=0.001  n2 yes 4.000\n"
          "t=0.002  n3 failed -> HELD BY ANOTHER\n");
}

STORY(split_among_several)
{
    story(&(struct story_terms){0}, "t=0.000  inspect   -> ask inspect of all\n"
                                    "t=0.001  n1 n2 held by A\n"
                                    "t=0.001  n3 n4 held by B\n"
                                    "t=0.002  n5 missing -> SPLIT\n");
    story(&(struct story_terms){0},
          "t=0.000  inspect   -> ask inspect of all\n"
          "t=0.001  n1 held by A\n"
          "t=0.001  n2 held by B\n"
          "t=0.001  n3 held   (by one of them at most)\n"
          "t=0.001  n4 n5 missing -> SPLIT\n");
    story(&(struct story_terms){0}, "t=0.000  inspect   -> ask inspect of all\n"
                                    "t=0.001  n1 n2 yes 1.000\n"
                                    "t=0.001  n3 n4 missing\n"
                                    "t=0.002  n5 failed -> SPLIT\n");
}

STORY(inspect_without_a_majority_of_answers)
{
    story(&(struct story_terms){.nodes = 4},
          "t=0.000  inspect   -> ask inspect of all\n"
          "t=0.001  n1 n2 missing\n"
          "t=0.001  n3 failed\n"
          "t=0.002  n4 barred -> NO QUORUM\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verified_by_a_majority),
        cmocka_unit_test(trap_16_a_servers_word_may_shorten_the_validity),
        cmocka_unit_test(what_a_majority_has_left_is_the_validity),
        cmocka_unit_test(a_servers_word_never_lengthens_the_validity),
        cmocka_unit_test(verify_finds_it_gone),
        cmocka_unit_test(verify_cannot_tell),
        cmocka_unit_test(the_end_of_the_validity_ends_verify),
        cmocka_unit_test(the_end_of_the_validity_does_not_end_inspect),
        cmocka_unit_test(inspect_waits_for_every_node),
        cmocka_unit_test(held_by_one),
        cmocka_unit_test(split_among_several),
        cmocka_unit_test(inspect_without_a_majority_of_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
