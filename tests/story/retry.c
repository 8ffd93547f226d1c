/* SPDX-License-Identifier: BSD-2-Clause */
/* Another attempt after a failed one: its own time, its own token, and the
 * limits by count and by time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(each_attempt_has_its_own_time_and_token)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 held -> ask release of all\n"
          "t=0.002  n1 n2 held by A 4.000\n"
          "t=0.002  n3 acquire: yes\n"
          "t=0.003  n3 yes     -> wait until 0.101\n"
          "t=0.101  time       -> token; ask acquire of all\n"
          "t=0.102  n1 n2 yes  -> ACQUIRED, valid for 9.897\n"
          "t=0.102  due?       -> 9.999   (0.101 and 9.898)\n");
}

STORY(trap_02_the_release_stands_before_the_next_attempt_on_every_node)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes\n"
          "t=0.050  time       -> ask release of all   (the others sleep)\n"
          "t=0.051  n1 yes     -> wait until 0.150\n"
          "t=0.150  time       -> token; ask acquire of all\n"
          "t=0.151  n1 yes\n"
          "t=0.152  n2 acquire: yes   (not for this one)\n"
          "t=0.153  n2 release: yes\n"
          "t=0.154  n2 yes     -> ACQUIRED, valid for 9.894\n");
}

/* Both say "acquire", and only one of them is about the key that is there. */
STORY(a_late_answer_to_one_attempt_says_nothing_of_the_next_ones_key)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 held -> ask release of all\n"
          "t=0.002  n1 n2 held by A 4.000\n"
          "t=0.051  time       -> wait until 0.101\n"
          "t=0.101  time       -> token; ask acquire of all\n"
          "t=0.102  n1 n2 yes  -> ACQUIRED, valid for 9.897\n"
          "t=0.103  n3 acquire: held   (the first attempt)\n"
          "t=0.104  n3 release: missing\n"
          "t=0.105  n3 yes\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.001  n1 missing   (the only one)\n"
          "t=1.002  n2 n3 yes  -> EXTENDED, valid for 9.896\n"
          "-> ask acquire 9.998 of n1\n");
}

STORY(retry_by_count)
{
    story(&(struct story_terms){.nodes = 1, .tries = 2},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 held    -> ask release of all\n"
          "t=0.002  n1 held by A -> wait until 0.101\n"
          "t=0.101  time       -> token; ask acquire of all\n"
          "t=0.102  n1 held    -> ask release of all\n"
          "t=0.103  n1 held by A -> HELD BY ANOTHER\n"
          "t=0.103  due?       -> never\n");
    story(&(struct story_terms){.nodes = 1, .tries = 1},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 held    -> ask release of all\n"
          "t=0.002  n1 held by A -> HELD BY ANOTHER\n");
}

STORY(the_count_starts_anew_with_each_acquisition)
{
    story(&(struct story_terms){.nodes = 1, .tries = 2},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 held    -> ask release of all\n"
          "t=0.002  n1 missing -> wait until 0.101\n"
          "t=0.101  time       -> token; ask acquire of all\n"
          "t=0.102  n1 yes     -> ACQUIRED, valid for 9.897\n"
          "t=0.200  release    -> ask release of all\n"
          "t=0.201  n1 yes     -> RELEASED\n"
          "t=1.000  acquire    -> token; ask acquire of all\n"
          "t=1.001  n1 held    -> ask release of all\n"
          "t=1.002  n1 held by A -> wait until 1.101\n");
}

STORY(retry_for_so_long_and_the_last_attempt_at_the_end_of_the_wait)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire within 0.150 -> token; ask acquire of all\n"
          "t=0.001  n1 held    -> ask release of all\n"
          "t=0.002  n1 held by A -> wait until 0.101\n"
          "t=0.101  time       -> token; ask acquire of all\n"
          "t=0.102  n1 held    -> ask release of all\n"
          "t=0.103  n1 held by A -> wait until 0.150   (not 0.202)\n"
          "t=0.150  time       -> token; ask acquire of all\n"
          "t=0.151  n1 held    -> ask release of all\n"
          "t=0.152  n1 held by A -> HELD BY ANOTHER\n");
}

STORY(no_attempt_is_planned_after_the_end_of_the_wait)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire within 0.010 -> token; ask acquire of all\n"
          "t=0.010  n1 held    -> ask release of all\n"
          "t=0.011  n1 held by A -> HELD BY ANOTHER\n");
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire within 0.010 -> token; ask acquire of all\n"
          "t=0.009  n1 held    -> ask release of all\n"
          "t=0.009  n1 held by A -> wait until 0.010\n"
          "t=0.010  time       -> token; ask acquire of all\n"
          "t=0.011  n1 yes     -> ACQUIRED, valid for 9.897\n");
}

STORY(one_try_is_one_attempt)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  try        -> token; ask acquire of all\n"
          "t=0.000  n1 held    -> ask release of all\n"
          "t=0.000  n1 held by A -> HELD BY ANOTHER\n");
}

STORY(the_delay_counts_from_the_decision)
{
    story(&(struct story_terms){.nodes = 1, .node_timeout_ms = 500},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 held    -> ask release of all\n"
          "t=0.100  n1 held by A -> wait until 0.101\n"
          "t=0.101  time       -> token; ask acquire of all\n");
}

static uint32_t grows(unsigned attempt, void *arg)
{
    return attempt * *(const uint32_t *)arg;
}

/* Or nothing in when it comes would be random. */
STORY(a_cleaning_that_outlasts_the_delay_is_followed_by_a_part_of_it)
{
    story(&(struct story_terms){.nodes = 1, .node_timeout_ms = 500},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 held    -> ask release of all\n"
          "t=0.101  n1 held by A -> wait until 0.117524998\n"
          "t=due    time       -> token; ask acquire of all\n");
    story(&(struct story_terms){.nodes = 1, .node_timeout_ms = 500},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 held    -> ask release of all\n"
          "t=0.501  time       -> wait until 0.517524998\n"
          "t=due    time       -> token; ask acquire of all\n"
          "t=0.518  due?       -> 1.017524998\n");
}

STORY(a_cleaning_that_outlasts_the_wait_is_followed_by_the_last_attempt)
{
    story(&(struct story_terms){.nodes = 1, .node_timeout_ms = 500},
          "t=0.000  acquire within 0.150 -> token; ask acquire of all\n"
          "t=0.001  n1 held    -> ask release of all\n"
          "t=0.140  n1 held by A -> wait until 0.150\n"
          "t=due    time       -> token; ask acquire of all\n");
    story(&(struct story_terms){.nodes = 1, .node_timeout_ms = 500},
          "t=0.000  acquire within 0.150 -> token; ask acquire of all\n"
          "t=0.001  n1 held    -> ask release of all\n"
          "t=0.501  time       -> token; ask acquire of all\n"
          "t=0.502  n1 release: held\n"
          "t=0.503  n1 held    -> ask release of all\n"
          "t=0.504  n1 held by A -> HELD BY ANOTHER\n");
}

STORY(the_callers_own_delay_is_asked_with_the_number_of_the_attempt)
{
    uint32_t unit_ms = 10;

    story(&(struct story_terms){.nodes = 1,
                                .delay = grows,
                                .delay_arg = &unit_ms},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.000  n1 held    -> ask release of all\n"
          "t=0.000  n1 held by A -> wait until 0.020   (the second)\n"
          "t=0.020  time       -> token; ask acquire of all\n"
          "t=0.020  n1 held    -> ask release of all\n"
          "t=0.020  n1 held by A -> wait until 0.050   (the third)\n");
}

STORY(trap_14_a_delay_of_nothing_does_not_spin)
{
    uint32_t unit_ms = 0;

    story(&(struct story_terms){.nodes = 1,
                                .delay = grows,
                                .delay_arg = &unit_ms},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.000  n1 unsent  -> wait until 0.001\n"
          "t=0.001  time       -> token; ask acquire of all\n"
          "t=0.001  n1 unsent  -> wait until 0.002\n"
          "t=0.002  time       -> token; ask acquire of all\n");
}

STORY(a_wake_up_ends_the_wait_and_nothing_else)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  wake       (nobody waits)\n"
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.000  wake       (the attempt is on its way)\n"
          "t=0.001  n1 held    -> ask release of all\n"
          "t=0.001  wake       (its keys must be released first)\n"
          "t=0.002  n1 held by A -> wait until 0.101\n"
          "t=0.003  wake       -> token; ask acquire of all\n"
          "t=0.004  n1 yes     -> ACQUIRED, valid for 9.897\n"
          "t=0.005  wake\n");
}

STORY(trap_01_two_nodes_one_vote_each_ends_and_retries)
{
    story(&(struct story_terms){.nodes = 2},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 yes\n"
          "t=0.001  n2 held    -> ask release of all\n"
          "t=0.002  n1 yes\n"
          "t=0.002  n2 held by A -> wait until 0.101\n"
          "t=0.101  time       -> token; ask acquire of all\n"
          "t=0.102  n1 n2 yes  -> ACQUIRED, valid for 9.897\n");
}

STORY(trap_01_four_nodes_two_votes_each_ends_and_retries)
{
    story(&(struct story_terms){.nodes = 4},
          "t=0.000  acquire    -> token; ask acquire of all\n"
          "t=0.001  n1 n2 yes\n"
          "t=0.001  n3 held\n"
          "t=0.002  n4 held    -> ask release of all\n"
          "t=0.003  n1 n2 yes\n"
          "t=0.003  n3 n4 held by A -> wait until 0.102\n"
          "t=0.102  time       -> token; ask acquire of all\n"
          "t=0.103  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_attempt_has_its_own_time_and_token),
        cmocka_unit_test(
            trap_02_the_release_stands_before_the_next_attempt_on_every_node),
        cmocka_unit_test(
            a_late_answer_to_one_attempt_says_nothing_of_the_next_ones_key),
        cmocka_unit_test(retry_by_count),
        cmocka_unit_test(the_count_starts_anew_with_each_acquisition),
        cmocka_unit_test(
            retry_for_so_long_and_the_last_attempt_at_the_end_of_the_wait),
        cmocka_unit_test(no_attempt_is_planned_after_the_end_of_the_wait),
        cmocka_unit_test(one_try_is_one_attempt),
        cmocka_unit_test(the_delay_counts_from_the_decision),
        cmocka_unit_test(
            a_cleaning_that_outlasts_the_delay_is_followed_by_a_part_of_it),
        cmocka_unit_test(
            a_cleaning_that_outlasts_the_wait_is_followed_by_the_last_attempt),
        cmocka_unit_test(
            the_callers_own_delay_is_asked_with_the_number_of_the_attempt),
        cmocka_unit_test(trap_14_a_delay_of_nothing_does_not_spin),
        cmocka_unit_test(a_wake_up_ends_the_wait_and_nothing_else),
        cmocka_unit_test(trap_01_two_nodes_one_vote_each_ends_and_retries),
        cmocka_unit_test(trap_01_four_nodes_two_votes_each_ends_and_retries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
