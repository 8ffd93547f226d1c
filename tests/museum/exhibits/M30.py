# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "Redisson #1175, #1292"
HAPPENED = "Waiting for one node ate up the time that was left for the others."
FAULT = "success waits for the slowest node"
EDITS = [
    ("src/core/acquire.c",
     "    enum ql_ballot_state state = ql_ballot_state(&m->ballot);\n",
     "    enum ql_ballot_state state = m->ballot.count[QL_VOTE_ASKED] > 0\n"
     "                                     ? QL_BALLOT_OPEN\n"
     "                                     : ql_ballot_state(&m->ballot);\n"),
]
CHECK = "story/acquire success_at_the_answer_that_makes_the_majority"
