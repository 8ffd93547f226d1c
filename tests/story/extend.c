/* SPDX-License-Identifier: BSD-2-Clause */
/* Extension: on a majority, inside the validity, by our own clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "story.h"

STORY(extended_when_a_majority_has_extended)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 n4 n5 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.000  valid?    -> 4.898   (nothing is won yet)\n"
          "t=5.001  n1 yes\n"
          "t=5.002  n2 yes\n"
          "t=5.003  n3 yes    -> EXTENDED, valid for 9.895   (since 5.000)\n"
          "t=5.004  n4 n5 yes\n"
          "t=5.004  valid?    -> 9.894\n");
}

STORY(too_few_answers_leave_the_validity_as_it_was)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n1 yes\n"
          "t=5.050  time      -> NO QUORUM, valid for 4.848\n"
          "t=5.051  n2 yes    (too late to count)\n"
          "t=5.051  valid?    -> 4.847\n"
          "t=9.898  time      -> LOST\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n1 failed\n"
          "t=5.002  n2 unsent -> NO QUORUM, valid for 4.896\n");
}

STORY(a_shorter_ttl_shortens_at_once)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 1.000 -> ask extend 1.000 of all\n"
          "t=5.000  valid?    -> 0.988   (a node may do it, unheard)\n"
          "t=5.050  time      -> NO QUORUM, valid for 0.938\n"
          "t=5.988  time      -> LOST\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 1.000 -> ask extend 1.000 of all\n"
          "t=5.001  n1 n2 yes -> EXTENDED, valid for 0.987\n");
}

STORY(an_answer_at_the_deadline_is_too_late)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000        acquire   -> token; ask acquire of all\n"
          "t=0.001        n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=9.890        extend 10.000 -> ask extend of all\n"
          "t=9.898        n1 yes    -> TOO LATE; LOST\n"
          "t=9.898        valid?    -> 0.000\n");
}

STORY(an_answer_one_nanosecond_before_the_deadline_is_in_time)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000        acquire   -> token; ask acquire of all\n"
          "t=0.001        n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=9.890        extend 10.000 -> ask extend of all\n"
          "t=9.897999999  n1 yes    -> EXTENDED, valid for 9.890000001\n");
}

STORY(trap_11_an_extension_after_the_end_is_refused_and_asks_nobody)
{
    story(&(struct story_terms){.nodes = 1},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 yes    -> ACQUIRED, valid for 9.897\n"
          "t=9.898  extend 10.000 -> LOST; TOO LATE\n"
          "t=9.899  extend 10.000 -> TOO LATE\n"
          "t=9.900  valid?    -> 0.000\n"
          "t=9.900  due?      -> never\n");
}

STORY(trap_12_a_foreign_majority_is_a_loss_at_once)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n1 held by A\n"
          "t=5.002  n2 held by A -> GONE; LOST\n"
          "t=5.002  valid?    -> 0.000\n"
          "t=5.003  n3 yes\n"
          "t=5.003  state?    -> lost\n");
}

STORY(half_of_an_even_number_gone_leaves_no_majority_either)
{
    story(&(struct story_terms){.nodes = 4},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 n4 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n1 held by A\n"
          "t=5.002  n2 missing -> GONE; LOST\n");
}

STORY(late_foreign_answers_show_the_loss_too)
{
    story(&(struct story_terms){0},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 n4 n5 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n1 n2 n3 failed -> NO QUORUM, valid for 4.897\n"
          "t=5.002  n4 n5 held by A\n"
          "t=6.000  extend 10.000 -> ask extend of all\n"
          "t=6.001  n1 held by A -> GONE; LOST\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=5.001  n1 held by A\n"
          "t=5.050  time      -> NO QUORUM, valid for 4.848\n"
          "t=5.060  n2 held by A -> LOST\n"
          "t=5.060  valid?    -> 0.000\n");
}

STORY(late_answers_to_an_older_extension_say_nothing)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=1.000  extend 10.000 -> ask extend of all\n"
          "t=1.050  time      -> NO QUORUM, valid for 8.848\n"
          "t=2.000  extend 10.000 -> ask extend of all\n"
          "t=2.001  n1 n2 extend: yes   (the first one's)\n"
          "t=2.002  valid?    -> 7.896\n"
          "t=2.003  n1 n2 yes -> EXTENDED, valid for 9.895\n");
}

STORY(trap_16_stopped_past_the_end_it_does_not_believe_old_answers)
{
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=0.001  n1 n2 n3 yes -> ACQUIRED, valid for 9.897\n"
          "t=5.000  extend 10.000 -> ask extend of all\n"
          "t=60.000 sleep     (with the answers in its buffers)\n"
          "t=60.000 n1 yes    -> TOO LATE; LOST\n"
          "t=60.000 n2 n3 yes\n"
          "t=60.000 valid?    -> 0.000\n");
    story(&(struct story_terms){.nodes = 3},
          "t=0.000  acquire   -> token; ask acquire of all\n"
          "t=60.000 sleep     (between asking and reading the answers)\n"
          "t=60.000 n1 yes\n"
          "t=60.000 n2 yes    -> ask release of all\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extended_when_a_majority_has_extended),
        cmocka_unit_test(too_few_answers_leave_the_validity_as_it_was),
        cmocka_unit_test(a_shorter_ttl_shortens_at_once),
        cmocka_unit_test(an_answer_at_the_deadline_is_too_late),
        cmocka_unit_test(
            an_answer_one_nanosecond_before_the_deadline_is_in_time),
        cmocka_unit_test(
            trap_11_an_extension_after_the_end_is_refused_and_asks_nobody),
        cmocka_unit_test(trap_12_a_foreign_majority_is_a_loss_at_once),
        cmocka_unit_test(half_of_an_even_number_gone_leaves_no_majority_either),
        cmocka_unit_test(late_foreign_answers_show_the_loss_too),
        cmocka_unit_test(late_answers_to_an_older_extension_say_nothing),
        cmocka_unit_test(
            trap_16_stopped_past_the_end_it_does_not_believe_old_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
