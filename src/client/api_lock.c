/* SPDX-License-Identifier: BSD-2-Clause */
/* The public functions that make, free and ask a lock's handle. */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/client.h"
#include "client/token.h"
#include "core/time.h"

#define TTL_MS         10000u
#define RETRY_DELAY_MS 200u
#define NOTICE_MAX_MS  1000u
/* Half of the ttl at most, or a lock would be lost when it is acquired. */
#define NOTICE_MAX_PART 2u

static int read_options(ql_lock_options *ret, const ql_lock_options *from)
{
    ql_lock_options all = QL_LOCK_OPTIONS_INIT;

    if (from) {
        if (from->size < sizeof(size_t) || from->size > 4096)
            return QL_E_INVALID;
        memcpy(&all, from, from->size < sizeof(all) ? from->size : sizeof(all));
    }
    if (!all.ttl_ms)
        all.ttl_ms = TTL_MS;
    if (!all.retry_delay_ms)
        all.retry_delay_ms = RETRY_DELAY_MS;
    if (!all.loss_notice_ms)
        all.loss_notice_ms =
            all.ttl_ms / 10 < NOTICE_MAX_MS ? all.ttl_ms / 10 : NOTICE_MAX_MS;
    if (all.ttl_ms > QL_TTL_MAX_MS || all.wait_ms < QL_WAIT_FOREVER ||
        all.loss_notice_ms > all.ttl_ms / NOTICE_MAX_PART ||
        all.lock_delay_ms > QL_TTL_MAX_MS)
        return QL_E_INVALID;
    *ret = all;
    return QL_OK;
}

static void set_terms(struct ql_lock *lock, const ql_lock_options *options)
{
    lock->wait_ms = options->wait_ms;
    lock->lost_fn = options->lost;
    lock->lost_arg = options->lost_arg;
    lock->terms = (struct ql_terms){
        .ttl_ns = options->ttl_ms * QL_NS_PER_MS,
        .retry_delay_ns = options->retry_delay_ms * QL_NS_PER_MS,
        .delay = options->retry,
        .delay_arg = options->retry_arg,
        .max_hold_ns = options->max_hold_ms
                           ? options->max_hold_ms * QL_NS_PER_MS
                           : QL_NEVER,
        .loss_notice_ns = options->loss_notice_ms * QL_NS_PER_MS,
        .lock_delay_ns = options->lock_delay_ms * QL_NS_PER_MS,
        .tries = options->tries,
        .renew = options->renew,
    };
}

/* The guarded level keeps its own records under such names. */
static bool is_reserved(const char *name, size_t len)
{
    static const char prefix[] = "quorlock:";

    return len >= sizeof(prefix) - 1 &&
           memcmp(name, prefix, sizeof(prefix) - 1) == 0;
}

int ql_lock_new(ql_lock **ret_lock, ql_client *client, const char *name,
                const ql_lock_options *options)
{
    ql_lock_options all;
    struct ql_lock *lock;
    size_t name_len;
    int rc;

    if (!ret_lock || !client || !name || read_options(&all, options) != QL_OK)
        return QL_E_INVALID;
    if (client->pid != getpid())
        return QL_E_FORKED;
    name_len = all.name_len ? all.name_len : strnlen(name, QL_NAME_MAX + 1);
    if (name_len == 0 || name_len > QL_NAME_MAX ||
        (client->watch && is_reserved(name, name_len)))
        return QL_E_INVALID;
    lock = ql_handle_new(client, name, name_len);
    if (!lock)
        return QL_E_NOMEM;
    set_terms(lock, &all);

    pthread_mutex_lock(&client->mutex);
    rc = ql_timers_promise(&client->timers, &client->mem);
    if (rc == QL_OK) {
        ql_machine_init(&lock->machine, &client->rules, &lock->terms,
                        ql_rand_next(&client->rand));
        ql_note_reset(lock);
        ql_handle_link(lock);
        *ret_lock = lock;
    }
    pthread_mutex_unlock(&client->mutex);
    if (rc != QL_OK)
        ql_mem_free(&client->mem, lock);
    return rc;
}

/* --- Freeing -------------------------------------------------------------- */

static void release_if_held(struct ql_lock *lock)
{
    if (lock->machine.state == QL_ST_HELD || lock->machine.state == QL_ST_LOST)
        ql_drive(lock, (struct ql_event){.kind = QL_EV_RELEASE});
}

/* Nothing moves the machine from here on: answers to it are dropped. */
static void retire(struct ql_lock *lock)
{
    struct ql_client *client = lock->client;

    if (lock->counted_busy)
        client->busy--;
    ql_timers_set(&client->timers, &lock->timer, QL_NEVER);
    ql_timers_unpromise(&client->timers);
    ql_note_free(lock);
    if (lock->lost_fd >= 0)
        close(lock->lost_fd);
    for (struct ql_call *call = client->calls; call; call = call->next)
        if (call->lock == lock)
            call->lock = NULL;
    lock->freed = true;
    if (lock->awaited == 0)
        ql_handle_dispose(lock);
}

/* In a forked child the parent's client is left alone, mutex and all. */
static void free_in_child(struct ql_lock *lock)
{
    if (lock->lost_fd >= 0)
        close(lock->lost_fd);
    ql_note_free(lock);
    ql_mem_free(&lock->client->mem, lock);
}

static void let_go(struct ql_lock *lock, bool release)
{
    struct ql_client *client;

    if (!lock)
        return;
    client = lock->client;
    if (client->pid != getpid()) {
        free_in_child(lock);
        return;
    }
    pthread_mutex_lock(&client->mutex);
    ql_op_hush(lock);
    ql_clock_now(&client->clock);
    ql_op_cancel(lock);
    if (release)
        release_if_held(lock);
    retire(lock);
    ql_loop_settle(client);
    pthread_mutex_unlock(&client->mutex);
}

void ql_lock_free(ql_lock *lock)
{
    let_go(lock, true);
}

void ql_lock_leave(ql_lock *lock)
{
    let_go(lock, false);
}

/* --- Asking ----------------------------------------------------------------
 */

/* The state of a handle may be asked for through a pointer to const; the mutex
 * and the clock belong to the client. */
static uint64_t lock_client(const ql_lock *lock)
{
    pthread_mutex_lock(&lock->client->mutex);
    return ql_clock_now(&lock->client->clock);
}

int64_t ql_lock_valid_ms(const ql_lock *lock)
{
    uint64_t now, valid_ns;

    if (lock->client->pid != getpid())
        return 0;
    now = lock_client(lock);
    valid_ns = ql_machine_valid_ns(&lock->machine, now);
    pthread_mutex_unlock(&lock->client->mutex);
    return (int64_t)(valid_ns / QL_NS_PER_MS);
}

int64_t ql_lock_expires_ms(const ql_lock *lock)
{
    uint64_t now, left_ns;

    if (lock->client->pid != getpid())
        return 0;
    now = lock_client(lock);
    left_ns = ql_time_sub(lock->machine.expires_at, now);
    pthread_mutex_unlock(&lock->client->mutex);
    return (int64_t)(left_ns / QL_NS_PER_MS);
}

int ql_lock_lost(const ql_lock *lock)
{
    int lost;

    if (lock->client->pid != getpid())
        return QL_E_FORKED;
    /* A loss that nobody has driven the loop to notice is one all the same. */
    lock_client(lock);
    lost = lock->lost;
    if (!lost && lock->machine.state == QL_ST_HELD &&
        ql_machine_valid_ns(&lock->machine, lock->client->clock.now) == 0)
        lost = QL_E_LOST;
    pthread_mutex_unlock(&lock->client->mutex);
    return lost;
}

int ql_lock_lost_fd(ql_lock *lock)
{
    int fd;

    if (lock->client->pid != getpid()) {
        errno = EPERM;
        return -1;
    }
    pthread_mutex_lock(&lock->client->mutex);
    if (lock->lost_fd < 0)
        lock->lost_fd = eventfd(lock->lost ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK);
    fd = lock->lost_fd;
    pthread_mutex_unlock(&lock->client->mutex);
    return fd;
}

uint64_t ql_lock_fence(const ql_lock *lock)
{
    uint64_t fence;

    if (lock->client->pid != getpid())
        return 0;
    lock_client(lock);
    fence = lock->machine.fence;
    pthread_mutex_unlock(&lock->client->mutex);
    return fence;
}

bool ql_lock_owner_died(const ql_lock *lock)
{
    bool died;

    if (lock->client->pid != getpid())
        return false;
    lock_client(lock);
    died = lock->machine.died;
    pthread_mutex_unlock(&lock->client->mutex);
    return died;
}

const char *ql_lock_token(const ql_lock *lock)
{
    return lock->token;
}
