/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking at the nodes without touching them: is it ours, and whose is it? */
#include <assert.h>

#include "core/steps.h"
#include "core/time.h"
#include "core/validity.h"

void ql_inspect_begin(struct ql_machine *m, enum ql_errand errand,
                      struct ql_actions *out)
{
    assert(m->errand == QL_ERRAND_NONE || m->errand == QL_ERRAND_RENEW);
    m->errand = errand;
    ql_open_round(m, ql_time_add(m->now, m->rules->node_timeout_ns));
    for (unsigned i = 0; i < m->rules->nodes; i++) {
        ql_cast(m, i, QL_VOTE_ASKED);
        ql_send(m, out, i, QL_REQ_INSPECT, 0);
    }
}

/* The longest time for which a majority still has the key. */
static uint64_t majority_remaining(const struct ql_machine *m)
{
    uint64_t best = 0;

    for (unsigned i = 0; i < m->rules->nodes; i++) {
        unsigned at_least = 0;

        if (m->peer[i].vote != QL_VOTE_YES)
            continue;
        for (unsigned j = 0; j < m->rules->nodes; j++)
            at_least += m->peer[j].vote == QL_VOTE_YES &&
                        m->peer[j].remaining_ns >= m->peer[i].remaining_ns;
        if (at_least >= m->rules->quorum)
            best = ql_time_max(best, m->peer[i].remaining_ns);
    }
    return best;
}

/* A server's word may shorten the validity; only our own clock makes it. */
static void verified(struct ql_machine *m, struct ql_actions *out)
{
    uint64_t until =
        ql_valid_until(m->t0, majority_remaining(m), m->rules->drift_ppm);

    if (m->state == QL_ST_HELD)
        m->valid_until = ql_time_min(m->valid_until, until);
    m->errand = QL_ERRAND_NONE;
    ql_tell(out, QL_OUT_VERIFIED);
}

static void decide_verify(struct ql_machine *m, struct ql_actions *out)
{
    enum ql_ballot_state state = ql_ballot_state(&m->ballot);
    unsigned against =
        m->ballot.count[QL_VOTE_MISSING] + m->ballot.count[QL_VOTE_FOREIGN];

    if (state == QL_BALLOT_WON) {
        verified(m, out);
    } else if (against >= ql_ballot_veto(&m->ballot)) {
        m->valid_until = 0;
        if (m->state == QL_ST_HELD || m->state == QL_ST_ADOPTED) {
            ql_hold_lose(m, QL_OUT_GONE, out);
        } else {
            m->errand = QL_ERRAND_NONE;
            ql_tell(out, QL_OUT_GONE);
        }
    } else if (state == QL_BALLOT_LOST) {
        m->errand = QL_ERRAND_NONE;
        ql_tell(out, QL_OUT_NO_QUORUM);
    }
}

/* Who looks wants to see every node, so this one waits for all of them. */
static void decide_inspect(struct ql_machine *m, struct ql_actions *out)
{
    unsigned quorum = m->rules->quorum;
    const uint8_t *count = m->ballot.count;

    if (count[QL_VOTE_ASKED] > 0)
        return;
    m->errand = QL_ERRAND_NONE;
    if (ql_ballot_answered(&m->ballot) < quorum)
        ql_tell(out, QL_OUT_NO_QUORUM);
    else if (count[QL_VOTE_MISSING] >= quorum)
        ql_tell(out, QL_OUT_FREE);
    else if (ql_largest_holding(m) >= quorum || count[QL_VOTE_YES] >= quorum)
        ql_tell(out, QL_OUT_HELD);
    else
        ql_tell(out, QL_OUT_SPLIT);
}

static void decide(struct ql_machine *m, struct ql_actions *out)
{
    if (m->errand == QL_ERRAND_VERIFY)
        decide_verify(m, out);
    else
        decide_inspect(m, out);
}

void ql_inspect_vote(struct ql_machine *m, const struct ql_event *ev,
                     struct ql_actions *out)
{
    struct ql_peer *peer = &m->peer[ev->node];

    if (m->errand != QL_ERRAND_VERIFY && m->errand != QL_ERRAND_INSPECT)
        return;
    if (peer->vote != QL_VOTE_ASKED)
        return;
    peer->holder = ev->holder;
    peer->remaining_ns = ev->remaining_ns;
    ql_cast(m, ev->node, ev->vote);
    decide(m, out);
}

void ql_inspect_timeout(struct ql_machine *m, struct ql_actions *out)
{
    ql_close_round(m);
    decide(m, out);
}
