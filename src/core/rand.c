/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/rand.h"

#include <assert.h>

void ql_rand_seed(struct ql_rand *rand, uint64_t seed)
{
    rand->state = seed;
}

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014. Any seed will do, zero included. */
uint64_t ql_rand_next(struct ql_rand *rand)
{
    uint64_t z = rand->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t ql_rand_between(struct ql_rand *rand, uint64_t low, uint64_t high)
{
    uint64_t span = high - low;

    assert(low <= high);
    if (span == UINT64_MAX)
        return ql_rand_next(rand);
    /* The bias of the remainder is below 2^-20 for any span we use. */
    return low + ql_rand_next(rand) % (span + 1);
}
