# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redlock-rb #36"
HAPPENED = """Extending brought a lock back to life that had expired, and that
another had held and released meanwhile."""
FAULT = "an extension under way keeps the lock from ending by our own clock"
EDITS = [
    ("src/core/hold.c",
     "if (m->state == QL_ST_HELD && m->now >= ql_hold_deadline(m))",
     "if (m->state == QL_ST_HELD && m->now >= ql_hold_deadline(m) &&\n"
     "        m->errand != QL_ERRAND_EXTEND)"),
]
CHECK = "story/extend an_answer_at_the_deadline_is_too_late"
