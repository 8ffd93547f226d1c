# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redlock-py PR #27"
HAPPENED = """One dead node raised an error, and the majority that lived was
lost."""
FAULT = "one node that fails is the failure of the attempt"
EDITS = [
    ("src/core/ballot.c",
     "yes + asked < ballot->quorum ?",
     "yes + asked < ballot->quorum || ballot->count[QL_VOTE_FAILED] > 0 ?"),
]
CHECK = "story/acquire trap_08_the_first_node_may_be_the_dead_one"
