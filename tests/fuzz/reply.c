/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: any bytes from a server, in pieces of any size, read as the
 * answers to a row of commands. Whatever comes, memory stays within its bounds
 * and each verdict is one that the command can bring.
 */
#include <string.h>

#include "fuzz.h"
#include "redis/answer.h"

static void check_value(const struct ql_reply *reply,
                        const struct ql_value *value)
{
    if (value->type != QL_VALUE_STRING && value->type != QL_VALUE_STATUS &&
        value->type != QL_VALUE_ERROR)
        return;
    require(value->len <= QL_REPLY_BYTES);
    require(value->string >= reply->bytes &&
            value->string + value->len < reply->bytes + sizeof(reply->bytes));
    require(value->string[value->len] == '\0');
}

static void check_reply(const struct ql_reply *reply)
{
    check_value(reply, &reply->root);
    if (reply->root.type != QL_VALUE_ARRAY)
        return;
    require(reply->count <= QL_REPLY_ITEMS);
    for (unsigned i = 0; i < reply->count; i++) {
        require(reply->item[i].type != QL_VALUE_ARRAY);
        check_value(reply, &reply->item[i]);
    }
}

/* A number that counts is one that a script can have given. */
static void check_guarded(const struct ql_answer *answer)
{
    static const uint64_t limit = (UINT64_C(1) << 53) - 1;

    require(answer->time_us < limit && answer->fence < limit);
    require(answer->prev_fence < limit);
    require(answer->prev >= 0 && answer->prev <= 2);
    if (answer->kind == QL_CMD_SET && answer->verdict == QL_V_GRANTED)
        require(answer->fence > 0 && answer->prev_token && answer->earlier);
    if (answer->verdict == QL_V_REPAIRED)
        require(answer->fence > 0 && answer->kind == QL_CMD_EXTEND);
    if (!answer->record)
        return;
    require(answer->kind == QL_CMD_RECORD);
    require(strlen(answer->record->cfg) <= QL_CFG_MAX);
    require(strlen(answer->record->run) <= QL_RUN_ID_MAX);
    require(strlen(answer->record->members) <= QL_MEMBERS_MAX);
}

static void read_answer(const struct ql_reply *reply, int kind, bool guarded)
{
    struct ql_request request = {.job = QL_JOB_COMMAND,
                                 .kind = (uint8_t)kind,
                                 .guarded = guarded,
                                 .token = "0123456789"};
    struct ql_answer answer = {.kind = kind, .sent = true};
    struct ql_record record;

    if (!ql_answer_read(&answer, &request, reply, &record))
        return;
    require(answer.verdict > QL_V_PENDING && answer.verdict < QL_V_COUNT);
    require(answer.remaining_ms >= -1);
    require(answer.text_len == 0 || answer.text);
    if (kind == QL_CMD_SET)
        require(answer.verdict != QL_V_MISSING);
    if (guarded)
        check_guarded(&answer);
}

static void read_answers(const struct ql_reply *reply)
{
    for (int kind = QL_CMD_SET; kind <= QL_CMD_INSPECT; kind++)
        read_answer(reply, kind, false);
    for (int kind = QL_CMD_SET; kind <= QL_CMD_RECORD; kind++)
        read_answer(reply, kind, true);
}

/* The first byte of the input says how large the pieces are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ql_reply reply;
    redisReader *reader = ql_reply_reader(&reply);
    size_t piece = size ? (size_t)data[0] * 8 + 1 : 1;
    enum ql_reply_result result = QL_REPLY_MORE;

    require(reader);
    for (size_t at = 1; at < size; at += piece) {
        size_t len = size - at < piece ? size - at : piece;

        result = ql_reply_feed(reader, &reply, (const char *)data + at, len);
        while (result == QL_REPLY_DONE) {
            result = ql_reply_next(reader, &reply);
            if (result != QL_REPLY_DONE)
                break;
            check_reply(&reply);
            read_answers(&reply);
        }
        if (result != QL_REPLY_MORE)
            break;
        require(reader->len - reader->pos <= QL_HELD_MAX + QL_READ_MAX);
    }
    if (result == QL_REPLY_BAD)
        require(ql_reply_fault(reader, &reply)[0]);
    redisReaderFree(reader);
    return 0;
}
