# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "RedLock.net #110"
HAPPENED = """Renewals waited for a free thread of the program's pool, and came
too late when the program was busy."""
FAULT = "a lock is renewed only when the program calls the library"
EDITS = [
    ("src/client/api_operation.c",
     "    return lock->terms.renew &&"
     " (kind == QL_OP_ACQUIRE || kind == QL_OP_EXTEND);",
     "    return kind == QL_OP_NONE;"),
]
CHECK = "live/renewal a_renewed_lock_outlives_its_ttl (1)"
