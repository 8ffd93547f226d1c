/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs with a loop of their own: one descriptor, one call, callbacks. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "live.h"

#define NAME    "the name"
#define LONG    3600000
#define NOT_YET 99
#define MANY    100

/* One operation, and what it is told. */
struct watch {
    ql_client *client;
    ql_lock *lock;
    int result;
    unsigned told;
    bool starting; /* a callback now would be called from the starter */
};

static void note_result(ql_lock *lock, int result, void *arg)
{
    struct watch *watch = arg;

    assert_false(watch->starting);
    assert_ptr_equal(lock, watch->lock);
    watch->result = result;
    watch->told++;
}

/* Waits by poll(2) alone: if the descriptor does not say so, nothing is done.
 */
static void serve_once(ql_client *client)
{
    struct pollfd watched = {.fd = ql_client_fd(client), .events = POLLIN};
    int ready = poll(&watched, 1, HANG_MS);

    if (ready == 0)
        fail_msg("the descriptor stays silent");
    assert_int_equal(ql_client_process(client), QL_OK);
}

static int serve(struct watch *watch)
{
    while (watch->told == 0)
        serve_once(watch->client);
    assert_int_equal(watch->told, 1);
    watch->told = 0;
    return watch->result;
}

#define START(watch, call)                                                     \
    do {                                                                       \
        (watch)->starting = true;                                              \
        assert_result(QL_OK, call, (watch)->lock);                             \
        (watch)->starting = false;                                             \
    } while (0)

static int acquire(struct watch *watch, int64_t wait_ms)
{
    START(watch, ql_lock_acquire_start_timed(watch->lock, wait_ms, note_result,
                                             watch));
    return serve(watch);
}

static struct watch watch_lock(ql_client *client, const char *name,
                               uint32_t ttl_ms)
{
    return (struct watch){.client = client,
                          .lock = live_lock(client, name, ttl_ms),
                          .result = NOT_YET};
}

static void every_operation_by_one_descriptor(void **state)
{
    struct live *live = *state;
    struct watch watch = watch_lock(live->client, NAME, LONG);
    ql_lock *lock = watch.lock;

    assert_result(QL_OK, acquire(&watch, 0), lock);
    START(&watch, ql_lock_extend_start(lock, 60000, note_result, &watch));
    assert_result(QL_OK, serve(&watch), lock);
    START(&watch, ql_lock_verify_start(lock, note_result, &watch));
    assert_result(QL_OK, serve(&watch), lock);
    START(&watch, ql_lock_inspect_start(lock, note_result, &watch));
    assert_result(QL_HELD, serve(&watch), lock);
    START(&watch, ql_lock_release_start(lock, note_result, &watch));
    assert_result(QL_OK, serve(&watch), lock);
    START(&watch, ql_lock_acquire_start(lock, note_result, &watch));
    assert_result(QL_OK, serve(&watch), lock);
    ql_lock_free(lock);
    assert_no_key_soon(live->servers, NAME);
}

static void a_new_client_connects_by_its_descriptor_alone(void **state)
{
    struct live *live = *state;
    ql_client *client = live_client(servers_list(live->servers), PATIENT_MS);
    struct watch watch = watch_lock(client, NAME, LONG);

    assert_result(QL_OK, acquire(&watch, 0), watch.lock);
    ql_lock_free(watch.lock);
    ql_client_close(client);
    assert_no_key_on_any_server(live->servers, NAME);
}

static void what_cannot_start_is_not_told(void **state)
{
    struct live *live = *state;
    struct watch watch = watch_lock(live->client, NAME, LONG);
    ql_lock *lock = watch.lock;

    assert_result(QL_E_STATE, ql_lock_release_start(lock, note_result, &watch),
                  lock);
    assert_result(QL_E_INVALID,
                  ql_lock_acquire_start_timed(lock, -5, note_result, &watch),
                  lock);
    START(&watch, ql_lock_acquire_start(lock, note_result, &watch));
    assert_result(QL_E_STATE, ql_lock_acquire_start(lock, note_result, &watch),
                  lock);
    assert_result(QL_E_STATE, ql_lock_try(lock), lock);
    assert_result(QL_OK, serve(&watch), lock);
    ql_lock_free(lock);
}

static void a_hundred_locks_in_flight(void **state)
{
    struct live *live = *state;
    struct watch watch[MANY];
    char name[16];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "lock-%d", i);
        watch[i] = watch_lock(live->client, name, LONG);
        START(&watch[i],
              ql_lock_acquire_start(watch[i].lock, note_result, &watch[i]));
    }
    for (int i = 0; i < MANY; i++)
        assert_result(QL_OK, serve(&watch[i]), watch[i].lock);
    for (int i = 0; i < MANY; i++)
        START(&watch[i],
              ql_lock_release_start(watch[i].lock, note_result, &watch[i]));
    for (int i = 0; i < MANY; i++) {
        assert_result(QL_OK, serve(&watch[i]), watch[i].lock);
        ql_lock_free(watch[i].lock);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "lock-%d", i);
        assert_no_key_soon(live->servers, name);
    }
}

static void a_hundred_locks_in_flight_are_freed(void **state)
{
    struct live *live = *state;
    struct watch watch[MANY];
    char name[16];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "lock-%d", i);
        watch[i] = watch_lock(live->client, name, LONG);
        START(&watch[i],
              ql_lock_acquire_start(watch[i].lock, note_result, &watch[i]));
    }
    for (int i = 0; i < MANY; i++)
        ql_lock_free(watch[i].lock);
    assert_int_equal(ql_client_process(live->client), QL_OK);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "lock-%d", i);
        assert_no_key_soon(live->servers, name);
        assert_int_equal(watch[i].told, 0);
    }
}

static void free_it(ql_lock *lock, int result, void *arg)
{
    struct watch *watch = arg;

    watch->result = result;
    watch->told++;
    ql_lock_free(lock);
}

static void a_handle_may_be_freed_in_its_callback(void **state)
{
    struct live *live = *state;

    for (int i = 0; i < 10; i++) {
        struct watch watch = watch_lock(live->client, NAME, LONG);

        START(&watch, ql_lock_acquire_start(watch.lock, free_it, &watch));
        assert_int_equal(serve(&watch), QL_OK);
    }
    assert_no_key_soon(live->servers, NAME);
}

/* Each callback starts the next operation. */
static void go_round(ql_lock *lock, int result, void *arg)
{
    struct watch *watch = arg;

    assert_int_equal(result, QL_OK);
    watch->told++;
    if (ql_lock_valid_ms(lock) > 0)
        assert_result(QL_OK, ql_lock_release_start(lock, go_round, watch),
                      lock);
    else if (watch->told < 100)
        assert_result(QL_OK, ql_lock_acquire_start(lock, go_round, watch),
                      lock);
}

static void callbacks_start_the_next_operation(void **state)
{
    struct live *live = *state;
    struct watch watch = watch_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_acquire_start(watch.lock, go_round, &watch),
                  watch.lock);
    while (watch.told < 100)
        serve_once(live->client);
    ql_lock_free(watch.lock);
    assert_no_key_soon(live->servers, NAME);
}

static void a_callback_may_block(ql_lock *lock, int result, void *arg)
{
    struct watch *watch = arg;

    assert_int_equal(result, QL_OK);
    watch->result = ql_lock_release(lock);
    watch->told++;
}

static void a_callback_may_use_the_blocking_functions(void **state)
{
    struct live *live = *state;
    struct watch watch = watch_lock(live->client, NAME, LONG);

    assert_result(
        QL_OK, ql_lock_acquire_start(watch.lock, a_callback_may_block, &watch),
        watch.lock);
    assert_int_equal(serve(&watch), QL_OK);
    ql_lock_free(watch.lock);
    assert_no_key_soon(live->servers, NAME);
}

static void waiting_is_done_by_the_descriptor(void **state)
{
    struct live *live = *state;
    struct watch watch = watch_lock(live->client, NAME, LONG);

    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "SET", NAME, "other", "PX",
                       "600", NULL);
    assert_result(QL_OK, acquire(&watch, HANG_MS), watch.lock);
    ql_lock_free(watch.lock);
}

static void the_end_of_the_wait_comes_by_the_descriptor(void **state)
{
    struct live *live = *state;
    struct watch watch = watch_lock(live->client, NAME, LONG);

    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "SET", NAME, "other",
                       NULL);
    assert_result(QL_HELD, acquire(&watch, 500), watch.lock);
    ql_lock_free(watch.lock);
}

static void timeouts_come_by_the_descriptor(void **state)
{
    struct live *live = *state;
    ql_client *client = live_client(servers_list(live->servers), 300);
    struct watch watch = watch_lock(client, NAME, LONG);

    assert_int_equal(ql_client_connect(client), QL_OK);
    for (unsigned i = 0; i < 3; i++)
        server_freeze(servers_at(live->servers, i));
    assert_result(QL_E_QUORUM, acquire(&watch, 0), watch.lock);
    assert_result(QL_E_QUORUM, acquire(&watch, 300), watch.lock);
    for (unsigned i = 0; i < 3; i++)
        server_thaw(servers_at(live->servers, i));
    assert_result(QL_OK, acquire(&watch, HANG_MS), watch.lock);
    ql_lock_free(watch.lock);
    ql_client_close(client);
    assert_no_key_soon(live->servers, NAME);
}

static void a_connection_that_hangs_is_given_up_by_the_descriptor(void **state)
{
    struct live *live = *state;
    ql_client_options options = PLAIN_OPTIONS_INIT;
    struct watch watch;
    ql_client *client;

    for (unsigned i = 0; i < 3; i++)
        server_freeze(servers_at(live->servers, i));
    options.connect_timeout_ms = 300;
    client = live_client_with(servers_list(live->servers), &options);
    watch = watch_lock(client, NAME, LONG);
    assert_result(QL_E_QUORUM, acquire(&watch, 0), watch.lock);
    for (unsigned i = 0; i < 3; i++)
        server_thaw(servers_at(live->servers, i));
    ql_lock_free(watch.lock);
    ql_client_close(client);
}

static void cancel_is_told_by_the_descriptor(void **state)
{
    struct live *live = *state;
    struct watch watch = watch_lock(live->client, NAME, LONG);

    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "SET", NAME, "other",
                       NULL);
    START(&watch, ql_lock_acquire_start(watch.lock, note_result, &watch));
    serve_once(live->client);
    watch.starting = true;
    ql_lock_cancel(watch.lock);
    watch.starting = false;
    assert_result(QL_E_CANCELLED, serve(&watch), watch.lock);
    /* Cancelled before anything could happen. */
    START(&watch, ql_lock_acquire_start(watch.lock, note_result, &watch));
    watch.starting = true;
    ql_lock_cancel(watch.lock);
    watch.starting = false;
    assert_result(QL_E_CANCELLED, serve(&watch), watch.lock);
    assert_int_equal(servers_with_key(live->servers, NAME), 3);
    ql_lock_free(watch.lock);
}

static void note_loss(ql_lock *lock, int result, void *arg)
{
    (void)lock;
    *(int *)arg = result;
}

static void renewals_are_done_by_the_descriptor(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    struct watch watch = {.client = live->client};
    int64_t end = clock_now_ms() + 3000;
    int lost = 0;

    options.ttl_ms = 1500;
    options.renew = true;
    options.lost = note_loss;
    options.lost_arg = &lost;
    watch.lock = live_lock_with(live->client, NAME, &options);
    assert_result(QL_OK, acquire(&watch, HANG_MS), watch.lock);
    while (clock_now_ms() < end) {
        serve_once(live->client);
        assert_true(ql_lock_valid_ms(watch.lock) > 0);
    }
    assert_int_equal(lost, 0);
    for (unsigned i = 0; i < 3; i++)
        server_kill(servers_at(live->servers, i));
    while (lost == 0)
        serve_once(live->client);
    assert_int_equal(lost, QL_E_LOST);
    ql_lock_free(watch.lock);
}

/* --- A thread that blocks on the same client ------------------------------ */

static void *wait_for_it(void *arg)
{
    return (void *)(intptr_t)ql_lock_timed(arg, HANG_MS);
}

static void note_anywhere(ql_lock *lock, int result, void *arg)
{
    atomic_int *told = arg;

    (void)lock;
    *told = result;
}

static bool is_told(void *arg)
{
    return *(atomic_int *)arg != NOT_YET;
}

/*
 * The blocking thread drives the loop, and so sees the answers to what this
 * one has started; it is told all the same, though it does nothing more.
 */
static void a_blocking_thread_does_not_keep_callbacks_waiting(void **state)
{
    struct live *live = *state;
    ql_lock *blocking = live_lock(live->client, "busy", LONG);
    ql_lock *lock = live_lock(live->client, NAME, LONG);
    pthread_t thread;
    void *result;

    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "SET", "busy", "other",
                       NULL);
    pthread_create(&thread, NULL, wait_for_it, blocking);
    clock_sleep_ms(50);
    for (int i = 0; i < 50; i++) {
        atomic_int told = NOT_YET;

        assert_result(QL_OK, ql_lock_acquire_start(lock, note_anywhere, &told),
                      lock);
        assert_true(clock_wait_until(is_told, &told, HANG_MS));
        assert_result(QL_OK, told, lock);
        told = NOT_YET;
        assert_result(QL_OK, ql_lock_release_start(lock, note_anywhere, &told),
                      lock);
        assert_true(clock_wait_until(is_told, &told, HANG_MS));
        assert_result(QL_OK, told, lock);
    }
    ql_lock_cancel(blocking);
    pthread_join(thread, &result);
    assert_int_equal((intptr_t)result, QL_E_CANCELLED);
    ql_lock_free(blocking);
    ql_lock_free(lock);
}

/* Both drive, in turns; who polls is told by his descriptor or by the other. */
static void polling_and_blocking_threads_share_a_client(void **state)
{
    struct live *live = *state;
    ql_lock *blocking = live_lock(live->client, "busy", LONG);
    ql_lock *lock = live_lock(live->client, NAME, LONG);
    pthread_t thread;
    void *result;

    for (int i = 0; i < 50; i++) {
        atomic_int told = NOT_YET;
        struct pollfd watched = {.fd = ql_client_fd(live->client),
                                 .events = POLLIN};

        pthread_create(&thread, NULL, wait_for_it, blocking);
        assert_result(QL_OK, ql_lock_acquire_start(lock, note_anywhere, &told),
                      lock);
        while (told == NOT_YET) {
            poll(&watched, 1, 100);
            assert_int_equal(ql_client_process(live->client), QL_OK);
        }
        assert_result(QL_OK, told, lock);
        assert_result(QL_OK, ql_lock_release(lock), lock);
        pthread_join(thread, &result);
        assert_int_equal((intptr_t)result, QL_OK);
        assert_result(QL_OK, ql_lock_release(blocking), blocking);
    }
    ql_lock_free(blocking);
    ql_lock_free(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(1, every_operation_by_one_descriptor),
        ON(3, every_operation_by_one_descriptor),
        ON(3, a_new_client_connects_by_its_descriptor_alone),
        ON(3, what_cannot_start_is_not_told),
        ON(3, a_hundred_locks_in_flight),
        ON(3, a_hundred_locks_in_flight_are_freed),
        ON(3, a_handle_may_be_freed_in_its_callback),
        ON(3, callbacks_start_the_next_operation),
        ON(3, a_callback_may_use_the_blocking_functions),
        ON(3, waiting_is_done_by_the_descriptor),
        ON(3, the_end_of_the_wait_comes_by_the_descriptor),
        ON(3, timeouts_come_by_the_descriptor),
        ON(3, a_connection_that_hangs_is_given_up_by_the_descriptor),
        ON(3, cancel_is_told_by_the_descriptor),
        ON(3, renewals_are_done_by_the_descriptor),
        ON(3, a_blocking_thread_does_not_keep_callbacks_waiting),
        ON(3, polling_and_blocking_threads_share_a_client),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
