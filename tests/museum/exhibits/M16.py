# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "node-redlock PR #369"
HAPPENED = """The keys of a failed attempt were still there when the next one
began, and stood in its way: the client waited for itself."""
FAULT = "a failed attempt that will be tried again releases nothing"
EDITS = [
    ("src/core/round.c",
     "        if (m->peer[i].key != QL_KEY_NONE)\n"
     "            ql_send(m, out, i, QL_REQ_RELEASE, m->ttl_ns);",
     "        if (m->peer[i].key != QL_KEY_NONE &&\n"
     "            !(m->state == QL_ST_CLEANING && m->retry_allowed))\n"
     "            ql_send(m, out, i, QL_REQ_RELEASE, m->ttl_ns);"),
]
CHECK = "story/retry trap_02_the_release_stands_before_the_next_attempt*"
