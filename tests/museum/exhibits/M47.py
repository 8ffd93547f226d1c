# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "etcd #11456"
HAPPENED = """A waiter was given the lock although its own lease had died while
it waited: the time was not looked at again."""
FAULT = "answers are counted at the time at which the waiting for them began"
EDITS = [
    ("src/client/loop.c", """
    ql_clock_now(&client->clock);
    for (int i = 0; i < count; i++)
""", """
    for (int i = 0; i < count; i++)
"""),
    ("src/client/drive.c",
     "    ql_clock_now(&member->client->clock);\n", ""),
]
CHECK = "live/museum m47_*"
