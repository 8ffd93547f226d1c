/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lengths of time: parsed in integers, because 0.1 has no exact double and a
 * limit that is off by one is a limit nobody can test.
 */
#include "cli/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FRACTION_ONE 1000000000 /* nine digits after the point count */

static const struct {
    const char *name;
    int64_t ms;
} UNITS[] = {{"", 1000},     {"s", 1000},        {"ms", 1},      {"m", 60000},
             {"min", 60000}, {"h", 3600 * 1000}, {"d", 86400000}};

/* The digits at *text as a number of at most DURATION_MAX_MS, or -1. */
static int64_t take_whole(const char **text)
{
    int64_t value = 0;

    for (; **text >= '0' && **text <= '9'; ++*text) {
        value = value * 10 + (**text - '0');
        if (value > DURATION_MAX_MS)
            return -1;
    }
    return value;
}

/* The digits after the point in billionths, rounded up. */
static int64_t take_fraction(const char **text)
{
    int64_t value = 0, digit = FRACTION_ONE / 10, rest = 0;

    for (; **text >= '0' && **text <= '9'; ++*text) {
        value += digit * (**text - '0');
        if (!digit && **text != '0')
            rest = 1;
        digit /= 10;
    }
    return value + rest;
}

static int64_t unit_ms(const char *name)
{
    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++)
        if (!strcmp(name, UNITS[i].name))
            return UNITS[i].ms;
    return 0;
}

const char *duration_parse(const char *text, int64_t *ret_ms)
{
    const char *start = text;
    int64_t whole, fraction = 0, unit, ms;

    whole = take_whole(&text);
    if (whole < 0)
        return "is too long";
    if (text > start && *text == '.') {
        const char *point = text++;

        fraction = take_fraction(&text);
        if (text == point + 1)
            return "needs a digit after the point";
    }
    if (text == start)
        return *text == '-' ? "cannot be negative"
                            : "is no length of time such as 10s, 500ms or 1.5";
    unit = unit_ms(text);
    if (!unit)
        return "has an unknown unit: use ms, s, m, h or d";
    if (whole > DURATION_MAX_MS / unit)
        return "is too long";
    ms = (fraction * unit + FRACTION_ONE - 1) / FRACTION_ONE;
    if (ms > DURATION_MAX_MS - whole * unit)
        return "is too long";
    *ret_ms = whole * unit + ms;
    return NULL;
}

const char *duration_text(char text[DURATION_TEXT], int64_t ms)
{
    int64_t s = ms / 1000;

    if (ms < 1000)
        snprintf(text, DURATION_TEXT, "%" PRId64 " ms", ms > 0 ? ms : 0);
    else if (s < 60)
        snprintf(text, DURATION_TEXT, "%" PRId64 ".%d s", s,
                 (int)(ms % 1000 / 100));
    else if (s < 3600)
        snprintf(text, DURATION_TEXT, "%" PRId64 " min %d s", s / 60,
                 (int)(s % 60));
    else if (s < 86400)
        snprintf(text, DURATION_TEXT, "%" PRId64 " h %d min", s / 3600,
                 (int)(s % 3600 / 60));
    else
        snprintf(text, DURATION_TEXT, "%" PRId64 " d %d h", s / 86400,
                 (int)(s % 86400 / 3600));
    return text;
}
