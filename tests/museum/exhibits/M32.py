# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "Redisson #4033"
HAPPENED = "A wait of nothing failed always, also on a lock that was free."
FAULT = "without time to wait there is no attempt"
EDITS = [
    ("src/core/acquire.c",
     "    m->wait_until = until;\n",
     "    m->wait_until = until;\n"
     "    if (m->now >= until) {\n"
     "        ql_tell(out, QL_OUT_HELD);\n"
     "        return;\n"
     "    }\n"),
]
CHECK = "story/retry one_try_is_one_attempt"
