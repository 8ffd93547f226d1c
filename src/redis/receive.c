/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replies, one by one, each for the first request of the queue. A reply that
 * cannot be that request's answer ends the connection: after it, nothing that
 * comes could be attributed.
 */
#include "redis/inner.h"

#include <errno.h>

#include "redis/answer.h"
#include "redis/guarded.h"
#include "redis/verdict.h"

/* So much is read at one go, for the sake of the other nodes. */
#define READS_MAX 16

static void become_ready(struct ql_node *node, uint64_t now)
{
    node->state = QL_NODE_READY;
    node->reason = QL_V_GRANTED;
    node->text[0] = '\0';
    node->ready_at = now;
    for (unsigned i = 0; i < node->queue.count; i++)
        ql_guarded_stamp(ql_queue_at(&node->queue, i), node->run_id,
                         node->seen);
    if (node->config.ready)
        node->config.ready(node, node->config.ctx);
    if (node->barring)
        ql_connection_bar(node, now);
    ql_connection_expire(node, now);
    ql_connection_write(node);
}

static void take_greeting(struct ql_node *node, uint64_t now)
{
    struct ql_request request = ql_queue_pop(&node->queue);
    char text[QL_TEXT_MAX];
    ql_verdict verdict = ql_greet_reply(node, &request, text, now);

    ql_request_free(&request);
    if (verdict != QL_V_NONE)
        ql_connection_fail(node, verdict, text, now);
    else if (node->queue.count == 0 ||
             ql_queue_at(&node->queue, 0)->job != QL_JOB_GREET)
        become_ready(node, now);
}

/* If the script could not be loaded, the command behind says so. */
static void take_load(struct ql_node *node)
{
    struct ql_request request = ql_queue_pop(&node->queue);

    node->loading[request.script] = false;
    ql_request_free(&request);
}

/*
 * The server has forgotten the script (SCRIPT FLUSH, say): load it and send
 * the command once more, at the end of the queue. What it overtakes, or is
 * overtaken by, is about other tokens or comes before its token's release; see
 * may_retry().
 */
static void load_again(struct ql_node *node, uint64_t now)
{
    struct ql_request request = ql_queue_pop(&node->queue);
    unsigned script = (unsigned)request.script;
    struct ql_request load = {.job = QL_JOB_LOAD, .sent_at = now};

    request.retried = true;
    /* There is room: the request's own, and ql_node_send() keeps some for one
     * load of each script. */
    if (node->loading[script]) {
        ql_queue_push(&node->queue, &request);
    } else if (ql_request_load(&load, script)) {
        node->loading[script] = true;
        ql_queue_push(&node->queue, &load);
        ql_queue_push(&node->queue, &request);
    } else {
        ql_queue_push(&node->queue, &request);
        ql_connection_fail(node, QL_V_NOMEM, "out of memory", now);
    }
}

/*
 * Not twice; and not behind the release of what it would set: that would stay.
 */
static bool may_retry(const struct ql_queue *queue,
                      const struct ql_request *first)
{
    bool sets =
        first->guarded && first->kind != QL_CMD_RELEASE && first->token[0];

    return !first->retried &&
           !(sets && ql_queue_releases(queue, 1, first->token));
}

/*
 * A release that the server would not do now, but may do soon: its key is still
 * there, and it is owed until it is gone.
 */
static bool is_put_off(const struct ql_request *request, ql_verdict verdict)
{
    if (request->kind != QL_CMD_RELEASE)
        return false;
    switch (verdict) {
    case QL_V_LOADING:
    case QL_V_READONLY:
    case QL_V_MISCONF:
    case QL_V_OOM:
    case QL_V_BUSY:
    case QL_V_NOREPLICAS:
        return true;
    default:
        return false;
    }
}

static void note_answer(struct ql_node *node, const struct ql_request *request,
                        struct ql_answer *answer, uint64_t now)
{
    if (!request->guarded)
        return;
    if (answer->record) {
        ql_seen_record(node, answer->record, request->sent_at, now);
        answer->record = &node->sight.record;
    } else if (request->kind != QL_CMD_INSPECT) {
        ql_seen_number(node, answer);
    }
}

static void take_answer(struct ql_node *node, uint64_t now)
{
    const struct ql_request *first = ql_queue_at(&node->queue, 0);
    const struct ql_value *root = &node->reply.root;
    struct ql_answer answer = {.sent = true};
    struct ql_request request, copy;
    struct ql_record record;
    bool noscript = root->type == QL_VALUE_ERROR && first->script >= 0 &&
                    ql_verdict_is_noscript(root->string, root->len);

    if (noscript && may_retry(&node->queue, first)) {
        load_again(node, now);
        return;
    }
    if (!ql_answer_read(&answer, first, &node->reply, &record)) {
        ql_connection_fail(node, QL_V_PROTOCOL,
                           "a reply that does not fit the command", now);
        return;
    }
    note_answer(node, first, &answer, now);
    request = copy = ql_queue_pop(&node->queue);
    /* Whoever has the script flushed twice in a row may stop doing so. */
    if (is_put_off(&request, answer.verdict) ||
        (noscript && request.kind == QL_CMD_RELEASE))
        ql_connection_owe(node, &request, now);
    else
        ql_request_free(&request);
    ql_tell_answer(node, &copy, &answer, now);
}

/* Some servers explain themselves before they close: too many clients. */
static void take_unasked(struct ql_node *node, uint64_t now)
{
    const struct ql_value *root = &node->reply.root;

    if (root->type == QL_VALUE_ERROR)
        ql_connection_break(node, ql_verdict_of_error(root->string, root->len),
                            root->string, root->len, now);
    else
        ql_connection_fail(node, QL_V_PROTOCOL, "a reply that nobody asked for",
                           now);
}

static void take_reply(struct ql_node *node, uint64_t now)
{
    if (node->queue.count == 0 || !ql_queue_written(&node->queue, 0)) {
        take_unasked(node, now);
        return;
    }
    node->heard_at = now;
    if (node->state == QL_NODE_SUSPECT) {
        node->state = QL_NODE_READY;
        node->reason = QL_V_GRANTED;
        node->text[0] = '\0';
    }
    switch (ql_queue_at(&node->queue, 0)->job) {
    case QL_JOB_GREET:
        take_greeting(node, now);
        break;
    case QL_JOB_LOAD:
        take_load(node);
        break;
    default:
        take_answer(node, now);
        break;
    }
}

static void take_fault(struct ql_node *node, enum ql_reply_result result,
                       uint64_t now)
{
    if (result == QL_REPLY_NOMEM)
        ql_connection_fail(node, QL_V_NOMEM, "out of memory", now);
    else
        ql_connection_fail(node, QL_V_PROTOCOL,
                           ql_reply_fault(node->reader, &node->reply), now);
}

/* False: the connection is gone. */
static bool take_bytes(struct ql_node *node, const char *bytes, size_t len,
                       uint64_t now)
{
    enum ql_reply_result result =
        ql_reply_feed(node->reader, &node->reply, bytes, len);

    while (result == QL_REPLY_DONE) {
        result = ql_reply_next(node->reader, &node->reply);
        if (result != QL_REPLY_DONE)
            break;
        take_reply(node, now);
        if (node->state == QL_NODE_DOWN)
            return false;
    }
    if (result == QL_REPLY_MORE)
        return true;
    take_fault(node, result, now);
    return false;
}

void ql_receive(struct ql_node *node, uint64_t now)
{
    char bytes[QL_READ_MAX];

    for (int i = 0; i < READS_MAX; i++) {
        ssize_t n = ql_socket_read(node->fd, bytes, sizeof bytes);

        if (n == -EAGAIN)
            return;
        if (n == 0) {
            ql_connection_fail(node, QL_V_CONNECTION,
                               "the server closed the connection", now);
            return;
        }
        if (n < 0) {
            ql_connection_fail(node, ql_verdict_of_errno((int)-n, false),
                               strerror((int)-n), now);
            return;
        }
        if (!take_bytes(node, bytes, (size_t)n, now))
            return;
        /* Anything behind it would have come along. */
        if ((size_t)n < sizeof bytes)
            return;
    }
}
