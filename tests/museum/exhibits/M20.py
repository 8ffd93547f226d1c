# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redlock-rb #5, antirez/redlock-rb #3, Redisson #1606"
HAPPENED = """A failed attempt was released only on the nodes that had said
yes. Where the yes had got lost the key stayed until it expired."""
FAULT = "the release goes only to nodes that have granted the lock"
EDITS = [
    ("src/core/round.c",
     "        if (m->peer[i].key != QL_KEY_NONE)\n"
     "            ql_send(m, out, i, QL_REQ_RELEASE, m->ttl_ns);",
     "        if (m->peer[i].key == QL_KEY_OURS)\n"
     "            ql_send(m, out, i, QL_REQ_RELEASE, m->ttl_ns);"),
]
CHECK = "story/failure trap_06_an_answer_lost_after_the_write_is_released_too"
