/* SPDX-License-Identifier: BSD-2-Clause */
#include "client/timers.h"

#include <assert.h>

int ql_timers_promise(struct ql_timers *timers, const ql_allocator *mem)
{
    if (timers->promised == timers->room) {
        size_t room = timers->room ? 2 * timers->room : 16;
        struct ql_timer **heap =
            ql_mem_resize(mem, timers->heap, room * sizeof(struct ql_timer *));

        if (!heap)
            return QL_E_NOMEM;
        timers->heap = heap;
        timers->room = room;
    }
    timers->promised++;
    return QL_OK;
}

void ql_timers_unpromise(struct ql_timers *timers)
{
    assert(timers->promised > timers->count);
    timers->promised--;
}

static void put(struct ql_timers *timers, size_t place, struct ql_timer *timer)
{
    timers->heap[place - 1] = timer;
    timer->place = place;
}

static void sift_up(struct ql_timers *timers, struct ql_timer *timer)
{
    size_t place = timer->place;

    for (; place > 1; place /= 2) {
        struct ql_timer *parent = timers->heap[place / 2 - 1];

        if (parent->deadline <= timer->deadline)
            break;
        put(timers, place, parent);
    }
    put(timers, place, timer);
}

static void sift_down(struct ql_timers *timers, struct ql_timer *timer)
{
    size_t place = timer->place;

    for (;;) {
        size_t child = 2 * place;

        if (child > timers->count)
            break;
        if (child < timers->count &&
            timers->heap[child]->deadline < timers->heap[child - 1]->deadline)
            child++;
        if (timer->deadline <= timers->heap[child - 1]->deadline)
            break;
        put(timers, place, timers->heap[child - 1]);
        place = child;
    }
    put(timers, place, timer);
}

static void take_out(struct ql_timers *timers, struct ql_timer *timer)
{
    struct ql_timer *last = timers->heap[timers->count - 1];
    size_t place = timer->place;

    timers->count--;
    timer->place = 0;
    if (last == timer)
        return;
    put(timers, place, last);
    sift_up(timers, last);
    sift_down(timers, last);
}

void ql_timers_set(struct ql_timers *timers, struct ql_timer *timer,
                   uint64_t deadline)
{
    if (deadline == UINT64_MAX) {
        if (timer->place)
            take_out(timers, timer);
        timer->deadline = deadline;
        return;
    }
    if (timer->place && timer->deadline == deadline)
        return;
    timer->deadline = deadline;
    if (!timer->place) {
        assert(timers->count < timers->promised);
        timers->count++;
        put(timers, timers->count, timer);
    }
    sift_up(timers, timer);
    sift_down(timers, timer);
}

struct ql_timer *ql_timers_first(const struct ql_timers *timers)
{
    return timers->count ? timers->heap[0] : NULL;
}

void ql_timers_free(struct ql_timers *timers, const ql_allocator *mem)
{
    ql_mem_free(mem, timers->heap);
    *timers = (struct ql_timers){0};
}
