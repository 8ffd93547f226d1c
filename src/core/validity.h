/* SPDX-License-Identifier: BSD-2-Clause */
/* Until when a lock is surely ours. Numbers in, numbers out. */
#ifndef QL_CORE_VALIDITY_H
#define QL_CORE_VALIDITY_H

#include <stdint.h>

/* Added to the drift whatever the ttl: a server expires keys to the
 * millisecond, and rounds. "plus just a few milliseconds", says the page. */
#define QL_DRIFT_FLOOR_NS UINT64_C(2000000)

/* How much of `ttl_ns` clocks of different speed may eat up. */
uint64_t ql_drift_ns(uint64_t ttl_ns, uint32_t drift_ppm);

/*
 * The end of the validity of a lock asked for at `t0` (before the first byte
 * was sent) for `ttl_ns`. It may lie before t0 + anything: then there is none.
 */
uint64_t ql_valid_until(uint64_t t0, uint64_t ttl_ns, uint32_t drift_ppm);

#endif
