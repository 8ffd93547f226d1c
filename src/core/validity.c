/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/validity.h"

#include "core/time.h"

uint64_t ql_drift_ns(uint64_t ttl_ns, uint32_t drift_ppm)
{
    /* Divided first, so that no ttl overflows; the remainder is below 1 us
     * per unit of drift_ppm and is put back. */
    uint64_t whole = ttl_ns / 1000000 * drift_ppm;
    uint64_t rest = ttl_ns % 1000000 * drift_ppm / 1000000;

    return ql_time_add(ql_time_add(whole, rest), QL_DRIFT_FLOOR_NS);
}

/*
 * Redlock: the validity is the ttl minus the time that acquiring took, minus
 * the drift. Measured from t0 the elapsed time drops out: what remains at any
 * moment is this end minus that moment.
 */
uint64_t ql_valid_until(uint64_t t0, uint64_t ttl_ns, uint32_t drift_ppm)
{
    uint64_t drift = ql_drift_ns(ttl_ns, drift_ppm);

    return drift >= ttl_ns ? t0 : ql_time_add(t0, ttl_ns - drift);
}
