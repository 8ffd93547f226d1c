# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redsync #65"
HAPPENED = """A handle that had never been locked said that it was valid: the
end of its validity was not set yet, and nobody asked whether it was."""
FAULT = "a handle without an end of validity counts as valid"
EDITS = [
    ("src/core/hold.c", """
    if (m->state != QL_ST_HELD && m->state != QL_ST_LOST)
        return 0;
""", """
    if (m->valid_until == 0)
        return m->ttl_ns;
"""),
]
CHECK = "story/museum m02_*"
