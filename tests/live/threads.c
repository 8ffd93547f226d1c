/* SPDX-License-Identifier: BSD-2-Clause */
/* One client, used by many threads at once. For ThreadSanitizer above all. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "live.h"

#define THREADS 8
#define CYCLES  60
#define LONG    3600000

struct worker {
    pthread_t thread;
    ql_client *client;
    unsigned index;
    const char *name; /* NULL: one of its own */
    int *counter;     /* guarded by nothing but the lock */
    atomic_uint *done;
    bool failed;
};

/* No cmocka in threads: it would jump out of another thread's stack. */
static bool cycle(struct worker *worker, ql_lock *lock)
{
    int before;

    if (ql_lock_acquire(lock) != QL_OK)
        return false;
    if (worker->counter) {
        before = *worker->counter;
        sched_yield();
        *worker->counter = before + 1;
    }
    return ql_lock_valid_ms(lock) > 0 && ql_lock_lost(lock) == 0 &&
           ql_lock_extend(lock, 0) == QL_OK && ql_lock_verify(lock) == QL_OK &&
           ql_lock_release(lock) == QL_OK;
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    char name[16];
    ql_lock *lock;

    options.ttl_ms = LONG;
    options.retry_delay_ms = 4;
    snprintf(name, sizeof(name), "own-%u", worker->index);
    worker->failed =
        ql_lock_new(&lock, worker->client, worker->name ? worker->name : name,
                    &options) != QL_OK;
    for (int i = 0; i < CYCLES && !worker->failed; i++) {
        worker->failed = !cycle(worker, lock);
        atomic_fetch_add(worker->done, 1);
    }
    if (worker->failed)
        fprintf(stderr, "thread %u: %s\n", worker->index, ql_lock_error(lock));
    ql_lock_free(lock);
    return NULL;
}

static void run(ql_client *client, const char *name, int *counter)
{
    struct worker worker[THREADS];
    atomic_uint done = 0;

    for (unsigned i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){.client = client,
                                    .index = i,
                                    .name = name,
                                    .counter = counter,
                                    .done = &done};
        assert_int_equal(
            pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(worker[i].thread, NULL);
        assert_false(worker[i].failed);
    }
    assert_int_equal(done, THREADS * CYCLES);
}

static void eight_threads_on_names_of_their_own(void **state)
{
    struct live *live = *state;

    run(live->client, NULL, NULL);
    ql_client_close(live->client);
    live->client = NULL;
    assert_servers_empty(live->servers);
}

static void eight_threads_on_one_name_exclude_each_other(void **state)
{
    struct live *live = *state;
    int counter = 0;

    run(live->client, "shared", &counter);
    assert_int_equal(counter, THREADS * CYCLES);
    ql_client_close(live->client);
    live->client = NULL;
    assert_servers_empty(live->servers);
}

/* --- Cancelling ----------------------------------------------------------- */

static void *wait_for_it(void *arg)
{
    return (void *)(intptr_t)ql_lock_acquire(arg);
}

static int cancel_soon(ql_lock *lock, int64_t after_ms)
{
    pthread_t thread;
    void *result;

    pthread_create(&thread, NULL, wait_for_it, lock);
    clock_sleep_ms(after_ms);
    /* If it comes before the acquire it does nothing, so it is repeated. */
    for (;;) {
        struct timespec limit;

        ql_lock_cancel(lock);
        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_nsec += 20000000;
        limit.tv_sec += limit.tv_nsec / 1000000000;
        limit.tv_nsec %= 1000000000;
        if (pthread_timedjoin_np(thread, &result, &limit) == 0)
            return (int)(intptr_t)result;
    }
}

static void cancel_ends_the_wait_for_a_holder(void **state)
{
    struct live *live = *state;
    ql_lock *holder = live_lock(live->client, "name", LONG);
    ql_lock *lock = live_lock(live->client, "name", LONG);

    assert_result(QL_OK, ql_lock_try(holder), holder);
    assert_result(QL_E_CANCELLED, cancel_soon(lock, 300), lock);
    assert_result(QL_OK, ql_lock_verify(holder), holder);
    assert_result(QL_OK, ql_lock_release(holder), holder);
    assert_no_key_soon(live->servers, "name");
    ql_lock_free(lock);
    ql_lock_free(holder);
}

static void cancel_ends_an_attempt_at_frozen_nodes(void **state)
{
    struct live *live = *state;
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock;

    /* If it waited for the nodes the test would hang. */
    options.node_timeout_ms = 60000;
    client = live_client_with(servers_list(live->servers), &options);
    lock = live_lock(client, "name", LONG);
    assert_int_equal(ql_client_connect(client), QL_OK);
    for (unsigned i = 0; i < 3; i++)
        server_freeze(servers_at(live->servers, i));
    assert_result(QL_E_CANCELLED, cancel_soon(lock, 100), lock);
    for (unsigned i = 0; i < 3; i++)
        server_thaw(servers_at(live->servers, i));
    assert_no_key_soon(live->servers, "name");
    ql_lock_free(lock);
    ql_client_close(client);
}

static void cancel_ends_the_wait_for_connections(void **state)
{
    struct live *live = *state;
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock;

    for (unsigned i = 0; i < 3; i++)
        server_freeze(servers_at(live->servers, i));
    options.connect_timeout_ms = 600000;
    client = live_client_with(servers_list(live->servers), &options);
    lock = live_lock(client, "name", LONG);
    assert_result(QL_E_CANCELLED, cancel_soon(lock, 100), lock);
    for (unsigned i = 0; i < 3; i++)
        server_thaw(servers_at(live->servers, i));
    ql_lock_free(lock);
    ql_client_close(client);
    assert_no_key_soon(live->servers, "name");
}

static void trap_05_cancelled_at_any_moment_no_key_is_left(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, "name", LONG);

    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        struct timespec pause = {0, i * 7000};
        void *result;

        pthread_create(&thread, NULL, wait_for_it, lock);
        nanosleep(&pause, NULL);
        ql_lock_cancel(lock);
        pthread_join(thread, &result);
        if ((intptr_t)result == QL_OK)
            assert_result(QL_OK, ql_lock_release(lock), lock);
        else
            assert_int_equal((intptr_t)result, QL_E_CANCELLED);
        assert_keys_soon_by(live->client, live->servers, "name", 0);
    }
    ql_lock_free(lock);
}

/* --- Freeing under callbacks ---------------------------------------------- */

static void go_round(ql_lock *lock, int result, void *arg)
{
    (void)result;
    /* So that the handle is freed while this runs, as often as not. */
    sched_yield();
    if (ql_lock_valid_ms(lock) > 0)
        (void)ql_lock_release_start(lock, go_round, arg);
    else
        (void)ql_lock_acquire_start(lock, go_round, arg);
}

struct pump {
    ql_client *client;
    atomic_bool stops;
};

static void *pump(void *arg)
{
    struct pump *pump = arg;
    struct pollfd watched = {.fd = ql_client_fd(pump->client),
                             .events = POLLIN};

    while (!pump->stops) {
        poll(&watched, 1, 10);
        (void)ql_client_process(pump->client);
    }
    return NULL;
}

/* Its callback starts the next operation; freeing it ends that. */
static void a_handle_is_freed_while_its_callback_starts_again(void **state)
{
    struct live *live = *state;
    struct pump pumping = {.client = live->client};
    pthread_t thread;

    pthread_create(&thread, NULL, pump, &pumping);
    for (int i = 0; i < 200; i++) {
        struct timespec pause = {0, i % 20 * 50000};
        ql_lock *lock = live_lock(live->client, "name", LONG);

        assert_result(QL_OK, ql_lock_acquire_start(lock, go_round, NULL), lock);
        nanosleep(&pause, NULL);
        ql_lock_free(lock);
    }
    pumping.stops = true;
    pthread_join(thread, NULL);
    assert_keys_soon_by(live->client, live->servers, "name", 0);
}

/* --- A client that comes and goes ----------------------------------------- */

static void *live_a_short_life(void *arg)
{
    for (int i = 0; i < 10; i++) {
        ql_client_options options = PLAIN_OPTIONS_INIT;
        ql_client *client;
        ql_lock *lock;

        options.node_timeout_ms = PATIENT_MS;
        options.connect_timeout_ms = PATIENT_MS;
        if (ql_client_open(&client, arg, &options) != QL_OK ||
            ql_lock_new(&lock, client, "name", NULL) != QL_OK ||
            ql_lock_acquire(lock) != QL_OK || ql_lock_release(lock) != QL_OK)
            return arg;
        ql_lock_free(lock);
        ql_client_close(client);
    }
    return NULL;
}

static void clients_of_several_threads_come_and_go(void **state)
{
    struct live *live = *state;
    pthread_t thread[4];
    void *failed;

    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, live_a_short_life,
                       (void *)servers_list(live->servers));
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    assert_no_key_soon(live->servers, "name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(1, eight_threads_on_names_of_their_own),
        ON(3, eight_threads_on_names_of_their_own),
        ON(1, eight_threads_on_one_name_exclude_each_other),
        ON(3, eight_threads_on_one_name_exclude_each_other),
        ON(3, cancel_ends_the_wait_for_a_holder),
        ON(3, cancel_ends_an_attempt_at_frozen_nodes),
        ON(3, cancel_ends_the_wait_for_connections),
        ON(3, trap_05_cancelled_at_any_moment_no_key_is_left),
        ON(3, a_handle_is_freed_while_its_callback_starts_again),
        ON(3, clients_of_several_threads_come_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
