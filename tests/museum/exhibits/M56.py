# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "consul #5437, #1290, #1162"
HAPPENED = """`consul lock` lost its lock, and killed its child, whenever one
server of the cluster went away."""
FAULT = "one renewal that fails is the loss of the lock"
EDITS = [
    ("src/core/extend.c", """
    m->errand = QL_ERRAND_NONE;
    if (m->terms->renew)
        m->renew_at = renew_again_time(m);
""", """
    if (m->state == QL_ST_HELD && errand == QL_ERRAND_RENEW) {
        ql_hold_lose(m, QL_OUT_NO_QUORUM, out);
        return;
    }
    m->errand = QL_ERRAND_NONE;
    if (m->terms->renew)
        m->renew_at = renew_again_time(m);
"""),
]
CHECK = "story/renew two_failed_renewals_are_borne"
