/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/ballot.h"

#include <assert.h>

void ql_ballot_open(struct ql_ballot *ballot, unsigned nodes, unsigned quorum)
{
    assert(nodes >= 1 && nodes <= QL_BALLOT_MAX);
    assert(quorum > nodes / 2 && quorum <= nodes);
    *ballot = (struct ql_ballot){.nodes = nodes, .quorum = quorum};
    ballot->count[QL_VOTE_NONE] = nodes;
}

void ql_ballot_cast(struct ql_ballot *ballot, uint8_t *vote, enum ql_vote to)
{
    assert(*vote < QL_VOTES && to < QL_VOTES);
    assert(ballot->count[*vote] > 0);
    ballot->count[*vote]--;
    ballot->count[to]++;
    *vote = to;
}

enum ql_ballot_state ql_ballot_state(const struct ql_ballot *ballot)
{
    unsigned yes = ballot->count[QL_VOTE_YES];
    unsigned asked = ballot->count[QL_VOTE_ASKED];

    if (yes >= ballot->quorum)
        return QL_BALLOT_WON;
    return yes + asked < ballot->quorum ? QL_BALLOT_LOST : QL_BALLOT_OPEN;
}

unsigned ql_ballot_answered(const struct ql_ballot *ballot)
{
    return ballot->count[QL_VOTE_YES] + ballot->count[QL_VOTE_MISSING] +
           ballot->count[QL_VOTE_FOREIGN];
}
