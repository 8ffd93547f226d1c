/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The promises of fencing tokens. They hold while numbers are not lost, also
 * where leases vanish and clocks are wrong: tokens of different acquisitions
 * differ, one that began after another was given out is larger, none is given
 * out that a majority did not have, and none is extended after a larger one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/time.h"
#include "world_inside.h"

/* The same for all nodes; often too small, or what somebody else proposes. */
static uint64_t proposal(struct world *w)
{
    switch (world_random(w, 0, 3)) {
    case 0:
        return world_random(w, 1, 20);
    case 1:
        return w->tokens;
    case 2:
        return w->largest + world_random(w, 0, 2);
    default:
        return w->now / QL_NS_PER_MS;
    }
}

void world_fence_attempt(struct world *w, unsigned machine)
{
    struct world_machine *wm = &w->machine[machine];

    wm->proposal = proposal(w);
    wm->fence = 0;
    wm->floor = w->largest;
    memset(wm->said, 0, sizeof(wm->said));
}

void world_fence_extension(struct world *w, unsigned machine)
{
    w->machine[machine].extension_floor = w->largest;
}

void world_fence_answer(struct world *w, unsigned machine, unsigned node,
                        const struct world_request *request)
{
    struct world_machine *wm = &w->machine[machine];
    uint64_t *said = wm->said[node];

    if (request->token != wm->token || request->answer.vote != QL_VOTE_YES)
        return;
    memmove(&said[1], said, (WORLD_SAID - 1) * sizeof(*said));
    said[0] = request->answer.fence;
}

static unsigned have_said(const struct world *w, const struct world_machine *wm,
                          uint64_t fence)
{
    unsigned count = 0;

    for (unsigned i = 0; i < w->rules.nodes; i++) {
        bool has = false;

        for (unsigned j = 0; j < WORLD_SAID; j++)
            has |= wm->said[i][j] == fence;
        count += has;
    }
    return count;
}

static void given_out(struct world *w, struct world_machine *wm, uint64_t fence)
{
    assert_true(fence > wm->floor);
    for (unsigned i = 0; i < w->given_out; i++)
        assert_true(w->given[i] != fence);
    assert_true(have_said(w, wm, fence) >= w->rules.quorum);
    assert_true(w->given_out < WORLD_GIVEN);
    w->given[w->given_out++] = fence;
    w->largest = ql_time_max(w->largest, fence);
    wm->fence = fence;
}

void world_fence_told(struct world *w, unsigned machine,
                      enum ql_outcome outcome)
{
    struct world_machine *wm = &w->machine[machine];
    uint64_t fence = wm->machine->fence;

    if (outcome != QL_OUT_ACQUIRED && outcome != QL_OUT_EXTENDED)
        return;
    assert_true(fence != 0);
    if (wm->fence == 0) /* or adopted, from one that was never told */
        given_out(w, wm, fence);
    assert_true(fence == wm->fence);
    if (outcome == QL_OUT_EXTENDED)
        assert_true(fence >= wm->extension_floor);
}
