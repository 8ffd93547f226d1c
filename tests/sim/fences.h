/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fencing tokens: no two alike, and larger than those of every acquisition that
 * had ended before. Without regard to anybody's clock.
 */
#ifndef TESTS_SIM_FENCES_H
#define TESTS_SIM_FENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bounds.h"

struct world;
struct handle;

#define FENCES_MAX 8192 /* remembered of each lock */
#define ATTEMPTS_MAX                                                           \
    65536 /* of the world: those that may still come to an end */

/* One that was given out. */
struct fence {
    uint64_t value;
    uint64_t told_at;
    uint64_t largest; /* of this and all that were told before */
    uint64_t attempt;
};

struct fences {
    struct fence given[FENCES_MAX]; /* one after the other, as they were told */
    uint64_t count;
};

/* An attempt, by its number, which is in its token. */
struct attempt {
    uint64_t began;
    bool released; /* some node has heard of a release */
};

/* The library asks for a token: an attempt begins. */
void fence_attempt(struct world *w);
/* A program was told that it has the lock; that it has extended it. */
void fence_acquired(struct world *w, const struct handle *handle);
void fence_extended(struct world *w, const struct handle *handle);
/* A node was asked to release the lock with this token. */
void fence_released(struct world *w, const char *token, size_t len);

#endif
