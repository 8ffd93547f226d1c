# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "RedLock.net #97"
HAPPENED = "A lock that was got at a second attempt was not renewed."
FAULT = "only a lock got at the first attempt is renewed"
EDITS = [
    ("src/core/hold.c",
     "    m->renew_at = ql_renew_time(m);",
     "    m->renew_at = m->attempt > 1 ? QL_NEVER : ql_renew_time(m);"),
]
CHECK = "story/museum m41_*"
