# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redsync #72"
HAPPENED = """Valid() asked the servers. With one of them slow it said yes to a
lock that had ended by the holder's own clock."""
FAULT = "what the servers say of the key makes the validity longer"
EDITS = [
    ("src/core/inspect.c",
     "m->valid_until = ql_time_min(m->valid_until, until);",
     "m->valid_until = ql_time_max(m->valid_until, until);"),
]
CHECK = "story/inspect a_servers_word_never_lengthens_the_validity"
