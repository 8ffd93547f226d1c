/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for traces and assertions; nothing decides by them. */
#include "core/machine.h"

#define NAME(table, index)                                                     \
    ((unsigned)(index) < sizeof(table) / sizeof((table)[0])                    \
         ? (table)[(unsigned)(index)]                                          \
         : "?")

const char *ql_state_name(enum ql_state state)
{
    static const char *const names[] = {
        [QL_ST_IDLE] = "idle",         [QL_ST_ACQUIRING] = "acquiring",
        [QL_ST_CLEANING] = "cleaning", [QL_ST_WAITING] = "waiting",
        [QL_ST_HELD] = "held",         [QL_ST_ADOPTED] = "adopted",
        [QL_ST_LOST] = "lost",         [QL_ST_RELEASING] = "releasing",
    };
    return NAME(names, state);
}

const char *ql_request_name(enum ql_request_kind kind)
{
    static const char *const names[] = {
        [QL_REQ_ACQUIRE] = "acquire", [QL_REQ_CONFIRM] = "confirm",
        [QL_REQ_EXTEND] = "extend",   [QL_REQ_RELEASE] = "release",
        [QL_REQ_INSPECT] = "inspect",
    };
    return NAME(names, kind);
}

const char *ql_vote_name(enum ql_vote vote)
{
    static const char *const names[] = {
        [QL_VOTE_NONE] = "none",       [QL_VOTE_ASKED] = "asked",
        [QL_VOTE_YES] = "yes",         [QL_VOTE_MISSING] = "missing",
        [QL_VOTE_FOREIGN] = "foreign", [QL_VOTE_FAILED] = "failed",
        [QL_VOTE_UNSENT] = "unsent",   [QL_VOTE_BARRED] = "barred",
        [QL_VOTE_SKEWED] = "skewed",
    };
    return NAME(names, vote);
}

const char *ql_outcome_name(enum ql_outcome outcome)
{
    static const char *const names[] = {
        [QL_OUT_NONE] = "none",
        [QL_OUT_ACQUIRED] = "acquired",
        [QL_OUT_HELD] = "held by another",
        [QL_OUT_SPLIT] = "split",
        [QL_OUT_NO_QUORUM] = "no quorum",
        [QL_OUT_CANCELLED] = "cancelled",
        [QL_OUT_ABORTED] = "aborted",
        [QL_OUT_EXTENDED] = "extended",
        [QL_OUT_GONE] = "gone",
        [QL_OUT_TOO_LATE] = "too late",
        [QL_OUT_CAPPED] = "capped",
        [QL_OUT_RELEASED] = "released",
        [QL_OUT_UNSURE] = "unsure",
        [QL_OUT_VERIFIED] = "verified",
        [QL_OUT_FREE] = "free",
        [QL_OUT_LOST] = "lost",
        [QL_OUT_LOST_CAPPED] = "lost by the cap",
    };
    return NAME(names, outcome);
}
