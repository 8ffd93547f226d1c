/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attempts to acquire. Redlock, steps 1 to 3: take the time, ask all nodes at
 * once, and hold the lock if a majority said yes and validity is left; fenced,
 * if a majority said yes under one number.
 */
#include <assert.h>

#include "core/steps.h"
#include "core/time.h"
#include "core/validity.h"

void ql_acquire_begin(struct ql_machine *m, uint64_t until,
                      struct ql_actions *out)
{
    assert(m->state == QL_ST_IDLE && m->errand == QL_ERRAND_NONE);
    m->attempt = 0;
    m->second = false;
    m->wait_until = until;
    ql_acquire_attempt(m, out);
}

/*
 * Each attempt has a time and a token of its own: what an earlier one left on a
 * node can neither lengthen this one's validity nor be taken for its key.
 */
void ql_acquire_attempt(struct ql_machine *m, struct ql_actions *out)
{
    ql_set_state(m, QL_ST_ACQUIRING);
    m->attempt += !m->second;
    m->fence = 0;
    m->confirm = 0;
    m->died = false;
    m->ttl_ns = m->terms->ttl_ns;
    m->valid_until = 0;
    m->hold_until = ql_time_add(m->now, m->terms->max_hold_ns);
    ql_open_round(m, ql_time_add(m->now, m->rules->node_timeout_ns));
    m->acquire_round = m->round;
    m->extend_round = 0; /* none yet: late answers to others are not ours */
    m->expires_at = ql_expiry(m);

    out->list[out->count++] = (struct ql_action){.kind = QL_DO_TOKEN};
    for (unsigned i = 0; i < m->rules->nodes; i++) {
        m->peer[i] = (struct ql_peer){.key = QL_KEY_MAYBE};
        ql_cast(m, i, QL_VOTE_ASKED);
        ql_send(m, out, i, QL_REQ_ACQUIRE, m->ttl_ns);
    }
}

/* What an answer to an acquire tells of our key, whenever it comes. */
static void note_key(struct ql_peer *peer, enum ql_vote vote)
{
    switch (vote) {
    case QL_VOTE_YES:
        peer->key = QL_KEY_OURS;
        break;
    case QL_VOTE_FOREIGN:
        peer->key = QL_KEY_NOT;
        break;
    case QL_VOTE_UNSENT:
    case QL_VOTE_BARRED: /* refused by the server, so not done */
    case QL_VOTE_SKEWED:
        peer->key = QL_KEY_NONE;
        break;
    default: /* it may have been done all the same */
        peer->key = QL_KEY_MAYBE;
    }
}

static void decide(struct ql_machine *m, struct ql_actions *out)
{
    enum ql_ballot_state state = ql_ballot_state(&m->ballot);
    uint64_t until = ql_time_min(
        m->hold_until, ql_valid_until(m->t0, m->ttl_ns, m->rules->drift_ppm));

    if (m->rules->fenced && state == QL_BALLOT_WON && ql_fence_agreed(m) == 0) {
        ql_fence_confirm(m, out);
        return;
    }
    /* "If and only if the client was able to acquire the lock in the majority
     * of the instances, and the total time elapsed to acquire the lock is less
     * than lock validity time": m->now is the time at which the last counted
     * answer had been parsed. */
    if (state == QL_BALLOT_WON && m->now < until) {
        m->valid_until = until;
        ql_hold_begin(m);
        if (m->rules->fenced)
            ql_fence_grant(m, out);
        ql_tell(out, QL_OUT_ACQUIRED);
    } else if (state != QL_BALLOT_OPEN) {
        ql_clean_begin(m, out);
    }
}

void ql_acquire_vote(struct ql_machine *m, const struct ql_event *ev,
                     struct ql_actions *out)
{
    struct ql_peer *peer = &m->peer[ev->node];

    if (m->state == QL_ST_ACQUIRING) {
        note_key(peer, ev->vote);
        if (peer->vote != QL_VOTE_ASKED)
            return;
        peer->fence = ev->fence;
        peer->prev = ev->prev;
        ql_cast(m, ev->node, ev->vote);
        decide(m, out);
    } else if (m->state == QL_ST_HELD || m->state == QL_ST_LOST) {
        /* The lock was decided without this node. A late yes makes it rest on
         * more than a bare majority; a late no is left to the extension. */
        if (peer->key != QL_KEY_MAYBE)
            return;
        note_key(peer, ev->vote);
        /* An extension that was sent behind it may put the key there. */
        if (peer->key == QL_KEY_NONE && m->extend_round != 0)
            peer->key = QL_KEY_MAYBE;
        peer->fence = ev->fence;
        if (m->state == QL_ST_HELD && ev->vote == QL_VOTE_YES)
            ql_fence_align(m, ev->node, out);
    } else if (m->state == QL_ST_CLEANING) {
        ql_clean_note(m, ev->vote);
    }
    /* Otherwise the attempt was given up: a release stands behind it. */
}

/*
 * A yes is that node's present number. Any other answer means that it is a yes
 * no more: the key has gone, or whether it is there cannot be told. After the
 * decision only the latter matters.
 */
void ql_confirm_vote(struct ql_machine *m, const struct ql_event *ev,
                     struct ql_actions *out)
{
    struct ql_peer *peer = &m->peer[ev->node];

    if (m->state != QL_ST_ACQUIRING && m->state != QL_ST_HELD)
        return;
    if (ev->vote == QL_VOTE_YES)
        peer->key = QL_KEY_OURS;
    else if (ev->vote == QL_VOTE_MISSING || ev->vote == QL_VOTE_FOREIGN)
        peer->key = QL_KEY_NOT;
    if (m->state == QL_ST_HELD ||
        (peer->vote != QL_VOTE_YES && peer->vote != QL_VOTE_ASKED))
        return;
    peer->fence = ev->fence;
    ql_cast(m, ev->node, ev->vote);
    decide(m, out);
}

/* What decides an attempt in our favour is a vote; time only ends it. */
void ql_acquire_timeout(struct ql_machine *m, struct ql_actions *out)
{
    ql_close_round(m);
    ql_fence_close(m);
    ql_clean_begin(m, out);
}
