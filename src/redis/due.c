/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is due when: time limits, suspicion, the next try. A limit that has
 * passed is only acted upon after a look at the socket, because a process that
 * was stopped finds the answer waiting.
 */
#include "redis/inner.h"

#include <stdio.h>

#include "redis/verdict.h"

/* A server that has been silent for so long is not expected any more. */
#define GIVE_UP_NS (30 * QL_NS_PER_S)

static uint64_t later(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Silence counts from the last reply, or from the first question after it. */
static uint64_t suspicion_at(const struct ql_node *node)
{
    uint64_t since;

    if (node->queue.count == 0)
        return UINT64_MAX;
    since = ql_queue_at(&node->queue, 0)->sent_at;
    if (node->heard_at > since)
        since = node->heard_at;
    return later(since, node->config.node_timeout_ns);
}

uint64_t ql_node_deadline(const struct ql_node *node)
{
    if (node->write_error || node->barring)
        return 0;
    switch (node->state) {
    case QL_NODE_DOWN:
        return node->retry_at;
    case QL_NODE_CONNECTING:
    case QL_NODE_GREETING:
        return node->until;
    case QL_NODE_READY:
        return node->debts.count > 0 && node->pay_at < suspicion_at(node)
                   ? node->pay_at
                   : suspicion_at(node);
    case QL_NODE_SUSPECT:
        return later(node->suspect_at, GIVE_UP_NS);
    }
    return UINT64_MAX;
}

static void suspect(struct ql_node *node, uint64_t now)
{
    node->state = QL_NODE_SUSPECT;
    node->suspect_at = now;
    node->reason = QL_V_SUSPECT;
    snprintf(node->text, sizeof node->text, "no answer within %llu ms",
             (unsigned long long)(node->config.node_timeout_ns / 1000000));
}

/* A server that would not release a key may do so by now. Without the memory to
 * ask, later. */
static void pay(struct ql_node *node, uint64_t now)
{
    if (ql_connection_pay(node, now))
        ql_connection_write(node);
    else
        node->pay_at = now + QL_NS_PER_S;
}

static void fail_after(struct ql_node *node, ql_verdict verdict,
                       const char *what, uint64_t limit_ns, uint64_t now)
{
    char text[QL_TEXT_MAX];

    snprintf(text, sizeof text, "%s within %llu ms", what,
             (unsigned long long)(limit_ns / 1000000));
    ql_connection_fail(node, verdict, text, now);
}

/* The time limit of `state` is over, and the socket has nothing new. */
static void expire(struct ql_node *node, uint64_t now)
{
    uint64_t limit = node->config.connect_timeout_ns;

    switch (node->state) {
    case QL_NODE_DOWN:
        ql_connection_start(node, now);
        break;
    case QL_NODE_CONNECTING:
        ql_connection_rotate(node);
        fail_after(node, QL_V_CONNECTING, "no connection", limit, now);
        break;
    case QL_NODE_GREETING:
        fail_after(node, QL_V_TIMEOUT, "no answer to the greeting", limit, now);
        break;
    case QL_NODE_READY:
        if (now >= suspicion_at(node))
            suspect(node, now);
        else
            pay(node, now);
        break;
    case QL_NODE_SUSPECT:
        fail_after(node, QL_V_SUSPECT, "no answer", GIVE_UP_NS, now);
        break;
    }
}

void ql_node_time(struct ql_node *node, uint64_t now)
{
    if (now < ql_node_deadline(node))
        return;
    /* If it was us who slept, the answer is there already. */
    ql_node_io(node, true, false, now);
    if (node->write_error)
        ql_connection_fail(node, ql_verdict_of_errno(node->write_error, false),
                           strerror(node->write_error), now);
    else if (now >= ql_node_deadline(node))
        expire(node, now);
}
