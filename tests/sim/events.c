/* SPDX-License-Identifier: BSD-2-Clause */
#include "events.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

static bool before(const struct event *a, const struct event *b)
{
    return a->at < b->at || (a->at == b->at && a->number < b->number);
}

void events_plan(struct events *events, uint64_t at, event_fn *act, uint64_t a,
                 uint64_t b)
{
    struct event event = {at, events->planned++, act, a, b};
    size_t i = events->count++;

    if (events->count > events->room) {
        events->room = events->room ? 2 * events->room : 256;
        events->heap =
            realloc(events->heap, events->room * sizeof *events->heap);
        assert(events->heap);
    }
    for (; i > 0 && before(&event, &events->heap[(i - 1) / 2]); i = (i - 1) / 2)
        events->heap[i] = events->heap[(i - 1) / 2];
    events->heap[i] = event;
}

uint64_t events_next(const struct events *events)
{
    return events->count ? events->heap[0].at : UINT64_MAX;
}

struct event events_take(struct events *events)
{
    struct event first = events->heap[0];
    struct event last = events->heap[--events->count];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < events->count &&
            before(&events->heap[child + 1], &events->heap[child]))
            child++;
        if (child >= events->count || !before(&events->heap[child], &last))
            break;
        events->heap[i] = events->heap[child];
        i = child;
    }
    events->heap[i] = last;
    return first;
}

void events_free(struct events *events)
{
    free(events->heap);
    *events = (struct events){0};
}
