# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "node-redlock #65, #131, #168, #180, #362"
HAPPENED = """Releasing a lock that had expired already was an error like a
server that is down, and people could not tell the two apart."""
FAULT = "a release that finds nothing left says that it cannot tell"
EDITS = [
    ("src/core/release.c",
     "finish(m, QL_OUT_GONE, out);",
     "finish(m, QL_OUT_UNSURE, out);"),
]
CHECK = "story/release trap_10_gone_when_it_has_expired"
