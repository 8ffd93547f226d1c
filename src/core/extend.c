/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extension: our key, where it is still ours, lasts a ttl from now. The caller
 * asks for it, or the machine does so by itself (renewal). And repair: a node
 * that has lost the key gets it back, without being counted for it; fenced, the
 * node sees to that itself.
 */
#include <assert.h>

#include "core/steps.h"
#include "core/time.h"
#include "core/validity.h"

/* After a renewal that failed: soon, but not in a loop. */
static uint64_t renew_again_time(struct ql_machine *m)
{
    uint64_t pause = ql_time_min(m->ttl_ns / 12, m->terms->retry_delay_ns);

    return ql_time_add(m->now, ql_time_max(pause, QL_NS_PER_MS));
}

static uint64_t extended_until(const struct ql_machine *m)
{
    return ql_time_min(m->hold_until,
                       ql_valid_until(m->t0, m->ttl_ns, m->rules->drift_ppm));
}

/* The answer to a request that cannot be granted any more, if it is one. */
static enum ql_outcome refusal(const struct ql_machine *m)
{
    if (m->state == QL_ST_LOST)
        return QL_OUT_TOO_LATE;
    if (m->state == QL_ST_HELD && m->valid_until >= m->hold_until)
        return QL_OUT_CAPPED;
    if (m->state == QL_ST_ADOPTED && m->now >= m->hold_until)
        return QL_OUT_CAPPED;
    return QL_OUT_NONE;
}

void ql_extend_begin(struct ql_machine *m, uint64_t ttl_ns,
                     enum ql_errand errand, struct ql_actions *out)
{
    enum ql_outcome refused = refusal(m);

    assert(m->errand == QL_ERRAND_NONE || m->errand == QL_ERRAND_RENEW);
    assert(m->state == QL_ST_HELD || m->state == QL_ST_ADOPTED ||
           m->state == QL_ST_LOST);
    if (refused != QL_OUT_NONE) {
        ql_tell(out, refused);
        return;
    }
    m->errand = errand;
    m->ttl_ns = ttl_ns;
    ql_open_round(m, ql_time_add(m->now, m->rules->node_timeout_ns));
    m->extend_round = m->round;
    m->expires_at = ql_time_max(m->expires_at, ql_expiry(m));
    /* A ttl that ends sooner shortens the lock from the moment it is asked
     * for: some node may do so, whatever we come to hear. */
    if (m->state == QL_ST_HELD)
        m->valid_until = ql_time_min(m->valid_until, extended_until(m));
    for (unsigned i = 0; i < m->rules->nodes; i++) {
        /* It may put the key back, and be sent the release before it says. */
        if (m->rules->fenced && m->peer[i].key == QL_KEY_NONE)
            m->peer[i].key = QL_KEY_MAYBE;
        ql_cast(m, i, QL_VOTE_ASKED);
        ql_send(m, out, i, QL_REQ_EXTEND, m->ttl_ns);
    }
}

/*
 * For what is left of the extension's ttl: a key put back does not outlive
 * those of the nodes that extended. That is more than the drift's two
 * milliseconds, since the lock is still valid. The round is the extension's.
 */
static void repair(struct ql_machine *m, unsigned node, struct ql_actions *out)
{
    uint64_t left = ql_time_sub(ql_time_add(m->t0, m->ttl_ns), m->now);

    assert(m->round == m->extend_round && left >= QL_DRIFT_FLOOR_NS);
    m->peer[node].key = QL_KEY_MAYBE;
    ql_send(m, out, node, QL_REQ_ACQUIRE, left);
}

static void extended(struct ql_machine *m, struct ql_actions *out)
{
    enum ql_errand errand = m->errand;
    uint64_t until = extended_until(m);

    if (m->now >= until) { /* adopted, and the answers took the whole ttl */
        ql_hold_lose(m, QL_OUT_TOO_LATE, out);
        return;
    }
    m->errand = QL_ERRAND_NONE;
    m->valid_until = until;
    if (m->fence == 0)
        m->fence = ql_fence_agreed(m);
    if (m->state == QL_ST_ADOPTED)
        ql_set_state(m, QL_ST_HELD);
    m->renew_at = ql_renew_time(m);
    if (errand == QL_ERRAND_EXTEND)
        ql_tell(out, QL_OUT_EXTENDED);
    for (unsigned i = 0; i < m->rules->nodes && !m->rules->fenced; i++)
        if (m->peer[i].vote == QL_VOTE_MISSING)
            repair(m, i, out);
}

static void failed(struct ql_machine *m, struct ql_actions *out)
{
    enum ql_errand errand = m->errand;

    m->errand = QL_ERRAND_NONE;
    if (m->terms->renew)
        m->renew_at = renew_again_time(m);
    if (errand == QL_ERRAND_EXTEND)
        ql_tell(out, QL_OUT_NO_QUORUM);
}

/* A majority says that it has no key of ours: no more time can be won. */
static bool vetoed(const struct ql_machine *m)
{
    return ql_count_keys(m, QL_KEY_NOT) >= ql_ballot_veto(&m->ballot);
}

/* A majority that does not agree on a number is none; which number it is may
 * not be known yet, of a token that was adopted. */
static enum ql_ballot_state outcome(const struct ql_machine *m)
{
    enum ql_ballot_state state = ql_ballot_state(&m->ballot);

    if (!m->rules->fenced || state != QL_BALLOT_WON || ql_fence_agreed(m) != 0)
        return state;
    return m->ballot.count[QL_VOTE_ASKED] > 0 ? QL_BALLOT_OPEN : QL_BALLOT_LOST;
}

static void decide(struct ql_machine *m, struct ql_actions *out)
{
    enum ql_ballot_state state = outcome(m);

    if (vetoed(m)) {
        m->valid_until = 0;
        ql_hold_lose(m, QL_OUT_GONE, out);
    } else if (state == QL_BALLOT_WON) {
        extended(m, out);
    } else if (state == QL_BALLOT_LOST) {
        failed(m, out);
    }
}

/* An answer after the decision can still show that the lock is gone, or that a
 * node wants repair. */
static void late(struct ql_machine *m, const struct ql_event *ev,
                 struct ql_actions *out)
{
    if (vetoed(m)) {
        m->valid_until = 0;
        ql_hold_lose(m, QL_OUT_GONE, out);
    } else if (ev->vote == QL_VOTE_MISSING && m->round == m->extend_round &&
               !m->rules->fenced &&
               ql_ballot_state(&m->ballot) == QL_BALLOT_WON) {
        repair(m, ev->node, out);
    }
}

/*
 * A fenced node puts the key back by itself, in the same script: it is ours
 * from then on, but not counted for it.
 */
static void note_key(struct ql_peer *peer, const struct ql_event *ev)
{
    if (ev->vote == QL_VOTE_YES || ev->repaired)
        peer->key = QL_KEY_OURS;
    else if (ev->vote == QL_VOTE_MISSING || ev->vote == QL_VOTE_FOREIGN)
        peer->key = QL_KEY_NOT;
}

void ql_extend_vote(struct ql_machine *m, const struct ql_event *ev,
                    struct ql_actions *out)
{
    struct ql_peer *peer = &m->peer[ev->node];
    bool running =
        m->errand == QL_ERRAND_EXTEND || m->errand == QL_ERRAND_RENEW;
    /* The token is the handle's own, whatever a server says that it is. */
    bool usable =
        ev->vote != QL_VOTE_YES || m->fence == 0 || ev->fence == m->fence;

    if (m->state != QL_ST_HELD && m->state != QL_ST_ADOPTED)
        return;
    if (usable)
        note_key(peer, ev);
    if (!running) {
        late(m, ev, out);
        return;
    }
    if (peer->vote != QL_VOTE_ASKED)
        return;
    peer->fence = ev->fence;
    ql_cast(m, ev->node, usable ? ev->vote : QL_VOTE_FAILED);
    decide(m, out);
}

void ql_extend_timeout(struct ql_machine *m, struct ql_actions *out)
{
    ql_close_round(m);
    decide(m, out);
}

void ql_repair_vote(struct ql_machine *m, const struct ql_event *ev)
{
    if (ev->vote == QL_VOTE_YES)
        m->peer[ev->node].key = QL_KEY_OURS;
    else if (ev->vote == QL_VOTE_FOREIGN)
        m->peer[ev->node].key = QL_KEY_NOT;
}
