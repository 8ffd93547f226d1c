/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/backoff.h"

#include "core/time.h"

/*
 * "It should try again after a random delay in order to try to desynchronize
 * multiple clients": uniform over the upper half, so that contenders that
 * collided once spread out, and none hammers the servers.
 */
uint64_t ql_backoff_ns(const struct ql_terms *terms, unsigned attempt,
                       struct ql_rand *rand)
{
    uint64_t delay_ns =
        terms->delay ? terms->delay(attempt, terms->delay_arg) * QL_NS_PER_MS
                     : ql_rand_between(rand, terms->retry_delay_ns / 2,
                                       terms->retry_delay_ns);

    /* A delay of nothing would be a loop that floods the servers. */
    return ql_time_max(delay_ns, QL_NS_PER_MS);
}
