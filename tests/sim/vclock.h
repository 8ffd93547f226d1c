/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A virtual clock: what it shows, as a function of the true time that only the
 * oracle knows. It runs at a rate of its own and may be stepped.
 */
#ifndef TESTS_SIM_VCLOCK_H
#define TESTS_SIM_VCLOCK_H

#include <stdint.h>

struct vclock {
    uint64_t since; /* true time of the last change */
    uint64_t base;  /* what it showed then */
    int64_t ppm;    /* how much faster than true time it runs since */
};

/* What it shows at the true time `t`, in nanoseconds. */
uint64_t vclock_read(const struct vclock *clock, uint64_t t);

/* The first true time at which it shows `reading` or more. */
uint64_t vclock_when(const struct vclock *clock, uint64_t reading);

void vclock_set_rate(struct vclock *clock, uint64_t t, int64_t ppm);
void vclock_step(struct vclock *clock, uint64_t t, int64_t delta_ns);

#endif
