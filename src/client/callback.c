/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls the caller back, without the mutex, so that a callback may use the
 * library; and sees to it that no handle is freed under a callback that runs.
 */
#include "client/client.h"

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

again:
    for (call = client->calls; call; call = call->next) {
        if (call->lock != lock || pthread_equal(call->thread, pthread_self()))
            continue;
        pthread_cond_wait(&client->called, &client->mutex);
        goto again;
    }
    /* Only now, because the callback may have started the next operation. */
    lock->op.callback = NULL;
    lock->lost_fn = NULL;
    lock->op.tell_lost = false;
    lock->op.tell_done = false;
    while (*at && *at != lock)
        at = &(*at)->next_finished;
    if (*at)
        *at = lock->next_finished;
    lock->queued = false;
}
