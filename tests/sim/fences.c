/* SPDX-License-Identifier: BSD-2-Clause */
#include "fences.h"

#include <inttypes.h>

#include "soundness.h"
#include "world.h"

#define LAST (UINT64_C(1) << 53)

/* --- Attempts --------------------------------------------------------------
 */

/* The second 16 digits of a token are the attempt's number: draw_token(). */
static uint64_t number_of(const char *token, size_t len)
{
    char digits[17] = "";

    if (len == 40)
        memcpy(digits, token + 16, 16);
    return strtoull(digits, NULL, 16);
}

static struct attempt *attempt_of(struct world *w, uint64_t number)
{
    return &w->attempt[number % ATTEMPTS_MAX];
}

void fence_attempt(struct world *w)
{
    *attempt_of(w, w->tally.attempts) = (struct attempt){.began = w->now};
}

void fence_released(struct world *w, const char *token, size_t len)
{
    uint64_t number = number_of(token, len);

    if (number > 0)
        attempt_of(w, number)->released = true;
}

/* --- Fences ----------------------------------------------------------------
 */

static struct fence *fence_at(struct fences *fences, uint64_t index)
{
    return &fences->given[index % FENCES_MAX];
}

/* The oldest that is remembered. */
static uint64_t first_of(const struct fences *fences)
{
    return fences->count > FENCES_MAX ? fences->count - FENCES_MAX : 0;
}

/* The largest that was told before `when`. */
static uint64_t largest_before(struct fences *fences, uint64_t when)
{
    uint64_t i = fences->count;

    while (i > first_of(fences)) {
        const struct fence *fence = fence_at(fences, --i);

        if (fence->told_at < when)
            return fence->largest;
    }
    return 0;
}

static void check_new(struct world *w, const struct handle *handle,
                      uint64_t value, uint64_t began)
{
    struct fences *fences = &w->oracle.lock[handle->lock].fences;
    uint64_t before = largest_before(fences, began);

    if (value == 0 || value >= LAST)
        world_fail(w, "client %u acquired lock %u with fencing token %" PRIu64,
                   handle->client, handle->lock, value);
    if (value <= before)
        world_fail(w,
                   "client %u acquired lock %u with fencing token %" PRIu64
                   ", and %" PRIu64 " had been given out before it began",
                   handle->client, handle->lock, value, before);
    for (uint64_t i = first_of(fences); i < fences->count; i++)
        if (fence_at(fences, i)->value == value)
            world_fail(w,
                       "client %u acquired lock %u with fencing token %" PRIu64
                       ", which had been given out",
                       handle->client, handle->lock, value);
}

/* --- Whose holder died -----------------------------------------------------
 */

/* Who had it before, by the numbers; NULL: not known. */
static const struct fence *holder_before(struct fences *fences, uint64_t value)
{
    const struct fence *best = NULL;

    for (uint64_t i = first_of(fences); i < fences->count; i++) {
        const struct fence *fence = fence_at(fences, i);

        if (fence->value < value && (!best || fence->value > best->value))
            best = fence;
    }
    return best;
}

/* Nothing has been forgotten since, and no record expired. */
static bool is_remembered(const struct world *w, const struct fence *fence)
{
    uint64_t age = w->now - fence->told_at;

    for (unsigned i = 0; i < w->swarm.nodes; i++)
        if (w->node[i].struck_at >= fence->told_at)
            return false;
    return age < w->swarm.keep_ms * MS;
}

static void check_died(struct world *w, const struct handle *handle,
                       uint64_t value)
{
    struct fences *fences = &w->oracle.lock[handle->lock].fences;
    const struct fence *before = holder_before(fences, value);
    bool died = ql_lock_owner_died(handle->ql);

    w->tally.died += died;
    if (!before || !is_remembered(w, before) || died ||
        attempt_of(w, before->attempt)->released)
        return;
    world_fail(w,
               "client %u was not told that the holder of lock %u before it "
               "(fencing token %" PRIu64 ") had died",
               handle->client, handle->lock, before->value);
}

/* --- What programs are told ------------------------------------------------
 */

void fence_acquired(struct world *w, const struct handle *handle)
{
    struct fences *fences = &w->oracle.lock[handle->lock].fences;
    uint64_t value = ql_lock_fence(handle->ql);
    uint64_t attempt = number_of(handle->ql->token, strlen(handle->ql->token));
    uint64_t largest = largest_before(fences, NEVER);

    tell(w, "%c has fencing token %d of %k", handle->client, value,
         handle->lock, NULL);
    check_new(w, handle, value, attempt_of(w, attempt)->began);
    check_died(w, handle, value);
    *fence_at(fences, fences->count++) = (struct fence){
        .value = value,
        .told_at = w->now,
        .largest = value > largest ? value : largest,
        .attempt = attempt,
    };
    w->tally.fences++;
    w->tally.one_round += handle->ql->machine.confirm == 0;
}

void fence_extended(struct world *w, const struct handle *handle)
{
    struct fences *fences = &w->oracle.lock[handle->lock].fences;
    uint64_t before = largest_before(fences, handle->extends_since);
    uint64_t value = ql_lock_fence(handle->ql);

    if (value < before)
        world_fail(w,
                   "client %u extended lock %u with fencing token %" PRIu64
                   ", and %" PRIu64 " had been given out before it began",
                   handle->client, handle->lock, value, before);
}
