# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "node-redlock PR #369"
HAPPENED = """A majority was enough: nobody asked whether any validity was left
when its last answer had come."""
FAULT = "a majority is the lock, with or without validity"
EDITS = [
    ("src/core/acquire.c",
     "state == QL_BALLOT_WON && m->now < until",
     "state == QL_BALLOT_WON"),
]
CHECK = "story/acquire trap_03_a_majority_that_took_the_whole_validity*"
