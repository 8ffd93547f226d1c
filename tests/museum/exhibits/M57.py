# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "consul #9788"
HAPPENED = """The child was told to stop 90 seconds after its lock had ended.
Two were at work together."""
FAULT = "the command is stopped when the lock has ended, and not before"
EDITS = [
    ("src/cli/supervise.c", """
    if (!s->lost && now >= loss_time(s))
        s->lost = QL_E_LOST;
""", """
    if (now < s->valid_until_ns + 2000 * NS_PER_MS)
        return;
    s->lost = QL_E_LOST;
"""),
    ("src/cli/supervise.c",
     "    return s->lost ? next : earlier(next, loss_time(s));",
     "    return earlier(next, now_ns() + 100 * NS_PER_MS);"),
]
CHECK = "cli/museum.py Museum.test_m57_it_is_told_to_stop_before_the_lock_ends"
