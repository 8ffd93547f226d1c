# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "rslock, lock.rs:530"
HAPPENED = """A margin was taken off an unsigned validity that was smaller than
the margin, and what came out was for ever."""
FAULT = "a drift larger than the ttl underflows"
EDITS = [
    ("src/core/validity.c",
     "    return drift >= ttl_ns ? t0 : ql_time_add(t0, ttl_ns - drift);",
     "    return ql_time_add(t0, ttl_ns - drift);"),
]
CHECK = "unit/validity the_end_never_lies_before_t0_or_beyond_the_ttl"
