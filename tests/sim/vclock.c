/* SPDX-License-Identifier: BSD-2-Clause */
#include "vclock.h"

#define MILLION 1000000

uint64_t vclock_read(const struct vclock *clock, uint64_t t)
{
    int64_t passed = (int64_t)(t - clock->since);

    /* Divided first, so that nothing overflows. */
    return clock->base + (uint64_t)(passed + passed / MILLION * clock->ppm +
                                    passed % MILLION * clock->ppm / MILLION);
}

uint64_t vclock_when(const struct vclock *clock, uint64_t reading)
{
    __int128 wanted = (__int128)reading - clock->base;
    uint64_t t;

    if (reading == UINT64_MAX)
        return UINT64_MAX;
    if (wanted <= 0)
        return clock->since;
    t = clock->since + (uint64_t)(wanted * MILLION / (MILLION + clock->ppm));
    while (vclock_read(clock, t) < reading)
        t++;
    return t;
}

void vclock_set_rate(struct vclock *clock, uint64_t t, int64_t ppm)
{
    clock->base = vclock_read(clock, t);
    clock->since = t;
    clock->ppm = ppm;
}

void vclock_step(struct vclock *clock, uint64_t t, int64_t delta_ns)
{
    clock->base = vclock_read(clock, t) + (uint64_t)delta_ns;
    clock->since = t;
}
