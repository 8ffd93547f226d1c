# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "node-redlock #149"
HAPPENED = """\"No limit to the retries\" meant no retry at all after a new
version had come out."""
FAULT = "no limit to the attempts is taken for a limit of none"
EDITS = [
    ("src/core/clean.c",
     "(tries == 0 || m->attempt < tries)",
     "(m->attempt < tries)"),
]
CHECK = "story/retry each_attempt_has_its_own_time_and_token"
