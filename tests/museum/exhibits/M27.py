# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "Redisson #624"
HAPPENED = """Acquiring was allowed to take longer than the lease: the first
nodes' keys had expired when the last one answered, and several owners were
told that they had the lock."""
FAULT = "the validity counts from the answer that makes the majority"
EDITS = [
    ("src/core/acquire.c",
     "ql_valid_until(m->t0, m->ttl_ns",
     "ql_valid_until(m->now, m->ttl_ns"),
]
CHECK = "story/acquire trap_14_a_ttl_below_the_node_timeout"
