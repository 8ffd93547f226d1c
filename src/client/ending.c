/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a caller's request ends: the machine's outcome becomes a result, and a
 * thread is woken or a callback is due. And how a loss is told.
 */
#include <assert.h>
#include <unistd.h>

#include "client/client.h"

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
    ql_note_settle(lock);
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
    /* An extension that waits for connections need not wait any longer. */
    if (lock->op.gated && lock->op.kind == QL_OP_EXTEND)
        lock->op.gate_until = 0;
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
