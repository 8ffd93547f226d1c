/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node that keeps its promises: one key, and fenced, the record of its lease
 * and its number, as the guarded scripts have them.
 */
#include "core/time.h"
#include "core_world.h"

static uint32_t owner(const struct world *w, const struct node *node)
{
    if (node->token != 0 && w->now < node->expires_at)
        return node->token;
    if (w->rules.fenced && node->end == QL_PREV_ENDED &&
        w->now < node->lease_until)
        return node->last;
    return 0;
}

static void own(struct world *w, struct node *node, const struct message *m)
{
    node->token = node->last = m->token;
    node->expires_at = ql_time_add(w->now, m->ttl_ns);
    node->lease_until = ql_time_add(node->expires_at, w->rules.linger_ns);
    node->end = QL_PREV_ENDED; /* unless it is released */
}

static void acquire(struct world *w, struct node *node, struct message *m)
{
    if (m->answer != QL_VOTE_MISSING) { /* ours, too */
        m->answer = QL_VOTE_FOREIGN;
        return;
    }
    m->answer = QL_VOTE_YES;
    m->prev = (struct ql_prev){
        .end = node->end, .holder = node->last, .fence = node->number};
    node->number = m->fence > node->number ? m->fence : node->number + 1;
    own(w, node, m);
}

static void extend(struct world *w, struct node *node, struct message *m)
{
    bool fenced = w->rules.fenced;

    if (m->answer == QL_VOTE_YES && fenced && m->fence != 0 &&
        node->number != m->fence) {
        m->answer = QL_VOTE_MISSING;
    } else if (m->answer == QL_VOTE_YES) {
        own(w, node, m);
    } else if (m->answer == QL_VOTE_MISSING && fenced && m->fence != 0 &&
               node->number <= m->fence) {
        m->repaired = true;
        node->number = m->fence;
        own(w, node, m);
    }
}

void serve(struct world *w, unsigned n, struct message *m)
{
    struct node *node = &w->node[n];
    uint32_t had_by = owner(w, node);

    m->answer = had_by == 0          ? QL_VOTE_MISSING
                : had_by == m->token ? QL_VOTE_YES
                                     : QL_VOTE_FOREIGN;
    if (m->answer == QL_VOTE_FOREIGN)
        m->holder = had_by;
    if (node->token != 0 && node->token == had_by)
        m->remaining_ns = ql_time_sub(node->expires_at, w->now);
    switch (m->request) {
    case QL_REQ_ACQUIRE:
        acquire(w, node, m);
        break;
    case QL_REQ_CONFIRM:
        if (m->answer == QL_VOTE_YES)
            node->number = ql_time_max(node->number, m->fence);
        break;
    case QL_REQ_EXTEND:
        extend(w, node, m);
        break;
    case QL_REQ_RELEASE:
        if (m->answer == QL_VOTE_YES) {
            node->token = 0;
            node->end = QL_PREV_RELEASED;
        }
        break;
    case QL_REQ_INSPECT:
        break;
    }
    m->number = node->number;
}
