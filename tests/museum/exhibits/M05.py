# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redsync #77, #81"
HAPPENED = """Unlock said \"false\" without an error: why a node had refused
was lost on the way."""
FAULT = "what the nodes say to a release is not noted for the report"
EDITS = [
    ("src/client/report.c",
     "    if (answer->kind != QL_CMD_RELEASE ||"
     " lock->op.kind == QL_OP_RELEASE)\n",
     "    if (answer->kind != QL_CMD_RELEASE)\n"),
]
CHECK = "live/release trap_10_somebody_elses_lock_stays (1)"
