/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each command has few possible answers, and anything else means that the
 * conversation has lost its order: then no answer may be believed.
 */
#include "redis/answer.h"

#include "redis/guarded.h"
#include "redis/verdict.h"

static bool read_set(struct ql_answer *answer, const struct ql_value *root)
{
    if (root->type == QL_VALUE_NIL)
        answer->verdict = QL_V_HELD;
    else if (root->type == QL_VALUE_STATUS && root->len == 2 &&
             memcmp(root->string, "OK", 2) == 0)
        answer->verdict = QL_V_GRANTED;
    else
        return false;
    return true;
}

/* {value, PTTL}: somebody's key. */
static bool read_key(struct ql_answer *answer, const struct ql_request *request,
                     const struct ql_reply *reply)
{
    const struct ql_value *value = &reply->item[0];
    const struct ql_value *pttl = &reply->item[1];

    if (reply->count != 2 || value->type != QL_VALUE_STRING ||
        pttl->type != QL_VALUE_INTEGER || pttl->integer < -2)
        return false;
    answer->remaining_ms = pttl->integer < 0 ? -1 : pttl->integer;
    if (request->kind == QL_CMD_INSPECT &&
        ql_value_is_ours(value, request->token)) {
        answer->verdict = QL_V_GRANTED;
        return true;
    }
    answer->verdict = QL_V_HELD;
    answer->text = value->string;
    answer->text_len = value->len;
    return true;
}

static bool read_script(struct ql_answer *answer,
                        const struct ql_request *request,
                        const struct ql_reply *reply)
{
    const struct ql_value *root = &reply->root;

    if (root->type == QL_VALUE_ARRAY)
        return read_key(answer, request, reply);
    if (root->type != QL_VALUE_INTEGER)
        return false;
    if (root->integer == 0)
        answer->verdict = QL_V_MISSING;
    else if (root->integer == 1 && request->kind != QL_CMD_INSPECT)
        answer->verdict = QL_V_GRANTED;
    else
        return false;
    return true;
}

bool ql_answer_read(struct ql_answer *answer, const struct ql_request *request,
                    const struct ql_reply *reply, struct ql_record *record)
{
    const struct ql_value *root = &reply->root;

    answer->text = "";
    answer->text_len = 0;
    answer->remaining_ms = -1;
    if (root->type == QL_VALUE_ERROR) {
        answer->verdict = ql_verdict_of_error(root->string, root->len);
        answer->text = root->string;
        answer->text_len = root->len;
        return true;
    }
    if (request->guarded)
        return ql_guarded_read(answer, request, reply, record);
    if (request->kind == QL_CMD_SET)
        return read_set(answer, root);
    return read_script(answer, request, reply);
}
