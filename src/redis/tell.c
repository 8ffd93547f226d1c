/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the owner what became of a request. */
#include "redis/inner.h"

void ql_tell_answer(struct ql_node *node, const struct ql_request *request,
                    struct ql_answer *answer, uint64_t now)
{
    if (request->quiet || request->job != QL_JOB_COMMAND)
        return;
    answer->kind = request->kind;
    answer->round = request->round;
    answer->owner = request->owner;
    answer->took_ns = now > request->sent_at ? now - request->sent_at : 0;
    node->config.answer(node, answer, node->config.ctx);
}

void ql_tell_without(struct ql_node *node, const struct ql_request *request,
                     bool sent, ql_verdict verdict, const char *text,
                     uint64_t now)
{
    struct ql_answer answer = {
        .verdict = verdict,
        .sent = sent,
        .text = text,
        .text_len = strlen(text),
        .remaining_ms = -1,
    };

    ql_tell_answer(node, request, &answer, now);
}
