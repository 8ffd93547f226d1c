/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of a node's connection: trying one address after the other,
 * writing, and the break, which is where every promise about requests that
 * were not answered is kept.
 */
#include "redis/inner.h"

#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "redis/verdict.h"

#define BACKOFF_MIN_NS UINT64_C(20000000)
#define BACKOFF_MAX_NS UINT64_C(2000000000)
#define PAY_AGAIN_NS   UINT64_C(500000000)
#define PIECES_MAX     64

/* splitmix64, in [low, high]. The jitter need not be good, only different. */
static uint64_t draw(struct ql_node *node, uint64_t low, uint64_t high)
{
    uint64_t z = (node->seed += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return low + (z ^ (z >> 31)) % (high - low + 1);
}

/* A connection that did not last counts as a failure to connect. */
static void plan_retry(struct ql_node *node, uint64_t now)
{
    bool lasted =
        node->state >= QL_NODE_READY && now - node->ready_at >= QL_NS_PER_S;

    if (lasted || node->backoff_ns == 0)
        node->backoff_ns = BACKOFF_MIN_NS;
    else if (node->backoff_ns < BACKOFF_MAX_NS / 2)
        node->backoff_ns *= 2;
    else
        node->backoff_ns = BACKOFF_MAX_NS;
    node->retry_at =
        node->places.count == 0
            ? UINT64_MAX
            : now + draw(node, node->backoff_ns / 2, node->backoff_ns);
}

void ql_connection_close(struct ql_node *node, enum ql_socket_end end)
{
    if (node->fd < 0)
        return;
    /* A set of descriptors that is shared with a parent is the parent's. */
    if (node->config.closing && end != QL_END_FORKED)
        node->config.closing(node, node->fd, node->config.ctx);
    ql_socket_close(node->fd, end);
    node->fd = -1;
    node->write_error = 0;
    if (node->reader)
        redisReaderFree(node->reader);
    node->reader = NULL;
}

/*
 * What is to be released may have been set as late as this, but not later: it
 * went down the same connection, or down one that ended before.
 */
static void owe_from(struct ql_request *request, uint64_t now)
{
    uint64_t late = now > request->sent_at ? now - request->sent_at : 0;

    if (!request->owed)
        request->expires_at = late > UINT64_MAX - request->expires_at
                                  ? UINT64_MAX
                                  : request->expires_at + late;
    request->owed = true;
}

void ql_connection_owe(struct ql_node *node, struct ql_request *request,
                       uint64_t now)
{
    struct ql_queue *debts = &node->debts;

    node->pay_at = now + PAY_AGAIN_NS;

    while (debts->count > 0 && (debts->count >= QL_DEBT_REQUESTS ||
                                debts->bytes + request->size > QL_DEBT_BYTES)) {
        struct ql_request oldest = ql_queue_pop(debts);

        ql_request_free(&oldest);
    }
    if (!ql_queue_reserve(debts, node->config.mem, 1)) {
        ql_request_free(request);
        return;
    }
    owe_from(request, now);
    request->quiet = true;
    request->retried = false;
    ql_queue_push(debts, request);
}

/* The owner may send while it is being answered, which the state DOWN turns
 * into refusals and debts: the queue does not grow under our hands. */
static void answer_all(struct ql_node *node, uint64_t now)
{
    while (node->queue.count > 0) {
        bool sent = ql_queue_begun(&node->queue, 0);
        struct ql_request request = ql_queue_pop(&node->queue);
        struct ql_request copy = request;

        if (request.job == QL_JOB_COMMAND && request.kind == QL_CMD_RELEASE)
            ql_connection_owe(node, &request, now);
        else
            ql_request_free(&request);
        ql_tell_without(node, &copy, sent, node->reason, node->text, now);
    }
}

void ql_connection_break(struct ql_node *node, ql_verdict verdict,
                         const char *text, size_t len, uint64_t now)
{
    /* The text may lie in what is freed next. */
    ql_text_clean(node->text, sizeof node->text, text, len);
    node->reason = verdict;
    /* What has not been delivered must not be: debts will see to the rest. */
    ql_connection_close(node,
                        node->queue.count > 0 ? QL_END_ABORT : QL_END_ORDERLY);
    plan_retry(node, now);
    node->state = QL_NODE_DOWN;
    node->bar = QL_V_NONE;
    node->barring = false;
    answer_all(node, now);
}

void ql_connection_fail(struct ql_node *node, ql_verdict verdict,
                        const char *text, uint64_t now)
{
    ql_connection_break(node, verdict, text, strlen(text), now);
}

void ql_connection_write(struct ql_node *node)
{
    struct iovec pieces[PIECES_MAX];
    bool greeting = node->state == QL_NODE_GREETING;
    int count;

    if (node->state < QL_NODE_GREETING || node->barring)
        return;
    while (node->write_error == 0 &&
           (count = ql_queue_pieces(&node->queue, pieces, PIECES_MAX,
                                    greeting)) > 0) {
        ssize_t n = ql_socket_write(node->fd, pieces, count);

        if (n == -EAGAIN)
            return;
        /* The connection is not broken here: the server may have said why
         * it closed, and that is to be read first. */
        if (n < 0)
            node->write_error = (int)-n;
        else
            ql_queue_wrote(&node->queue, (size_t)n);
    }
}

static void established(struct ql_node *node, uint64_t now)
{
    node->reader = ql_reply_reader(&node->reply);
    if (!node->reader) {
        ql_connection_fail(node, QL_V_NOMEM, "out of memory", now);
        return;
    }
    node->state = QL_NODE_GREETING;
    node->heard_at = now;
    node->greeted_at = now;
    ql_connection_write(node);
}

void ql_connection_rotate(struct ql_node *node)
{
    node->tried++;
    node->place = (node->place + 1) % node->places.count;
}

/* Goes through the addresses until the kernel is at one of them. */
static void try_places(struct ql_node *node, int error, uint64_t now)
{
    while (node->tried < node->places.count) {
        bool done = false;
        int fd = ql_socket_open(&node->places.list[node->place], &done);

        if (fd >= 0) {
            node->fd = fd;
            node->connection++;
            if (done)
                established(node, now);
            return;
        }
        error = -fd;
        ql_connection_rotate(node);
    }
    ql_connection_fail(node, ql_verdict_of_errno(error, true), strerror(error),
                       now);
}

void ql_connection_check(struct ql_node *node, uint64_t now)
{
    int error = ql_socket_status(node->fd);

    if (error == EINPROGRESS)
        return;
    if (error == 0) {
        established(node, now);
        return;
    }
    ql_connection_close(node, QL_END_ORDERLY);
    ql_connection_rotate(node);
    try_places(node, error, now);
}

/* After the greeting they come before anything that is sent later. */
bool ql_connection_pay(struct ql_node *node, uint64_t now)
{
    if (!ql_queue_reserve(&node->queue, node->config.mem, node->debts.count))
        return false;
    while (node->debts.count > 0) {
        struct ql_request debt = ql_queue_pop(&node->debts);

        if (debt.expires_at <= now) {
            ql_request_free(&debt);
            continue;
        }
        debt.sent_at = now;
        ql_queue_push(&node->queue, &debt);
    }
    return true;
}

void ql_connection_start(struct ql_node *node, uint64_t now)
{
    uint64_t limit = node->config.connect_timeout_ns;

    if (node->places.count == 0)
        return;
    node->tried = 0;
    node->until = limit > UINT64_MAX - now ? UINT64_MAX : now + limit;
    memset(node->loading, 0, sizeof node->loading);
    node->state = QL_NODE_CONNECTING;
    if (!ql_greet(node, now) || !ql_connection_pay(node, now)) {
        ql_connection_fail(node, QL_V_NOMEM, "out of memory", now);
        return;
    }
    try_places(node, ECONNREFUSED, now);
}

/* The first from `*index` on that is neither on its way nor a release. */
static bool find_unsent(const struct ql_queue *queue, unsigned *index)
{
    for (; *index < queue->count; (*index)++) {
        const struct ql_request *request = ql_queue_at(queue, *index);

        if (!ql_queue_begun(queue, *index) && request->job == QL_JOB_COMMAND &&
            request->kind != QL_CMD_RELEASE)
            return true;
    }
    return false;
}

static void take_back(struct ql_node *node, unsigned index, ql_verdict verdict,
                      const char *text, uint64_t now)
{
    struct ql_request request = ql_queue_remove(&node->queue, index);

    ql_request_free(&request);
    ql_tell_without(node, &request, false, verdict, text, now);
}

void ql_connection_bar(struct ql_node *node, uint64_t now)
{
    unsigned index = node->queue.written;

    while (node->bar != QL_V_NONE && find_unsent(&node->queue, &index)) {
        if (ql_queue_at(&node->queue, index)->kind == QL_CMD_RECORD)
            index++;
        else
            take_back(node, index, node->bar, node->bar_text, now);
    }
    node->barring = false;
}

void ql_connection_expire(struct ql_node *node, uint64_t now)
{
    uint64_t limit = node->config.node_timeout_ns;
    unsigned index = node->queue.written;
    char text[QL_TEXT_MAX];

    while (find_unsent(&node->queue, &index)) {
        uint64_t sent_at = ql_queue_at(&node->queue, index)->sent_at;

        if (now < sent_at || now - sent_at < limit) {
            index++;
            continue;
        }
        snprintf(text, sizeof text, "could not be sent within %llu ms",
                 (unsigned long long)(limit / 1000000));
        take_back(node, index, QL_V_TIMEOUT, text, now);
    }
}
