# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "Redisson #2172"
HAPPENED = """With a wait of -1 (none) the lease that was sent to the servers
was computed from the wait. The keys expired at once, and several threads were
inside."""
FAULT = "the ttl that is sent is that of the wait"
EDITS = [
    ("src/core/acquire.c",
     "        ql_send(m, out, i, QL_REQ_ACQUIRE, m->ttl_ns);",
     "        ql_send(m, out, i, QL_REQ_ACQUIRE,\n"
     "                ql_time_sub(m->wait_until, m->now));"),
]
CHECK = "story/retry retry_for_so_long_and_the_last_attempt_at_the_end*"
