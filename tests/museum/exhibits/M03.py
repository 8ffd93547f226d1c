# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redsync #71"
HAPPENED = """Extend took the whole ttl from the moment at which the last
answer had come, and not from when it had asked."""
FAULT = "an extension's validity counts from its answer"
EDITS = [
    ("src/core/extend.c",
     "ql_valid_until(m->t0, m->ttl_ns",
     "ql_valid_until(m->now, m->ttl_ns"),
]
CHECK = "story/extend extended_when_a_majority_has_extended"
