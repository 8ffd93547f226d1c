/* SPDX-License-Identifier: BSD-2-Clause */
/* Lengths of time: what is accepted, what is refused and how it is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The command is no library: its file is part of this test. */
#include "cli/duration.c"

static void are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } table[] = {
        {"0", 0},
        {"0.0ms", 0},
        {"10", 10000},
        {"10s", 10000},
        {"1.5", 1500},
        {"0.3", 300},
        {"0.1", 100},
        {"500ms", 500},
        {"2m", 120000},
        {"2min", 120000},
        {"1h", 3600000},
        {"1.5h", 5400000},
        {"1d", 86400000},
        {"007", 7000},
        {"0.001", 1},
        /* Finer than a millisecond is rounded up, never to nothing. */
        {"0.0001", 1},
        {"1.0000000000000000001", 1001},
        {"0.4ms", 1},
        {"3650d", DURATION_MAX_MS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int64_t ms = -1;

        assert_null(duration_parse(table[i].text, &ms));
        assert_int_equal(ms, table[i].ms);
    }
}

static void are_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } table[] = {
        {"", "no length of time"},
        {"s", "no length of time"},
        {".5", "no length of time"},
        {" 1", "no length of time"},
        {"+1", "no length of time"},
        {"-1", "negative"},
        {"1.", "digit after the point"},
        {"1.s", "digit after the point"},
        {"1 s", "unknown unit"},
        {"1x", "unknown unit"},
        {"1.5.5", "unknown unit"},
        {"1e3", "unknown unit"},
        {"1m30s", "unknown unit"},
        {"3651d", "too long"},
        {"3650.1d", "too long"},
        {"99999999999999999999999999", "too long"},
        {"9223372036854775807ms", "too long"},
        {"18446744073709551616", "too long"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        int64_t ms = 42;
        const char *wrong = duration_parse(table[i].text, &ms);

        assert_non_null(wrong);
        assert_non_null(strstr(wrong, table[i].words));
        assert_int_equal(ms, 42);
    }
}

static void are_written(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } table[] = {
        {-5, "0 ms"},           {0, "0 ms"},
        {999, "999 ms"},        {1000, "1.0 s"},
        {12449, "12.4 s"},      {59999, "59.9 s"},
        {60000, "1 min 0 s"},   {3599999, "59 min 59 s"},
        {3600000, "1 h 0 min"}, {86399999, "23 h 59 min"},
        {86400000, "1 d 0 h"},  {INT64_MAX, "106751991167 d 7 h"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char text[DURATION_TEXT];

        assert_string_equal(duration_text(text, table[i].ms), table[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_read),
        cmocka_unit_test(are_refused),
        cmocka_unit_test(are_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
