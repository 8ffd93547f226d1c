# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "rueidislock"
HAPPENED = """The end of the key was sent as a time of day, by the client's own
clock, so that a wrong clock made locks end at once or last."""
FAULT = "SET is sent with PXAT, and our own wall clock"
EDITS = [
    ("src/redis/command.c",
     "#include <stdio.h>\n", "#include <stdio.h>\n#include <time.h>\n"),
    ("src/redis/command.c",
     '{"SET", command->name, value, "NX", "PX", ttl};',
     '{"SET", command->name, value, "NX", "PXAT", ttl};'),
    ("src/redis/command.c",
     "{3, command->name_len, 0, 2, 2, 0};",
     "{3, command->name_len, 0, 2, 4, 0};"),
    ("src/redis/command.c",
     '    snprintf(ttl, sizeof ttl, "%" PRIu64, command->ttl_ms);\n'
     "    len[2]",
     '    snprintf(ttl, sizeof ttl, "%" PRIu64,\n'
     "             (uint64_t)time(NULL) * 1000 + command->ttl_ms);\n"
     "    len[2]"),
]
CHECK = "wire/node commands_are_held_back_until_ready"
HANGS = True
