# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "consul #2489"
HAPPENED = """When `consul lock` was killed, its child lived on without the
lock."""
FAULT = "the command is not told to die with us"
EDITS = [
    ("src/cli/child.c",
     "    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)",
     "    if (getppid() != parent)"),
]
CHECK = "cli/stop.py Ourselves.test_killed"
HANGS = True
