/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of several processes at once: each counts in a share of its own,
 * in memory that all of them see, and the first failure ends the others.
 */
#ifndef TESTS_SIM_SHARES_H
#define TESTS_SIM_SHARES_H

#include <stdbool.h>

#include "tally.h"

struct share {
    struct tally sum;
    uint64_t violations;
};

/* Returns false, with errno, if there is no memory to be had. */
bool shares_start(unsigned jobs);
struct share *shares_of(unsigned job);
void shares_add(struct share *sum);

void shares_fail(void);
bool shares_failed(void);

/* Runs `work` in a process for each job; `tell` is called now and then. */
void shares_run(bool (*work)(void *plan, unsigned job),
                void (*tell)(void *plan), void *plan);

#endif
