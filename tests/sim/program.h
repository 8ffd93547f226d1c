/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client's program does with its locks, by chance. */
#ifndef TESTS_SIM_PROGRAM_H
#define TESTS_SIM_PROGRAM_H

#include "client.h"

/* The handle is new: its first turn comes some time. */
void program_start(struct world *w, struct handle *handle);

/* All but the first client's first handle of each lock stop trying for it. */
void programs_give_way(struct world *w);

/* ql_lost_fn: the argument is the handle. */
void program_lost(ql_lock *lock, int result, void *arg);

#endif
