# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "consul #4439"
HAPPENED = "Signals were not looked at before the lock was there."
FAULT = "while it waits for the lock nobody reads signals"
EDITS = [
    ("src/cli/waiting.c", "    take_signals(waiting);\n", ""),
]
CHECK = "cli/waiting.py Interrupted.test_every_signal_ends_the_waiting"
HANGS = True
