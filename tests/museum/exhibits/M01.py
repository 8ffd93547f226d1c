# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redsync.go #1 (hjr265)"
HAPPENED = "No quorum at all: one node's yes was the lock."
FAULT = "one yes wins the ballot, whatever the quorum"
EDITS = [
    ("src/core/ballot.c",
     "    if (yes >= ballot->quorum)",
     "    if (yes >= 1)"),
]
CHECK = "story/nodes five_nodes_need_three"
