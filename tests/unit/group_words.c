/* SPDX-License-Identifier: BSD-2-Clause */
/* The words by which lua/node.lua is told of each duty. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "sights.h"

/* The words in a row, between bars. */
static void expect_words(enum ql_duty duty, bool durable, uint64_t began_ref_us,
                         const char *expected)
{
    static const struct ql_group group = {
        .known = true,
        .cfg = "0123456789abcdef.1.3",
        .newest = "0123456789abcdef.2.4",
        .max_ttl_ms = 300000,
        .slack_ms = 500,
        .members = "a,b,c",
        .hw = UINT64_C(1800000000000007),
    };
    struct ql_sight sight = {.run_id = "run1", .durable = durable};
    struct ql_duty_text text;
    const char *words[QL_DUTY_WORDS + 1];
    char all[QL_TEXT_MAX] = "|";

    sight.record.ref_us = began_ref_us;
    memset(words, 0x5a, sizeof(words));
    ql_duty_words(duty, &group, &sight, SIGHTS_NOW, 10000, &text, words);
    for (unsigned i = 0; words[i]; i++) {
        assert_true(i < QL_DUTY_WORDS);
        strcat(strcat(all, words[i]), "|");
    }
    assert_string_equal(all, expected);
}

static void each_duty_has_its_verb(void **state)
{
    (void)state;
    expect_words(QL_DUTY_NONE, true, 1, "|");
    expect_words(QL_DUTY_FORM, true, 1,
                 "|form|0123456789abcdef.1.3|300000|500|run1|a,b,c|"
                 "1800000000000007|");
    expect_words(QL_DUTY_ACTIVATE, true, 1,
                 "|activate|0123456789abcdef.1.3|run1|run1|");
    expect_words(QL_DUTY_ACTIVATE, false, 1,
                 "|activate|0123456789abcdef.1.3|run1||");
    expect_words(QL_DUTY_QUARANTINE, true, 1,
                 "|quarantine|0123456789abcdef.2.4||300000|500|a,b,c|run1|"
                 "1800000000000000|");
    expect_words(QL_DUTY_READY, true, 1,
                 "|ready|0123456789abcdef.1.3|run1|1800000000000000|"
                 "1800000000000007|307500000|run1|");
    expect_words(QL_DUTY_READY, false, 1,
                 "|ready|0123456789abcdef.1.3|run1|1800000000000000|"
                 "1800000000000007|307500000||");
    expect_words(QL_DUTY_DURABLE, true, 1, "|durable|run1|run1|");
    expect_words(QL_DUTY_VERIFIED, true, 1, "|verified|run1|run1|");
    expect_words(QL_DUTY_VERIFIED, false, 1, "|verified|run1||");
    expect_words(QL_DUTY_LOOK, true, 1, "|look|");
}

/* The script notes the others' time then; with any other length it might end a
 * quarantine for which nothing was read back. */
static void a_quarantine_without_the_others_time_is_not_ended(void **state)
{
    (void)state;
    expect_words(QL_DUTY_READY, false, 0,
                 "|ready|0123456789abcdef.1.3|run1|1800000000000000|"
                 "1800000000000007|9007199254740991||");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_duty_has_its_verb),
        cmocka_unit_test(a_quarantine_without_the_others_time_is_not_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
