# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "Redisson #631"
HAPPENED = """With more than three nodes lock() hung: some of them were taken,
and neither success nor failure was ever decided."""
FAULT = "a split vote is not decided while there is any yes"
EDITS = [
    ("src/core/ballot.c",
     "yes + asked < ballot->quorum ?",
     "yes + asked < ballot->quorum && yes == 0 ?"),
]
CHECK = "story/retry trap_01_four_nodes_two_votes_each_ends_and_retries"
