/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers of the guarded scripts: {code, TIME, ...}. Each script has its
 * few shapes, and nothing else is believed.
 */
#include "redis/answer.h"
#include "redis/guarded.h"

/* Numbers that the scripts answer are below 2^53 - 1, where doubles are exact,
 * and so are times. */
#define NUMBER_MAX ((INT64_C(1) << 53) - 2)

enum code {
    CODE_CLOCK = -2,
    CODE_REFUSED = -1,
    CODE_NO = 0,
    CODE_YES = 1,
    CODE_REPAIRED = 2,
};

static bool is_text(const struct ql_reply *reply, unsigned index)
{
    return index < reply->count && reply->item[index].type == QL_VALUE_STRING;
}

static bool read_number(const struct ql_reply *reply, unsigned index,
                        int64_t least, uint64_t *ret)
{
    const struct ql_value *item = &reply->item[index];

    if (index >= reply->count || item->type != QL_VALUE_INTEGER ||
        item->integer < least || item->integer > NUMBER_MAX)
        return false;
    *ret = (uint64_t)item->integer;
    return true;
}

static void take_text(struct ql_answer *answer, const struct ql_value *value)
{
    answer->text = value->string;
    answer->text_len = value->len;
}

static bool has_word(const struct ql_value *value, const char *word)
{
    return value->len == strlen(word) &&
           memcmp(value->string, word, value->len) == 0;
}

/* {-1, TIME, reason}: the node may not vote. */
static bool read_refused(struct ql_answer *answer, const struct ql_reply *reply)
{
    const struct ql_value *reason = &reply->item[2];

    if (reply->count != 3 || !is_text(reply, 2))
        return false;
    if (has_word(reason, "cfg"))
        answer->verdict = QL_V_GROUP;
    else if (has_word(reason, "ttl"))
        answer->verdict = QL_V_TTL;
    else
        answer->verdict = QL_V_NOTREADY;
    take_text(answer, reason);
    return true;
}

static bool read_remaining(struct ql_answer *answer,
                           const struct ql_reply *reply, unsigned index)
{
    if (index >= reply->count || reply->item[index].type != QL_VALUE_INTEGER ||
        reply->item[index].integer < -1)
        return false;
    answer->remaining_ms = reply->item[index].integer;
    return true;
}

/* {0, TIME, value, remaining}: somebody else's; or '' and 0: nobody's. But an
 * acquire is only refused for what is there. */
static bool read_no(struct ql_answer *answer, enum ql_command_kind kind,
                    const struct ql_reply *reply)
{
    if (reply->count != 4 || !is_text(reply, 2) ||
        !read_remaining(answer, reply, 3))
        return false;
    if (kind != QL_CMD_SET && reply->item[2].len == 0 &&
        answer->remaining_ms == 0) {
        answer->remaining_ms = -1;
        answer->verdict = QL_V_MISSING;
        return true;
    }
    answer->verdict = QL_V_HELD;
    take_text(answer, &reply->item[2]);
    return true;
}

/* {1, TIME, f, prev, prev_f, prev_token, earlier}. */
static bool read_granted(struct ql_answer *answer, const struct ql_reply *reply)
{
    uint64_t prev;

    if (reply->count != 7 || !read_number(reply, 2, 1, &answer->fence) ||
        !read_number(reply, 3, 0, &prev) || prev > 2 ||
        !read_number(reply, 4, 0, &answer->prev_fence) || !is_text(reply, 5) ||
        !is_text(reply, 6))
        return false;
    answer->prev = (int)prev;
    answer->prev_token = reply->item[5].string;
    answer->earlier = reply->item[6].string;
    return true;
}

static bool read_yes(struct ql_answer *answer, enum ql_command_kind kind,
                     const struct ql_reply *reply)
{
    answer->verdict = QL_V_GRANTED;
    switch (kind) {
    case QL_CMD_SET:
        return read_granted(answer, reply);
    case QL_CMD_RELEASE:
        return reply->count == 2;
    default:
        return reply->count == 3 && read_number(reply, 2, 1, &answer->fence);
    }
}

/* {1 or 0, TIME, value, remaining, f, state}. */
static bool read_inspect(struct ql_answer *answer,
                         const struct ql_request *request, bool there,
                         const struct ql_reply *reply)
{
    uint64_t fence;

    if (reply->count != 6 || !is_text(reply, 2) ||
        !read_remaining(answer, reply, 3) ||
        !read_number(reply, 4, 0, &fence) || !is_text(reply, 5))
        return false;
    if (!there) {
        answer->remaining_ms = -1;
        answer->verdict = QL_V_MISSING;
        return true;
    }
    answer->fence = fence;
    answer->verdict = QL_V_GRANTED;
    if (ql_value_is_ours(&reply->item[2], request->token))
        return true;
    answer->verdict = QL_V_HELD;
    take_text(answer, &reply->item[2]);
    return true;
}

bool ql_guarded_read_record(const struct ql_reply *reply,
                            struct ql_record *record)
{
    const char *field[QL_RECORD_FIELDS];

    if (reply->root.type != QL_VALUE_ARRAY)
        return false;
    for (unsigned i = 0; i < reply->count; i++)
        if (!is_text(reply, i))
            return false;
    if (reply->count == 2 && has_word(&reply->item[1], "absent"))
        return ql_record_read_absent(record, reply->item[0].string);
    if (reply->count != 2 + QL_RECORD_FIELDS ||
        !has_word(&reply->item[1], "present"))
        return false;
    for (unsigned i = 0; i < QL_RECORD_FIELDS; i++)
        field[i] = reply->item[2 + i].string;
    return ql_record_read(record, reply->item[0].string, field);
}

static bool read_record(struct ql_answer *answer, const struct ql_reply *reply,
                        struct ql_record *record)
{
    if (!ql_guarded_read_record(reply, record))
        return false;
    answer->verdict = QL_V_GRANTED;
    answer->record = record;
    answer->time_us = record->now_us;
    return true;
}

bool ql_guarded_read(struct ql_answer *answer, const struct ql_request *request,
                     const struct ql_reply *reply, struct ql_record *record)
{
    enum ql_command_kind kind = request->kind;
    bool judged = kind != QL_CMD_RELEASE && kind != QL_CMD_INSPECT;
    const struct ql_value *code = &reply->item[0];

    if (kind == QL_CMD_RECORD)
        return read_record(answer, reply, record);
    if (reply->root.type != QL_VALUE_ARRAY || reply->count < 2 ||
        code->type != QL_VALUE_INTEGER ||
        !read_number(reply, 1, 1, &answer->time_us))
        return false;
    if (kind == QL_CMD_INSPECT)
        return (code->integer == CODE_YES || code->integer == CODE_NO) &&
               read_inspect(answer, request, code->integer == CODE_YES, reply);
    switch (code->integer) {
    case CODE_YES:
        return read_yes(answer, kind, reply);
    case CODE_REPAIRED:
        answer->verdict = QL_V_REPAIRED;
        return kind == QL_CMD_EXTEND && reply->count == 3 &&
               read_number(reply, 2, 1, &answer->fence);
    case CODE_NO:
        return read_no(answer, kind, reply);
    case CODE_REFUSED:
        return judged && read_refused(answer, reply);
    case CODE_CLOCK:
        answer->verdict = QL_V_CLOCK;
        return (kind == QL_CMD_SET || kind == QL_CMD_EXTEND) &&
               reply->count == 2;
    default:
        return false;
    }
}
