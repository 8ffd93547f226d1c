/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chance in the simulator: one generator per world, from its seed (splitmix64).
 * It is not the core's, so that a fault planted there cannot change the world
 * that is to find it. No floating point: the same everywhere.
 */
#ifndef TESTS_SIM_DICE_H
#define TESTS_SIM_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint64_t dice_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint64_t dice_next(struct dice *dice)
{
    return dice_mix(dice->state += UINT64_C(0x9e3779b97f4a7c15));
}

/* In [0, n). */
static inline uint64_t dice_below(struct dice *dice, uint64_t n)
{
    return n > 1 ? dice_next(dice) % n : 0;
}

/* In [low, high], both included. */
static inline uint64_t dice_between(struct dice *dice, uint64_t low,
                                    uint64_t high)
{
    return low + dice_below(dice, high - low + 1);
}

/* True `per_million` times in a million. */
static inline bool dice_chance(struct dice *dice, uint32_t per_million)
{
    return per_million > 0 && dice_below(dice, 1000000) < per_million;
}

/* In [low, high], where every doubling is as likely as the next. */
static inline uint64_t dice_spread(struct dice *dice, uint64_t low,
                                   uint64_t high)
{
    unsigned doublings = 0;
    uint64_t value;

    while (high >> doublings > low)
        doublings++;
    value = low << dice_below(dice, doublings + 1);
    value = dice_between(dice, value, 2 * value - 1);
    return value < high ? value : high;
}

#endif
