# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "redlock-rb #27, #124"
HAPPENED = """After a restart the server did not know the scripts any more, and
every release failed with NOSCRIPT."""
FAULT = "a script that the server has forgotten is not loaded again"
EDITS = [
    ("src/redis/receive.c",
     "        load_again(node, now);\n        return;\n",
     "        (void)load_again;\n"),
]
CHECK = "live/faults trap_19_the_servers_have_forgotten_the_scripts (1)"
