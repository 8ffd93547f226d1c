# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "node-redlock #167, #169, #274, #276, #296"
HAPPENED = """The ttl was counted from the first of many attempts, so that the
lock that was handed out at last had expired already."""
FAULT = "t0 is taken once, and not for each attempt"
EDITS = [
    ("src/core/round.c",
     "    m->t0 = m->now;\n    m->round_until",
     "    if (m->attempt <= 1)\n        m->t0 = m->now;\n    m->round_until"),
]
CHECK = "story/retry each_attempt_has_its_own_time_and_token"
