# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "consul #2022"
HAPPENED = """When the lock was lost /bin/sh was killed, and the command behind
it went on without the lock."""
FAULT = "only the command's own process group is killed, and waited for"
EDITS = [
    ("src/cli/supervise.c",
     "    family_signal(s->family, signal, s->child_gone ? 0 : s->child);\n",
     ""),
    ("src/cli/supervise.c", """
    for (int round = 0; round < 10 && family_signal(s->family, SIGKILL, 0) > 0;
         round++)
        continue;
""", """
    s->family_gone = true;
"""),
]
CHECK = "cli/stop.py Ourselves.test_a_chain_of_orphans_is_found"
