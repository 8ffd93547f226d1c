/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a node does. Fenced, it is the guarded scripts in a few lines: beside
 * the key there is a record of the lease, which lasts for longer, and a number,
 * which stays for ever.
 */
#include "core/time.h"
#include "world_inside.h"

bool world_key_there(const struct world *w, const struct world_node *node)
{
    return node->token != 0 && w->now < node->expires_at;
}

uint64_t world_owner(const struct world *w, const struct world_node *node)
{
    if (world_key_there(w, node))
        return node->token;
    if (w->rules.fenced && node->end == QL_PREV_ENDED &&
        w->now < node->lease_until)
        return node->last;
    return 0;
}

/* A key lives for its ttl in whole milliseconds, by the node's own clock. */
static void set_key(const struct world *w, struct world_node *node,
                    const struct world_request *request)
{
    uint64_t ms = (request->ttl_ns + QL_NS_PER_MS - 1) / QL_NS_PER_MS;
    uint64_t life = ms * (QL_NS_PER_MS - node->fast_ppm);

    node->token = request->token;
    node->expires_at = w->now + life;
    node->last = request->token;
    node->end = QL_PREV_ENDED; /* unless it is released */
    node->lease_until = node->expires_at + w->rules.linger_ns;
}

static void acquire(const struct world *w, struct world_node *node,
                    struct world_request *request)
{
    struct ql_event *answer = &request->answer;

    if (world_owner(w, node) != 0) {
        answer->vote = QL_VOTE_FOREIGN;
        return;
    }
    answer->vote = QL_VOTE_YES;
    if (w->rules.fenced) {
        answer->prev = (struct ql_prev){.end = node->end,
                                        .holder = (uint32_t)node->last,
                                        .fence = node->fence};
        node->fence =
            request->fence > node->fence ? request->fence : node->fence + 1;
        answer->fence = node->fence;
    }
    set_key(w, node, request);
}

static void confirm(const struct world *w, struct world_node *node,
                    struct world_request *request)
{
    if (world_owner(w, node) != request->token) {
        request->answer.vote = QL_VOTE_MISSING;
        return;
    }
    node->fence = ql_time_max(node->fence, request->fence);
    request->answer.vote = QL_VOTE_YES;
    request->answer.fence = node->fence;
}

/* Ours, but under another number, is not ours; nobody's is put back, if the
 * number has not gone beyond the token. */
static void extend(const struct world *w, struct world_node *node,
                   struct world_request *request)
{
    struct ql_event *answer = &request->answer;
    uint64_t token = request->fence;

    if (answer->vote == QL_VOTE_YES && w->rules.fenced && token != 0 &&
        node->fence != token)
        answer->vote = QL_VOTE_MISSING;
    else if (answer->vote == QL_VOTE_YES)
        set_key(w, node, request);
    else if (answer->vote == QL_VOTE_MISSING && token != 0 &&
             node->fence <= token) {
        answer->repaired = true;
        node->fence = token;
        set_key(w, node, request);
    }
    answer->fence = node->fence;
}

static void look(const struct world *w, const struct world_node *node,
                 struct world_request *request)
{
    struct ql_event *answer = &request->answer;
    uint64_t had_by = world_owner(w, node);

    answer->vote = had_by == 0                ? QL_VOTE_MISSING
                   : had_by == request->token ? QL_VOTE_YES
                                              : QL_VOTE_FOREIGN;
    if (world_key_there(w, node))
        answer->remaining_ns = node->expires_at - w->now;
    if (answer->vote == QL_VOTE_FOREIGN)
        answer->holder = (uint32_t)had_by;
}

void world_serve(struct world *w, struct world_node *node,
                 struct world_request *request)
{
    struct ql_event *answer = &request->answer;
    bool votes =
        request->kind == QL_REQ_ACQUIRE || request->kind == QL_REQ_EXTEND;

    request->done = true;
    if (node->bars) {
        answer->vote = QL_VOTE_BARRED;
        return;
    }
    if (votes && w->rules.fenced && world_chance(w, w->skewed_per_mille)) {
        answer->vote = QL_VOTE_SKEWED;
        return;
    }
    look(w, node, request);
    if (request->kind == QL_REQ_ACQUIRE) {
        answer->holder = 0;
        answer->remaining_ns = 0;
        acquire(w, node, request);
    } else if (request->kind == QL_REQ_CONFIRM) {
        confirm(w, node, request);
    } else if (request->kind == QL_REQ_EXTEND) {
        extend(w, node, request);
    } else if (request->kind == QL_REQ_RELEASE && answer->vote == QL_VOTE_YES) {
        node->token = 0;
        node->end = QL_PREV_RELEASED;
    } else if (request->kind == QL_REQ_INSPECT && request->fence != 0 &&
               answer->vote == QL_VOTE_YES && node->fence != request->fence) {
        answer->vote = QL_VOTE_FOREIGN;
    }
}
