# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "consul #873"
HAPPENED = """The shell that had been started was killed, and what it had
started went on."""
FAULT = "a signal goes to the command's first process only"
EDITS = [
    ("src/cli/supervise.c",
     "        kill(-s->child, signal);",
     "        kill(s->child, signal);"),
]
CHECK = "cli/run.py Signals.test_the_whole_group_gets_it"
HANGS = True
