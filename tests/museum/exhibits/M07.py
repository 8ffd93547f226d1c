# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redsync #144, #158"
HAPPENED = """Extending a lock that had expired failed with the words for a
lock that is taken by another."""
FAULT = """extending after the end is answered with \"held by another\""""
EDITS = [
    ("src/core/extend.c", """
    if (m->state == QL_ST_LOST)
        return QL_OUT_TOO_LATE;
""", """
    if (m->state == QL_ST_LOST)
        return QL_OUT_HELD;
"""),
]
CHECK = "story/extend trap_11_an_extension_after_the_end_is_refused*"
