/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fencing tokens: a grant counts only if a majority of the nodes have each
 * said, in one answer, that they are ours and have the number t, which then is
 * the token. A node whose number is smaller can be raised to it by a confirm;
 * what it answers then is counted, not that it answered.
 */
#include "core/steps.h"
#include "core/time.h"

/* It said yes, with the number `fence`, and was sent no larger one since. */
static bool has(const struct ql_machine *m, unsigned node, uint64_t fence)
{
    return m->peer[node].vote == QL_VOTE_YES && m->peer[node].fence == fence &&
           fence >= m->confirm;
}

uint64_t ql_fence_agreed(const struct ql_machine *m)
{
    for (unsigned i = 0; i < m->rules->nodes; i++) {
        unsigned count = 0;

        for (unsigned j = 0; j < m->rules->nodes; j++)
            count += has(m, j, m->peer[i].fence);
        if (count >= m->rules->quorum)
            return m->peer[i].fence;
    }
    return 0;
}

static void send_confirm(struct ql_machine *m, struct ql_actions *out,
                         unsigned node, uint64_t fence)
{
    struct ql_action *action = &out->list[out->count];

    ql_send(m, out, node, QL_REQ_CONFIRM, 0);
    action->round = m->acquire_round;
    action->fence = fence;
}

/* Nodes that said yes and can have what was sent in the confirms, or have it
 * already: a number never becomes smaller. */
static unsigned within_reach(const struct ql_machine *m)
{
    unsigned count = 0;

    for (unsigned i = 0; i < m->rules->nodes; i++)
        count +=
            m->peer[i].vote == QL_VOTE_YES && m->peer[i].fence <= m->confirm;
    return count;
}

static uint64_t largest(const struct ql_machine *m)
{
    uint64_t fence = 0;

    for (unsigned i = 0; i < m->rules->nodes; i++)
        if (m->peer[i].vote == QL_VOTE_YES)
            fence = ql_time_max(fence, m->peer[i].fence);
    return fence;
}

/*
 * The largest number that a node has answered goes to all that have another,
 * and behind their acquire to those not heard of. A larger one that is answered
 * after that is let be as long as a majority can have what was sent: to follow
 * it would cost one round more. So after one round of confirms another follows
 * only when a node has dropped out, and there are only so many.
 */
void ql_fence_confirm(struct ql_machine *m, struct ql_actions *out)
{
    if (within_reach(m) >= m->rules->quorum)
        return;
    m->confirm = largest(m);
    for (unsigned i = 0; i < m->rules->nodes; i++) {
        const struct ql_peer *peer = &m->peer[i];

        if (peer->vote == QL_VOTE_ASKED ||
            (peer->vote == QL_VOTE_YES && peer->fence < m->confirm))
            send_confirm(m, out, i, m->confirm);
    }
}

static bool has_released(const struct ql_machine *m, uint32_t holder)
{
    for (unsigned i = 0; i < m->rules->nodes; i++)
        if (has(m, i, m->fence) && m->peer[i].prev.end == QL_PREV_RELEASED &&
            m->peer[i].prev.holder == holder)
            return true;
    return false;
}

/*
 * Whether a holder before us ended without a release: some node saw its lease
 * run out, and none saw it release. Whoever had a node after that, for an
 * attempt that came to nothing, does not hide it, though its number is larger.
 */
static bool has_died(const struct ql_machine *m)
{
    for (unsigned i = 0; i < m->rules->nodes; i++) {
        const struct ql_prev *prev = &m->peer[i].prev;

        if (!has(m, i, m->fence))
            continue;
        if (prev->end == QL_PREV_ENDED && !has_released(m, prev->holder))
            return true;
        for (unsigned k = 0; k < QL_EARLIER_MAX; k++)
            if (prev->earlier[k] && !has_released(m, prev->earlier[k]))
                return true;
    }
    return false;
}

void ql_fence_grant(struct ql_machine *m, struct ql_actions *out)
{
    m->fence = ql_fence_agreed(m);
    m->died = has_died(m);
    for (unsigned i = 0; i < m->rules->nodes; i++)
        if (m->peer[i].vote == QL_VOTE_YES)
            ql_fence_align(m, i, out);
}

/*
 * A node that is ours, but under a smaller number, would be none of ours at an
 * extension. If the token went out in the confirms, it was sent to this one.
 */
void ql_fence_align(struct ql_machine *m, unsigned node, struct ql_actions *out)
{
    if (m->peer[node].fence < m->fence && m->confirm < m->fence)
        send_confirm(m, out, node, m->fence);
}

void ql_fence_close(struct ql_machine *m)
{
    for (unsigned i = 0; i < m->rules->nodes; i++)
        if (m->peer[i].vote == QL_VOTE_YES && m->peer[i].fence < m->confirm)
            ql_cast(m, i, QL_VOTE_FAILED);
}
