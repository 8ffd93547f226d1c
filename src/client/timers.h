/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which lock's machine wants the time next: a binary heap of deadlines. Each
 * entry keeps its own place, so that moving it costs no search.
 */
#ifndef QL_CLIENT_TIMERS_H
#define QL_CLIENT_TIMERS_H

#include "base/mem.h"

struct ql_timer {
    uint64_t deadline;
    size_t place; /* in the heap, from 1; 0: not in it */
};

struct ql_timers {
    struct ql_timer **heap;
    size_t count;
    size_t room;     /* entries that fit */
    size_t promised; /* entries that may be asked for at once */
};

/* Makes room for one more timer, so that setting it can never fail. */
int ql_timers_promise(struct ql_timers *timers, const ql_allocator *mem);
void ql_timers_unpromise(struct ql_timers *timers);

/* UINT64_MAX takes the timer out. */
void ql_timers_set(struct ql_timers *timers, struct ql_timer *timer,
                   uint64_t deadline);

/* The earliest one, or NULL. */
struct ql_timer *ql_timers_first(const struct ql_timers *timers);

void ql_timers_free(struct ql_timers *timers, const ql_allocator *mem);

#endif
