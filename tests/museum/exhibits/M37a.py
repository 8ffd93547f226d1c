# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "RedLock.net cb50082"
HAPPENED = """Elapsed time was measured with the wall clock, and a clock that
was set back made the lock last longer."""
FAULT = "the client's time is the wall clock's"
EDITS = [
    ("src/client/clock.c",
     "    now = boot_ns + clock->skipped;",
     "    now = wall_ns;"),
]
CHECK = "unit/clock trap_16_a_wall_clock_set_back_an_hour*"
