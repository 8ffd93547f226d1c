/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One round of asking all nodes: one vote per node, decided at the earliest
 * vote that decides it. The votes themselves stand with the caller, one byte
 * per node; the ballot counts them.
 */
#ifndef QL_CORE_BALLOT_H
#define QL_CORE_BALLOT_H

#include <stdint.h>

#define QL_BALLOT_MAX 32 /* nodes */

enum ql_vote {
    QL_VOTE_NONE,    /* not asked in this round */
    QL_VOTE_ASKED,   /* no answer yet */
    QL_VOTE_YES,     /* granted, extended, deleted, or: our token is there */
    QL_VOTE_MISSING, /* no key there */
    QL_VOTE_FOREIGN, /* another's key is there */
    QL_VOTE_FAILED,  /* no usable answer; what was sent may have been done */
    QL_VOTE_UNSENT,  /* nothing was sent, so nothing can have been done */
    QL_VOTE_BARRED,  /* refused in a way that trying again will not mend */
    QL_VOTE_SKEWED,  /* refused for the time it shows; nothing was done */
    QL_VOTES
};

struct ql_ballot {
    uint8_t nodes;
    uint8_t quorum;
    uint8_t count[QL_VOTES];
};

enum ql_ballot_state {
    QL_BALLOT_OPEN,
    QL_BALLOT_WON,  /* a majority says yes */
    QL_BALLOT_LOST, /* so many do not that no majority can come together */
};

void ql_ballot_open(struct ql_ballot *ballot, unsigned nodes, unsigned quorum);

/* Changes one node's vote from `*vote` to `to`. */
void ql_ballot_cast(struct ql_ballot *ballot, uint8_t *vote, enum ql_vote to);

enum ql_ballot_state ql_ballot_state(const struct ql_ballot *ballot);

/* Nodes that spoke for themselves, whatever they said. */
unsigned ql_ballot_answered(const struct ql_ballot *ballot);

/* So many nodes against us leave no majority for us: N - q + 1. */
static inline unsigned ql_ballot_veto(const struct ql_ballot *ballot)
{
    return ballot->nodes - ballot->quorum + 1u;
}

#endif
