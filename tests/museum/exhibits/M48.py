# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "consul #797"
HAPPENED = "`consul lock` did not pass TERM on, and left its child running."
FAULT = "signals are not passed on to the command"
EDITS = [
    ("src/cli/supervise.c",
     "        default:\n            forward(s, signal);\n",
     "        default:\n            break;\n"),
]
CHECK = "cli/run.py Signals.test_a_command_killed_by_a_forwarded_signal"
HANGS = True
