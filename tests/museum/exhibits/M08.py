# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redsync #186"
HAPPENED = """A lock got on three of five nodes stayed on those three for as
long as it was extended, although the other two were free: the loss of one was
the loss of the lock."""
FAULT = "a node that has no key of ours does not get it back at an extension"
EDITS = [
    ("src/core/extend.c", """
        if (m->peer[i].vote == QL_VOTE_MISSING)
            repair(m, i, out);
""", """
        if (m->peer[i].vote == QL_VOTE_MISSING)
            continue;
"""),
]
CHECK = "story/repair trap_13_a_node_restarted_empty_is_repaired"
