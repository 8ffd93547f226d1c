/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs that the operations are written in: pass to a state, open a round,
 * send, cast a vote, tell. And the table of legal transitions.
 */
#include <assert.h>

#include "core/steps.h"
#include "core/time.h"
#include "core/validity.h"

#define BIT(state) (1u << (state))

/* Where each state may lead. A step that leaves this table is our own bug. */
static const unsigned transitions[QL_ST_COUNT] = {
    [QL_ST_IDLE] = BIT(QL_ST_ACQUIRING) | BIT(QL_ST_ADOPTED),
    [QL_ST_ACQUIRING] = BIT(QL_ST_HELD) | BIT(QL_ST_CLEANING) | BIT(QL_ST_IDLE),
    [QL_ST_CLEANING] = BIT(QL_ST_WAITING) | BIT(QL_ST_IDLE),
    [QL_ST_WAITING] = BIT(QL_ST_ACQUIRING) | BIT(QL_ST_IDLE),
    [QL_ST_HELD] = BIT(QL_ST_LOST) | BIT(QL_ST_RELEASING),
    [QL_ST_ADOPTED] = BIT(QL_ST_HELD) | BIT(QL_ST_LOST) | BIT(QL_ST_RELEASING),
    [QL_ST_LOST] = BIT(QL_ST_RELEASING),
    [QL_ST_RELEASING] = BIT(QL_ST_IDLE),
};

void ql_set_state(struct ql_machine *m, enum ql_state state)
{
    assert(transitions[m->state] & BIT(state));
    m->state = state;
}

void ql_tell(struct ql_actions *out, enum ql_outcome outcome)
{
    assert(out->count < QL_ACTIONS_MAX);
    out->list[out->count++] =
        (struct ql_action){.kind = QL_DO_TELL, .outcome = outcome};
}

void ql_send(struct ql_machine *m, struct ql_actions *out, unsigned node,
             enum ql_request_kind request, uint64_t ttl_ns)
{
    assert(out->count < QL_ACTIONS_MAX && node < m->rules->nodes);
    out->list[out->count++] = (struct ql_action){.kind = QL_DO_SEND,
                                                 .request = request,
                                                 .node = node,
                                                 .round = m->round,
                                                 .ttl_ns = ttl_ns,
                                                 .fence = m->fence};
}

/* Votes of earlier rounds carry earlier numbers, and are told apart by that. */
void ql_open_round(struct ql_machine *m, uint64_t until)
{
    m->round++;
    m->t0 = m->now;
    m->round_until = until;
    ql_ballot_open(&m->ballot, m->rules->nodes, m->rules->quorum);
    for (unsigned i = 0; i < m->rules->nodes; i++)
        m->peer[i].vote = QL_VOTE_NONE;
}

void ql_cast(struct ql_machine *m, unsigned node, enum ql_vote vote)
{
    ql_ballot_cast(&m->ballot, &m->peer[node].vote, vote);
}

void ql_close_round(struct ql_machine *m)
{
    for (unsigned i = 0; i < m->rules->nodes; i++)
        if (m->peer[i].vote == QL_VOTE_ASKED)
            ql_cast(m, i, QL_VOTE_FAILED);
}

/*
 * When the keys of the round just opened are gone, whatever we come to hear: a
 * node may set them as late as it is waited for, and by a slower clock. Fenced
 * nodes keep the lease for longer than the key.
 */
uint64_t ql_expiry(const struct ql_machine *m)
{
    uint64_t set_at = ql_time_add(m->t0, m->rules->node_timeout_ns);
    uint64_t drift = ql_drift_ns(m->ttl_ns, m->rules->drift_ppm);
    uint64_t expiry = ql_time_add(ql_time_add(set_at, m->ttl_ns), drift);

    if (!m->rules->fenced)
        return expiry;
    return ql_time_add(ql_time_add(expiry, m->rules->linger_ns),
                       m->terms->lock_delay_ns);
}

unsigned ql_count_keys(const struct ql_machine *m, enum ql_key key)
{
    unsigned count = 0;

    for (unsigned i = 0; i < m->rules->nodes; i++)
        count += m->peer[i].key == key;
    return count;
}

/*
 * "It will try to unlock all the instances, even the ones it believed it was
 * not able to lock": on every node that was sent anything.
 */
void ql_send_releases(struct ql_machine *m, struct ql_actions *out)
{
    ql_open_round(m, ql_time_add(m->now, m->rules->node_timeout_ns));
    for (unsigned i = 0; i < m->rules->nodes; i++)
        if (m->peer[i].key != QL_KEY_NONE)
            ql_send(m, out, i, QL_REQ_RELEASE, m->ttl_ns);
}
