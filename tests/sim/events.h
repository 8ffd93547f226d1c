/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is going to happen: a heap ordered by time, and at one time by the order
 * in which it was planned, so that a run is the same every time.
 */
#ifndef TESTS_SIM_EVENTS_H
#define TESTS_SIM_EVENTS_H

#include <stddef.h>
#include <stdint.h>

struct world;

/* What `a` and `b` mean is between the one who plans and the one who acts. An
 * event cannot be taken back: who acts looks first whether it still applies. */
typedef void event_fn(struct world *w, uint64_t a, uint64_t b);

struct event {
    uint64_t at;
    uint64_t number;
    event_fn *act;
    uint64_t a, b;
};

struct events {
    struct event *heap;
    size_t count, room;
    uint64_t planned;
};

void events_plan(struct events *events, uint64_t at, event_fn *act, uint64_t a,
                 uint64_t b);

/* When the next one is; UINT64_MAX: there is none. */
uint64_t events_next(const struct events *events);
struct event events_take(struct events *events);
void events_free(struct events *events);

#endif
