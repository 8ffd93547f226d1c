# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "Redisson #1626, #7272"
HAPPENED = """When the release failed, the watchdog went on: a lock that nobody
held was renewed for ever."""
FAULT = "a release that nobody confirmed leaves the lock held, and renewed"
EDITS = [
    ("src/core/release.c",
     "    ql_set_state(m, QL_ST_IDLE);\n",
     "    ql_set_state(m, outcome == QL_OUT_UNSURE ? QL_ST_HELD"
     " : QL_ST_IDLE);\n"
     "    m->valid_until = m->expires_at;\n"),
    ("src/core/round.c",
     "    [QL_ST_RELEASING] = BIT(QL_ST_IDLE),",
     "    [QL_ST_RELEASING] = BIT(QL_ST_IDLE) | BIT(QL_ST_HELD),"),
]
CHECK = "story/release unsure_when_too_few_answer"
