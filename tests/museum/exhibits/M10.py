# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redsync, WithFailFast"
HAPPENED = """A failure decided early returned while other requests were still
on their way. What they did came later, and nobody undid it."""
FAULT = "nodes that have not answered yet are not sent the release"
EDITS = [
    ("src/core/round.c",
     "        if (m->peer[i].key != QL_KEY_NONE)\n"
     "            ql_send(m, out, i, QL_REQ_RELEASE, m->ttl_ns);",
     "        if (m->peer[i].key > QL_KEY_MAYBE)\n"
     "            ql_send(m, out, i, QL_REQ_RELEASE, m->ttl_ns);"),
]
CHECK = "story/failure a_late_yes_after_failure_has_a_release_behind_it"
