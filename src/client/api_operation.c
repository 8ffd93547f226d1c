/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public functions that do something with a lock. Each comes in two forms:
 * one that starts it and returns, and one that starts it and waits.
 */
#include <errno.h>
#include <unistd.h>

#include "client/client.h"
#include "client/token.h"
#include "core/time.h"

/* What a caller asks for, before it is known to be possible. */
struct request {
    enum ql_op_kind kind;
    int64_t wait_ms;
    uint32_t ttl_ms;
};

static bool has_lock(const struct ql_lock *lock)
{
    uint8_t state = lock->machine.state;

    return state == QL_ST_HELD || state == QL_ST_ADOPTED || state == QL_ST_LOST;
}

/* Whether the request makes sense now; the machine asserts that it does. */
static int check(const struct ql_lock *lock, const struct request *request)
{
    if (request->wait_ms < QL_WAIT_FOREVER || request->ttl_ms > QL_TTL_MAX_MS)
        return QL_E_INVALID;
    if (lock->op.kind != QL_OP_NONE || lock->op.tell_done)
        return QL_E_STATE;
    switch (request->kind) {
    case QL_OP_ACQUIRE:
        return lock->machine.state == QL_ST_IDLE ? QL_OK : QL_E_STATE;
    case QL_OP_INSPECT:
        return QL_OK;
    default:
        return has_lock(lock) ? QL_OK : QL_E_STATE;
    }
}

static uint64_t wait_end(const struct ql_client *client, int64_t wait_ms)
{
    if (wait_ms < 0 || (uint64_t)wait_ms > QL_NEVER / QL_NS_PER_MS)
        return QL_NEVER;
    return ql_time_add(client->clock.now, (uint64_t)wait_ms * QL_NS_PER_MS);
}

/* A lock that is lost since nobody looked must not be given up for a new one
 * without a word: the machine is told the time first. */
static void catch_up(struct ql_lock *lock)
{
    struct ql_client *client = lock->client;

    ql_clock_now(&client->clock);
    /* Sees what has happened to the connections since somebody last looked: a
     * server that has closed one cannot grant anything through it. */
    if (!client->driving)
        (void)ql_loop_once(client, 0);
}

/* A new acquisition has not been lost yet, and its descriptor is quiet. */
static void forget_loss(struct ql_lock *lock)
{
    uint64_t count;

    lock->lost = 0;
    while (lock->lost_fd >= 0 &&
           read(lock->lost_fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

static int start(struct ql_lock *lock, const struct request *request,
                 ql_done_fn *done, void *arg)
{
    struct ql_client *client = lock->client;
    int rc;

    catch_up(lock);
    rc = check(lock, request);
    if (rc != QL_OK)
        return rc;
    if (request->kind == QL_OP_ACQUIRE)
        forget_loss(lock);
    lock->op = (struct ql_op){
        .kind = request->kind,
        .until = wait_end(client, request->wait_ms),
        .ttl_ns = request->ttl_ms ? request->ttl_ms * QL_NS_PER_MS
                                  : lock->terms.ttl_ns,
        .callback = done,
        .arg = arg,
        .tell_lost = lock->op.tell_lost,
    };
    ql_op_start(lock);
    ql_loop_settle(client);
    return QL_OK;
}

static bool is_done(void *arg)
{
    const struct ql_lock *lock = arg;

    return lock->op.done;
}

/* What is acquired here, or adopted and then extended here, is to be renewed
 * while the caller does something else. */
static bool wants_keeper(const struct ql_lock *lock, enum ql_op_kind kind)
{
    return lock->terms.renew && (kind == QL_OP_ACQUIRE || kind == QL_OP_EXTEND);
}

static int run(struct ql_lock *lock, struct request request)
{
    struct ql_client *client = lock->client;
    int rc = QL_OK;

    if (client->pid != getpid())
        return QL_E_FORKED;
    pthread_mutex_lock(&client->mutex);
    if (wants_keeper(lock, request.kind))
        rc = ql_keeper_start(client);
    if (rc == QL_OK)
        rc = start(lock, &request, NULL, NULL);
    if (rc == QL_OK) {
        ql_loop_wait(client, is_done, lock, QL_NEVER, &lock->op.waiter);
        rc = lock->op.result;
    }
    ql_op_call_back(client);
    pthread_mutex_unlock(&client->mutex);
    return rc;
}

static int begin(struct ql_lock *lock, struct request request, ql_done_fn *done,
                 void *arg)
{
    struct ql_client *client = lock->client;
    int rc;

    if (client->pid != getpid())
        return QL_E_FORKED;
    if (!done)
        return QL_E_INVALID;
    pthread_mutex_lock(&client->mutex);
    rc = start(lock, &request, done, arg);
    /* It may have ended at once; somebody has to come and call back. */
    if (client->finished)
        ql_loop_wake(client);
    pthread_mutex_unlock(&client->mutex);
    return rc;
}

/* --- Acquiring -------------------------------------------------------------
 */

int ql_lock_acquire(ql_lock *lock)
{
    return run(lock, (struct request){.kind = QL_OP_ACQUIRE,
                                      .wait_ms = lock->wait_ms});
}

int ql_lock_try(ql_lock *lock)
{
    return ql_lock_timed(lock, 0);
}

int ql_lock_timed(ql_lock *lock, int64_t wait_ms)
{
    return run(lock,
               (struct request){.kind = QL_OP_ACQUIRE, .wait_ms = wait_ms});
}

int ql_lock_acquire_start(ql_lock *lock, ql_done_fn *done, void *arg)
{
    return ql_lock_acquire_start_timed(lock, lock->wait_ms, done, arg);
}

int ql_lock_acquire_start_timed(ql_lock *lock, int64_t wait_ms,
                                ql_done_fn *done, void *arg)
{
    return begin(lock,
                 (struct request){.kind = QL_OP_ACQUIRE, .wait_ms = wait_ms},
                 done, arg);
}

int ql_lock_adopt(ql_lock *lock, const char *token)
{
    struct ql_client *client = lock->client;
    int rc = QL_OK;

    if (client->pid != getpid())
        return QL_E_FORKED;
    if (!token || !ql_token_valid(token))
        return QL_E_INVALID;
    pthread_mutex_lock(&client->mutex);
    ql_clock_now(&client->clock);
    if (lock->op.kind != QL_OP_NONE || lock->machine.state != QL_ST_IDLE)
        rc = QL_E_STATE;
    if (rc == QL_OK) {
        memcpy(lock->token, token, strlen(token) + 1);
        lock->longest_ns = 0;
        forget_loss(lock);
        ql_drive(lock, (struct ql_event){.kind = QL_EV_ADOPT});
    }
    pthread_mutex_unlock(&client->mutex);
    return rc;
}

/* --- The rest ---------------------------------------------------------------
 */

int ql_lock_extend(ql_lock *lock, uint32_t ttl_ms)
{
    return run(lock, (struct request){.kind = QL_OP_EXTEND, .ttl_ms = ttl_ms});
}

int ql_lock_release(ql_lock *lock)
{
    return run(lock, (struct request){.kind = QL_OP_RELEASE});
}

int ql_lock_verify(ql_lock *lock)
{
    return run(lock, (struct request){.kind = QL_OP_VERIFY});
}

int ql_lock_inspect(ql_lock *lock)
{
    return run(lock, (struct request){.kind = QL_OP_INSPECT});
}

int ql_lock_extend_start(ql_lock *lock, uint32_t ttl_ms, ql_done_fn *done,
                         void *arg)
{
    return begin(lock, (struct request){.kind = QL_OP_EXTEND, .ttl_ms = ttl_ms},
                 done, arg);
}

int ql_lock_release_start(ql_lock *lock, ql_done_fn *done, void *arg)
{
    return begin(lock, (struct request){.kind = QL_OP_RELEASE}, done, arg);
}

int ql_lock_verify_start(ql_lock *lock, ql_done_fn *done, void *arg)
{
    return begin(lock, (struct request){.kind = QL_OP_VERIFY}, done, arg);
}

int ql_lock_inspect_start(ql_lock *lock, ql_done_fn *done, void *arg)
{
    return begin(lock, (struct request){.kind = QL_OP_INSPECT}, done, arg);
}

void ql_lock_cancel(ql_lock *lock)
{
    struct ql_client *client = lock->client;

    if (client->pid != getpid())
        return;
    pthread_mutex_lock(&client->mutex);
    ql_clock_now(&client->clock);
    ql_op_cancel(lock);
    ql_loop_settle(client);
    if (client->finished)
        ql_loop_wake(client);
    pthread_mutex_unlock(&client->mutex);
}
