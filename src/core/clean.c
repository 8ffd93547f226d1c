/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * After a failed attempt: its keys are released at once on every node that was
 * sent anything, and the answers tell who holds the lock, and for how long.
 * Then another attempt, or the caller is told.
 */
#include "core/backoff.h"
#include "core/steps.h"
#include "core/time.h"

static bool barred(const struct ql_machine *m)
{
    return m->ballot.count[QL_VOTE_BARRED] >= ql_ballot_veto(&m->ballot);
}

/*
 * Which word describes the failure. Somebody holds the lock if one holder has
 * a majority; else the votes were split among several, ourselves included, or
 * came too late. A node that refused, and does not say for whom, goes with the
 * largest holder.
 */
static enum ql_outcome describe(const struct ql_machine *m)
{
    unsigned spoke = m->granted + m->refused;
    unsigned foreign = m->ballot.count[QL_VOTE_FOREIGN];
    unsigned largest = ql_largest_holding(m);

    if (spoke < m->rules->quorum || barred(m))
        return QL_OUT_NO_QUORUM;
    if (m->refused > foreign)
        largest += m->refused - foreign;
    return largest >= m->rules->quorum ? QL_OUT_HELD : QL_OUT_SPLIT;
}

/*
 * The tidying up has outlasted the pause, and with it all that was random in
 * when the next attempt begins. Contenders that are equally far from the nodes
 * would collide in step for ever, so a part of the pause is waited for now.
 */
static void spread_retry(struct ql_machine *m)
{
    uint64_t pause = ql_time_sub(m->retry_at, m->t0);
    uint64_t part = ql_rand_between(&m->rand, 0, pause);

    m->retry_at = ql_time_min(ql_time_add(m->now, part), m->wait_until);
}

static void finish(struct ql_machine *m, struct ql_actions *out)
{
    if (m->retry_allowed && !barred(m)) {
        if (m->now >= m->retry_at && !m->second)
            spread_retry(m);
        ql_set_state(m, QL_ST_WAITING);
        return;
    }
    ql_set_state(m, QL_ST_IDLE);
    ql_tell(out, describe(m));
}

/*
 * Nodes that refused for the time they show did nothing, and by their answers
 * their time is known better now. If it may have been them that the attempt
 * failed for, it is made once more, at once, and counts as the same.
 */
static bool made_again(const struct ql_machine *m)
{
    const uint8_t *count = m->ballot.count;
    unsigned hoped_for = count[QL_VOTE_YES] + count[QL_VOTE_ASKED];

    return !m->second && count[QL_VOTE_SKEWED] > 0 &&
           hoped_for + count[QL_VOTE_SKEWED] >= m->rules->quorum;
}

/* Whether to try again, and when: counted from the moment of the decision. */
static void plan_retry(struct ql_machine *m)
{
    uint32_t tries = m->terms->tries;

    m->second = made_again(m);
    if (m->second) {
        m->retry_allowed = true;
        m->retry_at = m->now;
        return;
    }
    /* If so many nodes refuse for good, no attempt can succeed. */
    m->retry_allowed = !barred(m) && (tries == 0 || m->attempt < tries) &&
                       m->now < m->wait_until;
    if (!m->retry_allowed)
        return;
    m->retry_at =
        ql_time_add(m->now, ql_backoff_ns(m->terms, m->attempt + 1, &m->rand));
    /* The last attempt is made when the wait is over, not before. */
    m->retry_at = ql_time_min(m->retry_at, m->wait_until);
}

/*
 * Nodes that already kept us waiting are sent their release, but are not waited
 * for again.
 */
void ql_clean_begin(struct ql_machine *m, struct ql_actions *out)
{
    uint8_t before[QL_BALLOT_MAX];
    bool waited_for = false;

    ql_set_state(m, QL_ST_CLEANING);
    plan_retry(m);
    m->granted =
        m->ballot.count[QL_VOTE_YES] + m->ballot.count[QL_VOTE_MISSING];
    m->refused = m->ballot.count[QL_VOTE_FOREIGN];
    for (unsigned i = 0; i < m->rules->nodes; i++)
        before[i] = m->peer[i].vote;

    ql_send_releases(m, out);
    for (unsigned i = 0; i < m->rules->nodes; i++) {
        if (m->peer[i].key == QL_KEY_NONE)
            continue;
        if (before[i] == QL_VOTE_FAILED) {
            ql_cast(m, i, QL_VOTE_FAILED);
            continue;
        }
        ql_cast(m, i, QL_VOTE_ASKED);
        waited_for = true;
    }
    if (!waited_for)
        finish(m, out);
}

/*
 * An answer to the attempt itself, that came after others had decided it: it
 * still tells who spoke, and who has what.
 */
void ql_clean_note(struct ql_machine *m, enum ql_vote vote)
{
    m->granted += vote == QL_VOTE_YES;
    m->refused += vote == QL_VOTE_FOREIGN;
}

void ql_clean_vote(struct ql_machine *m, const struct ql_event *ev,
                   struct ql_actions *out)
{
    struct ql_peer *peer = &m->peer[ev->node];

    if (peer->vote != QL_VOTE_ASKED && peer->vote != QL_VOTE_FAILED)
        return;
    ql_cast(m, ev->node, ev->vote);
    peer->holder = ev->holder;
    if (m->ballot.count[QL_VOTE_ASKED] == 0)
        finish(m, out);
}

void ql_clean_timeout(struct ql_machine *m, struct ql_actions *out)
{
    finish(m, out);
}
