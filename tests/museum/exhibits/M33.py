# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "Redisson #2515, #3194, #5698"
HAPPENED = """The watchdog that renews locks stopped for good after one error
of a server."""
FAULT = "no renewal after one that failed"
EDITS = [
    ("src/core/extend.c",
     "        m->renew_at = renew_again_time(m);",
     "        m->renew_at = QL_NEVER;"),
]
CHECK = "story/renew two_failed_renewals_are_borne"
