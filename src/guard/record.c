/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a node's record. Whoever may write to the server can have written
 * anything there, so what our scripts would not have written makes the whole
 * record STRANGE: nothing is guessed from a part of it.
 */
#include "guard/record.h"

#include <string.h>

enum {
    FIELD_CFG,
    FIELD_PREV,
    FIELD_RUN,
    FIELD_STATE,
    FIELD_HW,
    FIELD_MAX_TTL,
    FIELD_SLACK,
    FIELD_AT,
    FIELD_REF,
    FIELD_Q_RUN,
    FIELD_SYNC,
    FIELD_MEMBERS,
    FIELD_PLAN,
    FIELDS
};

_Static_assert(FIELDS == QL_RECORD_FIELDS, "as lua/node.lua answers them");

/* As the scripts take numbers: decimal digits, so many that a double is exact.
 */
#define DIGITS_MAX 16

static bool read_number(const char *text, uint64_t *ret)
{
    uint64_t number = 0;
    unsigned digits = 0;

    for (; text[digits] >= '0' && text[digits] <= '9'; digits++) {
        if (digits == DIGITS_MAX)
            return false;
        number = number * 10 + (uint64_t)(text[digits] - '0');
    }
    if (digits == 0 || text[digits] != '\0')
        return false;
    *ret = number;
    return true;
}

/* Times that were never noted are "". */
static bool read_time(const char *text, uint64_t *ret)
{
    *ret = 0;
    return text[0] == '\0' || read_number(text, ret);
}

/* Words without spaces; they may be shown to people. */
static bool read_word(const char *text, char *out, size_t size)
{
    size_t len = strlen(text);

    if (len >= size)
        return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] >= 0x7f)
            return false;
    memcpy(out, text, len + 1);
    return true;
}

/* It is only for people, so it may be cut, and is made harmless. */
static void read_members(const char *text, char out[QL_MEMBERS_MAX + 1])
{
    size_t len = strnlen(text, QL_MEMBERS_MAX);

    for (size_t i = 0; i < len; i++)
        out[i] = text[i] < ' ' || text[i] >= 0x7f ? '?' : text[i];
    out[len] = '\0';
}

static enum ql_record_state read_state(const char *text)
{
    static const struct {
        const char *word;
        enum ql_record_state state;
    } states[] = {
        {"forming", QL_RECORD_FORMING},
        {"ready", QL_RECORD_READY},
        {"quarantine", QL_RECORD_QUARANTINE},
        {"removed", QL_RECORD_REMOVED},
    };

    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(text, states[i].word) == 0)
            return states[i].state;
    return QL_RECORD_STRANGE;
}

bool ql_record_read(struct ql_record *record, const char *now,
                    const char *const field[QL_RECORD_FIELDS])
{
    struct ql_record it = {.state = QL_RECORD_STRANGE};
    bool good;

    *record = it;
    if (!read_number(now, &record->now_us))
        return false;
    it.now_us = record->now_us;
    good = read_word(field[FIELD_CFG], it.cfg, sizeof it.cfg) &&
           read_word(field[FIELD_PREV], it.prev, sizeof it.prev) &&
           read_word(field[FIELD_RUN], it.run, sizeof it.run) &&
           read_number(field[FIELD_HW], &it.hw) &&
           read_number(field[FIELD_MAX_TTL], &it.max_ttl_ms) &&
           read_number(field[FIELD_SLACK], &it.slack_ms) &&
           read_time(field[FIELD_AT], &it.at_us) &&
           read_time(field[FIELD_REF], &it.ref_us) &&
           read_word(field[FIELD_Q_RUN], it.q_run, sizeof it.q_run) &&
           read_word(field[FIELD_SYNC], it.sync, sizeof it.sync);
    read_members(field[FIELD_MEMBERS], it.members);
    read_members(field[FIELD_PLAN], it.plan);
    it.state = read_state(field[FIELD_STATE]);
    if (good && it.state != QL_RECORD_STRANGE)
        *record = it;
    return true;
}

bool ql_record_read_absent(struct ql_record *record, const char *now)
{
    *record = (struct ql_record){.state = QL_RECORD_ABSENT};
    return read_number(now, &record->now_us);
}
