# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "pottery 534accf"
HAPPENED = "The validity was miscomputed, and came out too long."
FAULT = "the drift is added to the validity"
EDITS = [
    ("src/core/validity.c",
     "ql_time_add(t0, ttl_ns - drift)",
     "ql_time_add(t0, ttl_ns + drift)"),
]
CHECK = "unit/validity validity_ends_a_ttl_after_t0_less_the_drift"
