# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "Redisson #656"
HAPPENED = """Acquiring succeeded although part of the nodes had the lock for
somebody else."""
FAULT = "SET goes without NX, and overwrites another's key"
EDITS = [
    ("src/redis/command.c",
     '{"SET", command->name, value, "NX", "PX", ttl};',
     '{"SET", command->name, value, "PX", ttl};'),
    ("src/redis/command.c",
     "{3, command->name_len, 0, 2, 2, 0};",
     "{3, command->name_len, 0, 2, 0};"),
    ("src/redis/command.c",
     "    len[5] = strlen(ttl);\n    return ql_request_encode(request, 6,",
     "    len[4] = strlen(ttl);\n    return ql_request_encode(request, 5,"),
]
CHECK = "live/basic a_second_handle_is_told_who_holds_it_and_for_how_long (1)"
