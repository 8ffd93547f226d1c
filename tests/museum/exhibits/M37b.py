# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "RedLock.net 633757b"
HAPPENED = "Ticks of one length were taken for ticks of another."
FAULT = "seconds become microseconds instead of nanoseconds"
EDITS = [
    ("src/client/clock.c",
     "(uint64_t)ts.tv_sec * 1000000000",
     "(uint64_t)ts.tv_sec * 1000000"),
]
CHECK = "unit/museum m37_*"
