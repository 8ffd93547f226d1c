/* SPDX-License-Identifier: BSD-2-Clause */
/* From a node's verdict to the vote that the machine counts. */
#include "client/client.h"

/* Errors that another attempt will not mend, and that mean the server has not
 * done what it was asked for. */
static bool bars(ql_verdict verdict)
{
    switch (verdict) {
    case QL_V_NOAUTH:
    case QL_V_NOPERM:
    case QL_V_READONLY:
    case QL_V_WRONGTYPE:
    case QL_V_MOVED:
    case QL_V_DUPLICATE:
    case QL_V_GROUP:
    case QL_V_TTL:
    case QL_V_EVICTION:
        return true;
    default:
        return false;
    }
}

enum ql_vote ql_vote_of(ql_verdict verdict, bool sent)
{
    switch (verdict) {
    case QL_V_GRANTED:
        return QL_VOTE_YES;
    case QL_V_HELD:
        return QL_VOTE_FOREIGN;
    case QL_V_MISSING:
    case QL_V_REPAIRED:
        return QL_VOTE_MISSING;
    case QL_V_CLOCK:
        return QL_VOTE_SKEWED;
    case QL_V_NOTREADY: /* the script did nothing */
        return QL_VOTE_UNSENT;
    default:
        if (bars(verdict))
            return QL_VOTE_BARRED;
        return sent ? QL_VOTE_FAILED : QL_VOTE_UNSENT;
    }
}

int ql_result_of_failures(const struct ql_rules *rules, unsigned auth,
                          unsigned config)
{
    if (auth + config < rules->nodes - rules->quorum + 1)
        return QL_E_QUORUM;
    return auth >= config ? QL_E_AUTH : QL_E_CONFIG;
}
