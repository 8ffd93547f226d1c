# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redlock-py PR #6 (SPSCommerce)"
HAPPENED = """The quorum was counted over the nodes to which there was a
connection, so that two clients with different halves both won."""
FAULT = "nodes that cannot be reached do not count in the quorum"
EDITS = [
    ("src/core/ballot.c",
     "    if (yes >= ballot->quorum)",
     "    if (yes > (ballot->nodes - ballot->count[QL_VOTE_UNSENT]) / 2u)"),
]
CHECK = "story/museum m25_*"
