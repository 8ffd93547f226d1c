# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "consul #800 (a comment)"
HAPPENED = """Every failure was exit status 1, and could not be told from the
command's own."""
FAULT = "the exit status for a lock that is held cannot be chosen"
EDITS = [
    ("src/cli/waiting.c",
     "    if (result == QL_HELD)\n"
     "        code = (int)session->options->conflict_code;\n", ""),
]
CHECK = "cli/waiting.py Limits.test_conflict_exit_code"
