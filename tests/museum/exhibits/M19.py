# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "node-redlock #61, #64"
HAPPENED = """Nodes of a cluster answered MOVED and CROSSSLOT, and it looked as
if somebody else had the lock."""
FAULT = "MOVED is an error like any other, not one of configuration"
EDITS = [
    ("src/redis/verdict.c", '    {"MOVED", QL_V_MOVED},\n', ""),
]
CHECK = "unit/answer_verdict errors_have_verdicts"
