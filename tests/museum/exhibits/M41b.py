# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "RedLock.net #93"
HAPPENED = "IsAcquired still said yes when the lock had been lost."
FAULT = "a lock that a majority does not know any more is valid to its end"
EDITS = [
    ("src/core/extend.c", """
    if (vetoed(m)) {
        m->valid_until = 0;
        ql_hold_lose(m, QL_OUT_GONE, out);
    } else if (state == QL_BALLOT_WON) {
""", """
    if (vetoed(m)) {
        ql_hold_lose(m, QL_OUT_GONE, out);
    } else if (state == QL_BALLOT_WON) {
"""),
]
CHECK = "story/extend trap_12_a_foreign_majority_is_a_loss_at_once"
