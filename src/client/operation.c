/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A caller's request: from its start, perhaps behind a gate until connections
 * are up, to its end, when a thread is woken or a callback is due.
 */
#include <assert.h>
#include <unistd.h>

#include "client/client.h"
#include "core/time.h"

/* --- Starting ----------------------------------------------------------- */

static void begin(struct ql_lock *lock)
{
    struct ql_event event = {0};

    switch ((enum ql_op_kind)lock->op.kind) {
    case QL_OP_ACQUIRE:
        event.kind = QL_EV_ACQUIRE;
        event.until = lock->op.until;
        break;
    case QL_OP_EXTEND:
        event.kind = QL_EV_EXTEND;
        event.ttl_ns = lock->op.ttl_ns;
        break;
    case QL_OP_RELEASE:
        event.kind = QL_EV_RELEASE;
        break;
    case QL_OP_VERIFY:
        event.kind = QL_EV_VERIFY;
        break;
    case QL_OP_INSPECT:
        event.kind = QL_EV_INSPECT;
        break;
    case QL_OP_NONE:
        return;
    }
    ql_drive(lock, event);
}

/*
 * The time that connecting takes must not be taken from the lock's validity, so
 * an operation does not start before a majority is connected; unless no more
 * nodes can be hoped for, and it had better fail.
 */
bool ql_op_gate_open(const struct ql_client *client)
{
    unsigned ready = 0, hopeful = 0;

    for (unsigned i = 0; i < client->rules.nodes; i++) {
        enum ql_node_state state = ql_node_state(client->member[i].node);

        ready += state == QL_NODE_READY;
        hopeful += state == QL_NODE_CONNECTING || state == QL_NODE_GREETING;
    }
    return ready >= client->rules.quorum || hopeful == 0;
}

/* Tries every node that is down now, without waiting for its turn. */
void ql_op_connect(struct ql_client *client)
{
    for (unsigned i = 0; i < client->rules.nodes; i++)
        ql_node_connect(client->member[i].node, client->clock.now);
}

static unsigned ready_nodes(const struct ql_client *client)
{
    unsigned ready = 0;

    for (unsigned i = 0; i < client->rules.nodes; i++)
        ready += ql_node_state(client->member[i].node) == QL_NODE_READY;
    return ready;
}

void ql_op_start(struct ql_lock *lock)
{
    struct ql_client *client = lock->client;

    if (lock->op.kind != QL_OP_EXTEND && lock->op.kind != QL_OP_RELEASE)
        ql_note_reset(lock);
    if (ready_nodes(client) < client->rules.quorum)
        ql_op_connect(client);
    if (ql_op_gate_open(client)) {
        begin(lock);
        return;
    }
    lock->op.gated = true;
    client->gated++;
    ql_timers_set(&client->timers, &lock->timer,
                  ql_time_add(client->clock.now, client->connect_timeout_ns));
}

static void ungate(struct ql_lock *lock)
{
    lock->op.gated = false;
    lock->client->gated--;
    ql_timers_set(&lock->client->timers, &lock->timer,
                  ql_machine_deadline(&lock->machine));
}

void ql_op_pass_gate(struct ql_lock *lock)
{
    ungate(lock);
    begin(lock);
}

void ql_op_check_gates(struct ql_client *client)
{
    struct ql_lock *lock, *next;

    if (client->gated == 0 || !ql_op_gate_open(client))
        return;
    for (lock = client->locks; lock; lock = next) {
        next = lock->next;
        if (lock->op.gated)
            ql_op_pass_gate(lock);
    }
}

void ql_op_cancel(struct ql_lock *lock)
{
    if (lock->op.gated) {
        ungate(lock);
        ql_op_finish(lock, QL_E_CANCELLED);
    } else if (lock->op.kind != QL_OP_NONE) {
        ql_drive(lock, (struct ql_event){.kind = QL_EV_CANCEL});
    }
}

/* --- Ending ------------------------------------------------------------- */

static int result_of(const struct ql_lock *lock, enum ql_outcome outcome)
{
    switch (outcome) {
    case QL_OUT_ACQUIRED:
    case QL_OUT_EXTENDED:
    case QL_OUT_RELEASED:
    case QL_OUT_VERIFIED:
    case QL_OUT_FREE:
        return QL_OK;
    case QL_OUT_HELD:
        return QL_HELD;
    case QL_OUT_GONE:
        return QL_GONE;
    case QL_OUT_SPLIT:
        return QL_E_SPLIT;
    case QL_OUT_NO_QUORUM:
        return ql_note_refine(lock);
    case QL_OUT_CANCELLED:
        return QL_E_CANCELLED;
    case QL_OUT_ABORTED:
        return QL_E_RANDOM;
    case QL_OUT_TOO_LATE:
    case QL_OUT_LOST:
        return QL_E_LOST;
    case QL_OUT_CAPPED:
    case QL_OUT_LOST_CAPPED:
        return QL_E_CAP;
    case QL_OUT_UNSURE:
        return QL_E_UNSURE;
    case QL_OUT_NONE:
        break;
    }
    assert(!"an outcome without a result");
    return QL_E_SYSTEM;
}

static void queue_callback(struct ql_lock *lock)
{
    struct ql_lock **at = &lock->client->finished;

    if (lock->queued)
        return;
    while (*at)
        at = &(*at)->next_finished;
    lock->next_finished = NULL;
    lock->queued = true;
    *at = lock;
}

void ql_op_finish(struct ql_lock *lock, int result)
{
    if (lock->op.kind == QL_OP_NONE)
        return;
    lock->op.kind = QL_OP_NONE;
    lock->op.done = true;
    lock->op.result = result;
    lock->last_result = result;
    if (lock->op.waiter)
        pthread_cond_signal(&lock->op.waiter->woken);
    if (lock->op.callback) {
        lock->op.tell_done = true;
        queue_callback(lock);
    }
}

static void tell_loss(struct ql_lock *lock, int result)
{
    uint64_t one = 1;

    lock->lost = result;
    if (lock->lost_fd >= 0 &&
        write(lock->lost_fd, &one, sizeof(one)) != (ssize_t)sizeof(one)) {
        /* It is readable already: the counter is full. */
    }
    if (lock->lost_fn) {
        lock->op.tell_lost = true;
        queue_callback(lock);
    }
}

void ql_op_tell(struct ql_lock *lock, enum ql_outcome outcome)
{
    if (outcome == QL_OUT_LOST || outcome == QL_OUT_LOST_CAPPED)
        tell_loss(lock, result_of(lock, outcome));
    else
        ql_op_finish(lock, result_of(lock, outcome));
}

/* --- Calling back ------------------------------------------------------- */

static void enter_call(struct ql_client *client, struct ql_call *call,
                       struct ql_lock *lock)
{
    *call = (struct ql_call){.lock = lock,
                             .thread = pthread_self(),
                             .next = client->calls,
                             .link = &client->calls};
    if (call->next)
        call->next->link = &call->next;
    client->calls = call;
    pthread_mutex_unlock(&client->mutex);
}

static void leave_call(struct ql_client *client, struct ql_call *call)
{
    pthread_mutex_lock(&client->mutex);
    *call->link = call->next;
    if (call->next)
        call->next->link = call->link;
    pthread_cond_broadcast(&client->called);
}

static void call_lost(struct ql_client *client, struct ql_lock *lock)
{
    ql_lost_fn *callback = lock->lost_fn;
    void *arg = lock->lost_arg;
    int result = lock->lost;
    struct ql_call call;

    lock->op.tell_lost = false;
    enter_call(client, &call, lock);
    callback(lock, result, arg);
    leave_call(client, &call);
}

static void call_done(struct ql_client *client, struct ql_lock *lock)
{
    ql_done_fn *callback = lock->op.callback;
    void *arg = lock->op.arg;
    int result = lock->op.result;
    struct ql_call call;

    lock->op.tell_done = false;
    lock->op.callback = NULL;
    enter_call(client, &call, lock);
    callback(lock, result, arg);
    leave_call(client, &call);
}

void ql_op_call_back(struct ql_client *client)
{
    struct ql_lock *lock;

    while ((lock = client->finished)) {
        if (lock->op.tell_lost) {
            call_lost(client, lock);
            continue; /* it may have been freed by another thread since */
        }
        client->finished = lock->next_finished;
        lock->queued = false;
        if (lock->op.tell_done)
            call_done(client, lock);
    }
}

void ql_op_hush(struct ql_lock *lock)
{
    struct ql_client *client = lock->client;
    struct ql_lock **at = &client->finished;
    struct ql_call *call;

    lock->op.callback = NULL;
    lock->lost_fn = NULL;
    lock->op.tell_lost = false;
    lock->op.tell_done = false;
again:
    for (call = client->calls; call; call = call->next) {
        if (call->lock != lock || pthread_equal(call->thread, pthread_self()))
            continue;
        pthread_cond_wait(&client->called, &client->mutex);
        goto again;
    }
    while (*at && *at != lock)
        at = &(*at)->next_finished;
    if (*at)
        *at = lock->next_finished;
    lock->queued = false;
}
