# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "RedLock.net 78c55db"
HAPPENED = "A ttl in milliseconds was sent as seconds: EX instead of PX."
FAULT = "SET is sent with EX"
EDITS = [
    ("src/redis/command.c",
     '{"SET", command->name, value, "NX", "PX", ttl};',
     '{"SET", command->name, value, "NX", "EX", ttl};'),
]
CHECK = "live/basic the_value_is_the_token_and_the_label*"
