# SPDX-License-Identifier: BSD-2-Clause
ELSEWHERE = "RedLock.net #68"
HAPPENED = "A client that was stuck went on extending its lock for ever."
FAULT = "extensions go beyond the cap"
EDITS = [
    ("src/core/extend.c",
     "    return ql_time_min(m->hold_until,\n"
     "                       ql_valid_until(m->t0, m->ttl_ns,"
     " m->rules->drift_ppm));",
     "    return ql_valid_until(m->t0, m->ttl_ns, m->rules->drift_ppm);"),
]
CHECK = "story/cap the_validity_never_goes_beyond_the_cap"
