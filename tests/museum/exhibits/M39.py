# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "RedLock.net PR #64"
HAPPENED = """Disposing of a lock raced with its renewal, and in some 0.6 % of
cases the renewal came last: the key stayed."""
FAULT = "an answer that comes after the release still has the key put back"
EDITS = [
    ("src/core/extend.c",
     "    if (m->state != QL_ST_HELD && m->state != QL_ST_ADOPTED)\n"
     "        return;\n",
     "    if (m->state == QL_ST_RELEASING && ev->vote == QL_VOTE_MISSING)\n"
     "        ql_send(m, out, ev->node, QL_REQ_ACQUIRE, m->ttl_ns);\n"
     "    if (m->state != QL_ST_HELD && m->state != QL_ST_ADOPTED)\n"
     "        return;\n"),
]
CHECK = "story/museum m39_*"
