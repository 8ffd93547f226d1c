/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Release on every node that was ever sent this lock, with three different
 * answers: a majority deleted our key; it was not ours any more; cannot tell.
 */
#include <assert.h>

#include "core/steps.h"
#include "core/time.h"

static void finish(struct ql_machine *m, enum ql_outcome outcome,
                   struct ql_actions *out)
{
    ql_set_state(m, QL_ST_IDLE);
    ql_tell(out, outcome);
}

/*
 * A node that was never sent the lock cannot have our key, and counts as not
 * ours: if a majority had no key of ours, another may have held the lock.
 */
static void decide(struct ql_machine *m, struct ql_actions *out)
{
    unsigned not_ours = m->ballot.count[QL_VOTE_MISSING] +
                        m->ballot.count[QL_VOTE_FOREIGN] +
                        m->ballot.count[QL_VOTE_NONE];

    if (m->ballot.count[QL_VOTE_YES] >= m->rules->quorum)
        finish(m, QL_OUT_RELEASED, out);
    else if (not_ours >= ql_ballot_veto(&m->ballot))
        finish(m, QL_OUT_GONE, out);
    else if (m->ballot.count[QL_VOTE_ASKED] == 0)
        finish(m, QL_OUT_UNSURE, out);
}

void ql_release_begin(struct ql_machine *m, struct ql_actions *out)
{
    assert(m->state == QL_ST_HELD || m->state == QL_ST_ADOPTED ||
           m->state == QL_ST_LOST);
    ql_set_state(m, QL_ST_RELEASING);
    /* From here on nobody is told that the lock is ours. Renewals that are on
     * their way arrive before the release does, and those to come end here. */
    m->valid_until = 0;
    m->errand = QL_ERRAND_NONE;
    ql_send_releases(m, out);
    for (unsigned i = 0; i < m->rules->nodes; i++)
        if (m->peer[i].key != QL_KEY_NONE)
            ql_cast(m, i, QL_VOTE_ASKED);
}

void ql_release_vote(struct ql_machine *m, const struct ql_event *ev,
                     struct ql_actions *out)
{
    if (m->peer[ev->node].vote != QL_VOTE_ASKED)
        return;
    ql_cast(m, ev->node, ev->vote);
    decide(m, out);
}

void ql_release_timeout(struct ql_machine *m, struct ql_actions *out)
{
    ql_close_round(m);
    decide(m, out);
}
