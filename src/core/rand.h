/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small seeded generator (splitmix64) for spreading retries and renewals. It
 * is not fit for tokens: those come from the kernel, outside the core.
 */
#ifndef QL_CORE_RAND_H
#define QL_CORE_RAND_H

#include <stdint.h>

struct ql_rand {
    uint64_t state;
};

void ql_rand_seed(struct ql_rand *rand, uint64_t seed);
uint64_t ql_rand_next(struct ql_rand *rand);

/* Uniform in [low, high], both included. */
uint64_t ql_rand_between(struct ql_rand *rand, uint64_t low, uint64_t high);

#endif
