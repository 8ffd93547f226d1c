# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "consul #1210"
HAPPENED = "SIGQUIT ended `consul lock` at once, and stranded its child."
FAULT = "SIGQUIT is not waited for, and ends us"
EDITS = [
    ("src/cli/signals.c", "{SIGQUIT, true},", ""),
]
CHECK = "cli/run.py Signals.test_signals_are_forwarded"
