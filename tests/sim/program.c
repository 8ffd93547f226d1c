/* SPDX-License-Identifier: BSD-2-Clause */
#include "program.h"

#include "kernel_inside.h"
#include "soundness.h"
#include "world.h"

/* --- Turns ---------------------------------------------------------------- */

static struct handle *handle_at(struct world *w, uint64_t id)
{
    return &w->client[(uint8_t)id].handle[(uint8_t)(id >> 8)];
}

static uint64_t id_of(struct world *w, const struct handle *handle)
{
    return handle->client | (uint64_t)handle->index << 8 |
           (uint64_t)w->client[handle->client].incarnation << 16;
}

static void take_turn(struct world *w, struct handle *handle);

static bool can_run(struct world *w, uint64_t id, uint64_t turn, event_fn *act)
{
    struct handle *handle = handle_at(w, id);
    struct sim_client *c = &w->client[handle->client];
    uint64_t when;

    if (!c->alive || c->incarnation != id >> 16 || handle->turn != turn)
        return false;
    if (client_can_run(w, c, &when))
        return true;
    events_plan(&w->events, when, act, id, turn);
    return false;
}

static void turn_comes(struct world *w, uint64_t id, uint64_t turn)
{
    struct handle *handle = handle_at(w, id);
    struct sim_client *c = &w->client[handle->client];

    if (!can_run(w, id, turn, turn_comes))
        return;
    client_enter(w, c);
    take_turn(w, handle);
    client_leave(w, c);
}

static void plan_turn(struct world *w, struct handle *handle, uint64_t most_ns)
{
    handle->turn++;
    if (w->patient && most_ns < guard_quarantine_ns(w) / 32)
        most_ns = guard_quarantine_ns(w) / 32;
    events_plan(&w->events, w->now + 1 + dice_below(&w->dice, most_ns),
                turn_comes, id_of(w, handle), handle->turn);
}

void program_start(struct world *w, struct handle *handle)
{
    plan_turn(w, handle, w->swarm.think_ns);
}

static bool chance(struct world *w, uint32_t per_million)
{
    return !w->calm && dice_chance(&w->dice, per_million);
}

/* --- What it is told ------------------------------------------------------ */

static void tell_result(struct world *w, const struct handle *handle,
                        const char *words, int result)
{
    tell(w, words, handle->client, handle->lock, (uint64_t)(int64_t)result,
         ql_result_name(result));
}

static void become_idle(struct world *w, struct handle *handle)
{
    handle->stage = STAGE_IDLE;
    handle->believes = false;
    plan_turn(w, handle, w->swarm.think_ns);
}

static void become_holder(struct world *w, struct handle *handle)
{
    handle->stage = STAGE_HELD;
    plan_turn(w, handle, w->swarm.hold_ns);
}

static void acquired(ql_lock *lock, int result, void *arg)
{
    struct world *w = kernel_world();
    struct handle *handle = arg;

    tell_result(w, handle, "%c acquires %k: %s", result);
    if (result != QL_OK) {
        become_idle(w, handle);
        return;
    }
    w->tally.acquisitions++;
    w->oracle.lock[handle->lock].acquired++;
    handle->believes = ql_lock_lost(lock) == 0;
    if (handle->guarded)
        fence_acquired(w, handle);
    become_holder(w, handle);
}

static void extended(ql_lock *lock, int result, void *arg)
{
    struct world *w = kernel_world();
    struct handle *handle = arg;

    tell_result(w, handle, "%c extends %k: %s", result);
    w->tally.extended += result == QL_OK;
    if (result == QL_OK && handle->guarded)
        fence_extended(w, handle);
    if (result == QL_OK && handle->adopts) {
        w->tally.adopted++;
        w->oracle.lock[handle->lock].acquired++;
        handle->believes = ql_lock_lost(lock) == 0;
    }
    handle->adopts = false;
    become_holder(w, handle);
}

static void verified(ql_lock *lock, int result, void *arg)
{
    struct world *w = kernel_world();
    struct handle *handle = arg;

    (void)lock;
    tell_result(w, handle, "%c verifies %k: %s", result);
    w->tally.verified += result == QL_OK;
    become_holder(w, handle);
}

static void inspected(ql_lock *lock, int result, void *arg)
{
    struct world *w = kernel_world();
    struct handle *handle = arg;

    (void)lock;
    tell_result(w, handle, "%c inspects %k: %s", result);
    become_idle(w, handle);
}

static void released(ql_lock *lock, int result, void *arg)
{
    struct world *w = kernel_world();
    struct handle *handle = arg;

    (void)lock;
    tell_result(w, handle, "%c releases %k: %s", result);
    w->tally.released += result == QL_OK;
    w->tally.gone += result == QL_GONE;
    w->tally.unsure += result == QL_E_UNSURE;
    if (result == QL_OK)
        oracle_released(w, handle);
    become_idle(w, handle);
}

void program_lost(ql_lock *lock, int result, void *arg)
{
    struct world *w = kernel_world();
    struct handle *handle = arg;

    tell_result(w, handle, "%c loses %k: %s", result);
    handle->told_until = lock->machine.valid_until;
    w->tally.losses_told++;
    handle->believes = false;
    if (handle->stage == STAGE_HELD)
        plan_turn(w, handle, w->swarm.latency_ns);
}

/* --- What it does --------------------------------------------------------- */

/* Whatever it is at. A lock that was adopted, and not yet extended, stays. */
static void free_lock(struct world *w, struct handle *handle)
{
    ql_lock *ql = handle->ql;

    tell(w, "%c frees its handle of %k", handle->client, handle->lock, 0, NULL);
    oracle_look(w, &w->client[handle->client]);
    oracle_forget(w, handle);
    if (handle->token_open && ql->machine.state != QL_ST_ADOPTED)
        follow(w, handle, ql->token);
    handle->ql = NULL;
    ql_lock_free(ql);
    client_new_lock(w, handle);
    program_start(w, handle);
}

static void cancel_comes(struct world *w, uint64_t id, uint64_t turn)
{
    struct handle *handle = handle_at(w, id);
    struct sim_client *c = &w->client[handle->client];

    if (!can_run(w, id, turn, cancel_comes))
        return;
    w->tally.fault[FAULT_CANCEL]++;
    client_enter(w, c);
    tell(w, "%c cancels at %k", handle->client, handle->lock, 0, NULL);
    if (dice_chance(&w->dice, 250000)) {
        free_lock(w, handle);
    } else {
        ql_lock_cancel(handle->ql);
    }
    client_leave(w, c);
}

/* After an operation was started: it may be cancelled at any moment. */
static void plan_cancel(struct world *w, struct handle *handle)
{
    uint64_t most = dice_chance(&w->dice, 500000)
                        ? 2 * w->swarm.node_timeout_ms * MS
                        : 2 * w->swarm.ttl_ms * MS;

    handle->turn++;
    if (chance(w, w->swarm.cancel_ppm))
        events_plan(&w->events, w->now + dice_below(&w->dice, most),
                    cancel_comes, id_of(w, handle), handle->turn);
}

static void started(struct world *w, struct handle *handle, enum stage stage,
                    int result)
{
    if (result != QL_OK)
        world_fail(w, "client %u: an operation on lock %u cannot start: %s",
                   handle->client, handle->lock, ql_result_text(result));
    handle->stage = (uint8_t)stage;
    plan_cancel(w, handle);
}

static void acquire(struct world *w, struct handle *handle)
{
    int64_t wait_ms = QL_WAIT_FOREVER;

    handle->adopted = false;
    if (!w->calm && dice_chance(&w->dice, 330000))
        wait_ms = 0;
    else if (!w->calm && dice_chance(&w->dice, 500000))
        wait_ms = (int64_t)dice_below(&w->dice, 4 * w->swarm.ttl_ms);
    started(w, handle, STAGE_ACQUIRING,
            ql_lock_acquire_start_timed(handle->ql, wait_ms, acquired, handle));
}

static uint32_t some_ttl_ms(struct world *w)
{
    uint32_t ttl_ms = w->swarm.ttl_ms;

    return dice_chance(&w->dice, 500000)
               ? ttl_ms
               : (uint32_t)dice_between(&w->dice, ttl_ms / 4 + 1, ttl_ms);
}

/* A lock that somebody left to whoever knows its token. */
static void adopt(struct world *w, struct handle *handle)
{
    struct lock_record *lock = &w->oracle.lock[handle->lock];
    char token[QL_TOKEN_MAX + 1];
    int rc;

    memcpy(token, lock->left_token, sizeof token);
    lock->left_token[0] = '\0'; /* nobody else takes it */
    rc = ql_lock_adopt(handle->ql, token);
    assert(rc == QL_OK);
    tell(w, "%c adopts %k", handle->client, handle->lock, 0, NULL);
    handle->extends_since = w->now;
    handle->adopts = handle->adopted = true;
    started(w, handle, STAGE_BUSY,
            ql_lock_extend_start(handle->ql, some_ttl_ms(w), extended, handle));
}

static void leave(struct world *w, struct handle *handle)
{
    struct lock_record *lock = &w->oracle.lock[handle->lock];
    ql_lock *ql = handle->ql;

    tell(w, "%c leaves %k", handle->client, handle->lock, 0, NULL);
    memcpy(lock->left_token, ql->token, sizeof lock->left_token);
    lock->left_guarded = handle->guarded;
    oracle_forget(w, handle);
    handle->ql = NULL;
    ql_lock_leave(ql);
    client_new_lock(w, handle);
    program_start(w, handle);
}

static void act_as_holder(struct world *w, struct handle *handle)
{
    const struct swarm *s = &w->swarm;
    bool lost = ql_lock_lost(handle->ql) != 0;

    handle->extends_since = w->now;
    if (chance(w, s->extend_ppm)) /* even if it is lost, and cannot be */
        started(
            w, handle, STAGE_BUSY,
            ql_lock_extend_start(handle->ql, some_ttl_ms(w), extended, handle));
    else if (chance(w, s->look_ppm))
        started(w, handle, STAGE_BUSY,
                ql_lock_verify_start(handle->ql, verified, handle));
    else if (!lost && chance(w, s->leave_ppm))
        leave(w, handle);
    else if (chance(w, s->free_ppm))
        free_lock(w, handle);
    else if (!lost && chance(w, s->forget_ppm))
        plan_turn(w, handle, 2 * s->ttl_ms * MS);
    else
        started(w, handle, STAGE_ENDING,
                ql_lock_release_start(handle->ql, released, handle));
}

static bool goes_on(const struct world *w, const struct handle *handle)
{
    return handle->client == 0 && handle->index < w->swarm.locks;
}

static void give_way(struct world *w, uint64_t id, uint64_t turn)
{
    struct handle *handle = handle_at(w, id);
    struct sim_client *c = &w->client[handle->client];

    if (!can_run(w, id, turn, give_way))
        return;
    client_enter(w, c);
    ql_lock_cancel(handle->ql);
    client_leave(w, c);
}

void programs_give_way(struct world *w)
{
    w->crowded = true;
    tell(w, "all but the first client give way", 0, 0, 0, NULL);
    for (unsigned i = 0; i < w->swarm.clients; i++)
        for (unsigned j = 0; j < w->swarm.handles; j++) {
            struct handle *handle = &w->client[i].handle[j];

            if (handle->stage == STAGE_ACQUIRING && !goes_on(w, handle))
                events_plan(&w->events, w->now, give_way, id_of(w, handle),
                            handle->turn);
        }
}

static void take_turn(struct world *w, struct handle *handle)
{
    switch ((enum stage)handle->stage) {
    case STAGE_IDLE:
        if (w->crowded && !goes_on(w, handle))
            break;
        if (w->oracle.lock[handle->lock].left_token[0] &&
            w->oracle.lock[handle->lock].left_guarded == handle->guarded &&
            chance(w, 300000))
            adopt(w, handle);
        else if (chance(w, w->swarm.look_ppm / 8))
            started(w, handle, STAGE_BUSY,
                    ql_lock_inspect_start(handle->ql, inspected, handle));
        else
            acquire(w, handle);
        break;
    case STAGE_HELD:
        act_as_holder(w, handle);
        break;
    default:
        break;
    }
}
