# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "Redisson #4822"
HAPPENED = """After a failover two nodes both thought for five minutes that
they held the lock: the one whose key had gone was not told."""
FAULT = "a renewal that finds another's key on a majority is no loss"
EDITS = [
    ("src/core/extend.c",
     "    return ql_count_keys(m, QL_KEY_NOT) >= ql_ballot_veto(&m->ballot);",
     "    return false;"),
]
CHECK = "story/renew trap_12_a_renewal_that_finds_a_foreign_majority"
