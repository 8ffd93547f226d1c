# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "consul #800, #1155"
HAPPENED = """Asked to end while it waited, it was given the lock after all,
and started the command."""
FAULT = "a signal during the wait is only looked at when the lock is there"
EDITS = [
    ("src/cli/waiting.c", "        ql_lock_cancel(waiting->lock);\n", ""),
    ("src/cli/waiting.c",
     "    } while (!waiting.signal && worth_another(",
     "    } while (worth_another("),
    ("src/cli/run.c",
     "    if (result == QL_OK && signal)\n"
     "        ql_lock_release(run->lock);\n"
     "    if (result != QL_OK || signal)\n",
     "    if (result != QL_OK)\n"),
]
CHECK = "cli/museum.py Museum.test_m49_asked_to_end_it_starts_nothing"
