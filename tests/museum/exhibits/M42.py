# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "RedLock.net #101"
HAPPENED = """The servers were set to evict keys when memory is short. For a
year locks went missing now and then, and nothing said why."""
FAULT = "nobody looks whether the server evicts keys"
EDITS = [
    ("src/redis/greet.c",
     '    ql_info_field(info, "maxmemory_policy", node->eviction,\n'
     "                  sizeof node->eviction);\n",
     "    node->eviction[0] = 0;\n"),
]
CHECK = "cli/verbs.py Trouble.test_trap_22_a_server_that_evicts_is_warned_of"
