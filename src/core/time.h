/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time in the core: unsigned nanoseconds of a clock that counts suspend and
 * never goes back. Additions saturate, so that "for ever" plus something is
 * still for ever, and no sum wraps round to a moment long past.
 */
#ifndef QL_CORE_TIME_H
#define QL_CORE_TIME_H

#include <stdint.h>

#define QL_NEVER     UINT64_MAX
#define QL_NS_PER_MS UINT64_C(1000000)

static inline uint64_t ql_time_add(uint64_t a, uint64_t b)
{
    return b > QL_NEVER - a ? QL_NEVER : a + b;
}

/* What is left of `a` after `b`; nothing if b is the larger. */
static inline uint64_t ql_time_sub(uint64_t a, uint64_t b)
{
    return a == QL_NEVER ? QL_NEVER : a > b ? a - b : 0;
}

static inline uint64_t ql_time_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t ql_time_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
