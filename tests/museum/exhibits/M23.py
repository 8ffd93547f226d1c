# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redlock-rb #108"
HAPPENED = """Servers that could not be reached looked to the caller like a
lock that is held by another."""
FAULT = """too few answers are called \"held by another\""""
EDITS = [
    ("src/core/clean.c",
     "        return QL_OUT_NO_QUORUM;",
     "        return QL_OUT_HELD;"),
]
CHECK = "story/failure no_quorum_when_too_few_nodes_answer"
