/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks that renew themselves, and how their loss is told: by a callback, by a
 * descriptor and by a question, before the validity ends. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "live.h"
#include "relay.h"

#define NAME "the name"
#define LONG 3600000

/* A ttl short enough to be waited for, and long enough that a slow machine
 * renews in time. */
#define TTL_MS 1500

struct loss {
    atomic_int count;
    atomic_int result;
    _Atomic int64_t valid_ms; /* when the callback was called */
};

static void note_loss(ql_lock *lock, int result, void *arg)
{
    struct loss *loss = arg;

    loss->valid_ms = ql_lock_valid_ms(lock);
    loss->result = result;
    loss->count++;
}

static ql_lock *renewing_lock(ql_client *client, uint32_t ttl_ms,
                              struct loss *loss)
{
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;

    options.ttl_ms = ttl_ms;
    options.renew = true;
    options.lost = loss ? note_loss : NULL;
    options.lost_arg = loss;
    return live_lock_with(client, NAME, &options);
}

static bool is_told(void *arg)
{
    return ((struct loss *)arg)->count > 0;
}

static bool is_readable(int fd)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};

    return poll(&watched, 1, 0) == 1;
}

static void a_renewed_lock_outlives_its_ttl(void **state)
{
    struct live *live = *state;
    struct loss loss = {0};
    ql_lock *lock = renewing_lock(live->client, TTL_MS, &loss);
    int64_t end;

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    end = clock_now_ms() + 3 * TTL_MS;
    while (clock_now_ms() < end) {
        assert_true(ql_lock_valid_ms(lock) > 0);
        assert_int_equal(ql_lock_lost(lock), 0);
        clock_sleep_ms(50);
    }
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_int_equal(loss.count, 0);
    ql_lock_free(lock);
}

static void release_ends_the_renewal(void **state)
{
    struct live *live = *state;
    ql_lock *lock = renewing_lock(live->client, 300, NULL);

    for (int i = 0; i < 5; i++) {
        if (ql_lock_acquire(lock) != QL_OK)
            fail_msg("%s", ql_lock_error(lock));
        clock_sleep_ms(i * 40); /* in the middle of a renewal, perhaps */
        assert_int_not_equal(ql_lock_release(lock), QL_E_STATE);
        assert_no_key_soon(live->servers, NAME);
        clock_sleep_ms(150);
        assert_no_key_on_any_server(live->servers, NAME);
    }
    ql_lock_free(lock);
}

static void freeing_a_handle_in_the_middle_of_a_renewal(void **state)
{
    struct live *live = *state;

    for (int i = 0; i < 20; i++) {
        ql_lock *lock = renewing_lock(live->client, 60, NULL);

        (void)ql_lock_try(lock); /* on a slow machine it may be too late */
        clock_sleep_ms(i);
        ql_lock_free(lock);
    }
    assert_no_key_soon(live->servers, NAME);
}

static void leaving_ends_the_renewal_and_keeps_the_key(void **state)
{
    struct live *live = *state;
    ql_lock *lock = renewing_lock(live->client, TTL_MS, NULL);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    ql_lock_leave(lock);
    assert_int_equal(servers_with_key(live->servers, NAME), 3);
    assert_no_key_soon(live->servers, NAME);
}

static void the_hold_cap_ends_the_renewal(void **state)
{
    struct live *live = *state;
    struct loss loss = {0};
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock;

    options.ttl_ms = 600;
    options.renew = true;
    options.max_hold_ms = 1500;
    options.lost = note_loss;
    options.lost_arg = &loss;
    lock = live_lock_with(live->client, NAME, &options);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_false(is_readable(ql_lock_lost_fd(lock)));
    assert_true(clock_wait_until(is_told, &loss, HANG_MS));
    assert_int_equal(loss.result, QL_E_CAP);
    assert_int_equal(ql_lock_lost(lock), QL_E_CAP);
    assert_true(is_readable(ql_lock_lost_fd(lock)));
    assert_int_not_equal(ql_lock_release(lock), QL_E_STATE);
    assert_no_key_soon(live->servers, NAME);
    assert_int_equal(loss.count, 1);
    ql_lock_free(lock);
}

/* Told while there is still time to stop the work. */
static void assert_told_in_time(ql_lock *lock, struct loss *loss, int fd)
{
    assert_true(clock_wait_until(is_told, loss, HANG_MS));
    assert_int_equal(loss->result, QL_E_LOST);
    assert_int_equal(ql_lock_lost(lock), QL_E_LOST);
    assert_true(is_readable(fd));
    assert_int_equal(loss->count, 1);
}

static void loss_is_told_three_ways_before_the_validity_ends(void **state)
{
    struct live *live = *state;
    struct loss loss = {0};
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock;
    int fd;

    options.ttl_ms = 4000;
    options.renew = true;
    options.loss_notice_ms = 2000;
    options.lost = note_loss;
    options.lost_arg = &loss;
    lock = live_lock_with(live->client, NAME, &options);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    fd = ql_lock_lost_fd(lock);
    assert_false(is_readable(fd));
    for (unsigned i = 0; i < 3; i++)
        server_kill(servers_at(live->servers, i));
    assert_told_in_time(lock, &loss, fd);
    /* Two seconds of notice: even a slow machine has some of it left. */
    assert_true(loss.valid_ms > 0);
    assert_result(QL_E_UNSURE, ql_lock_release(lock), lock);
    ql_lock_free(lock);
}

static void frozen_servers_are_a_loss_as_well(void **state)
{
    struct live *live = *state;
    ql_client *client = live_client(servers_list(live->servers), 300);
    struct loss loss = {0};
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock;

    options.ttl_ms = 4000;
    options.renew = true;
    options.loss_notice_ms = 2000;
    options.lost = note_loss;
    options.lost_arg = &loss;
    lock = live_lock_with(client, NAME, &options);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    for (unsigned i = 0; i < 3; i++)
        server_freeze(servers_at(live->servers, i));
    assert_told_in_time(lock, &loss, ql_lock_lost_fd(lock));
    assert_true(loss.valid_ms > 0);
    for (unsigned i = 0; i < 3; i++)
        server_thaw(servers_at(live->servers, i));
    ql_lock_free(lock);
    ql_client_close(client);
    assert_no_key_soon(live->servers, NAME);
}

static void a_deleted_key_is_a_loss(void **state)
{
    struct live *live = *state;
    struct loss loss = {0};
    ql_lock *lock = renewing_lock(live->client, TTL_MS, &loss);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    for (unsigned i = 1; i < 3; i++)
        server_command(servers_at(live->servers, i), "DEL", NAME, NULL);
    assert_told_in_time(lock, &loss, ql_lock_lost_fd(lock));
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    assert_int_not_equal(ql_lock_release(lock), QL_OK);
    ql_lock_free(lock);
}

static void trap_12_a_taken_key_is_a_loss_and_stays(void **state)
{
    struct live *live = *state;
    struct loss loss = {0};
    ql_lock *lock = renewing_lock(live->client, TTL_MS, &loss);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    for (unsigned i = 0; i < 2; i++)
        server_command(servers_at(live->servers, i), "SET", NAME, "theirs",
                       NULL);
    assert_told_in_time(lock, &loss, ql_lock_lost_fd(lock));
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    ql_lock_free(lock);
    assert_keys_soon(live->servers, NAME, 2);
}

static void a_key_lost_on_a_minority_is_repaired_by_the_renewal(void **state)
{
    struct live *live = *state;
    struct loss loss = {0};
    ql_lock *lock = renewing_lock(live->client, TTL_MS, &loss);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    server_command(servers_at(live->servers, 1), "DEL", NAME, NULL);
    assert_keys_soon(live->servers, NAME, 3);
    assert_int_equal(loss.count, 0);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

static void the_descriptor_of_an_earlier_loss_is_quiet_again(void **state)
{
    struct live *live = *state;
    struct loss loss = {0};
    ql_lock *lock = renewing_lock(live->client, TTL_MS, &loss);
    int fd = ql_lock_lost_fd(lock);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "DEL", NAME, NULL);
    assert_told_in_time(lock, &loss, fd);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_int_equal(ql_lock_lost(lock), 0);
    assert_int_equal(ql_lock_lost_fd(lock), fd);
    assert_false(is_readable(fd));
    /* And it speaks again at the next loss. */
    assert_keys_soon(live->servers, NAME, 3);
    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "DEL", NAME, NULL);
    loss.count = 0;
    assert_told_in_time(lock, &loss, fd);
    ql_lock_free(lock);
}

static void a_descriptor_asked_for_after_the_loss_is_readable(void **state)
{
    struct live *live = *state;
    struct loss loss = {0};
    ql_lock *lock = renewing_lock(live->client, TTL_MS, &loss);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    for (unsigned i = 0; i < 3; i++)
        server_restart(servers_at(live->servers, i));
    assert_true(clock_wait_until(is_told, &loss, HANG_MS));
    assert_true(is_readable(ql_lock_lost_fd(lock)));
    ql_lock_free(lock);
}

/*
 * An extension that waits for connections must not keep the loss from being
 * told: here three nodes can be connected to, and then never say a word.
 */
static void loss_is_told_while_an_operation_waits_for_connections(void **state)
{
    struct live *live = *state;
    ql_client_options client_options = PLAIN_OPTIONS_INIT;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    struct relay *relay[3];
    struct loss loss = {0};
    char list[1024];
    ql_client *client;
    ql_lock *lock;
    int result;

    for (unsigned i = 0; i < 3; i++)
        relay[i] = relay_start(servers_at(live->servers, i));
    snprintf(list, sizeof(list), "%s,%s,%s,%s,%s", relay_url(relay[0]),
             relay_url(relay[1]), relay_url(relay[2]),
             server_url(servers_at(live->servers, 3)),
             server_url(servers_at(live->servers, 4)));
    client_options.node_timeout_ms = BRIEF_MS;
    client_options.connect_timeout_ms = HANG_MS;
    client = live_client_with(list, &client_options);
    options.ttl_ms = 6000;
    options.renew = true;
    options.loss_notice_ms = 3000;
    options.lost = note_loss;
    options.lost_arg = &loss;
    lock = live_lock_with(client, NAME, &options);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    for (unsigned i = 0; i < 3; i++) {
        relay_swallow(relay[i], true);
        relay_cut(relay[i]);
    }
    do /* the first may be sent before the break is seen */
        result = ql_lock_extend(lock, 0);
    while (result == QL_E_QUORUM);
    assert_result(QL_E_LOST, result, lock);
    assert_true(clock_wait_until(is_told, &loss, HANG_MS));
    assert_int_equal(loss.count, 1);
    assert_true(loss.valid_ms > 0);
    ql_lock_free(lock);
    ql_client_close(client);
    for (unsigned i = 0; i < 3; i++)
        relay_stop(relay[i]);
}

static void an_adopted_lock_renews_itself_once_extended(void **state)
{
    struct live *live = *state;
    ql_client *client = live_client(servers_list(live->servers), PATIENT_MS);
    ql_lock *first = live_lock(client, NAME, 60000);
    struct loss loss = {0};
    ql_lock *heir = renewing_lock(live->client, TTL_MS, &loss);
    char token[QL_TOKEN_MAX + 1];

    assert_result(QL_OK, ql_lock_acquire(first), first);
    strcpy(token, ql_lock_token(first));
    ql_lock_leave(first);
    ql_client_close(client);
    assert_result(QL_OK, ql_lock_adopt(heir, token), heir);
    assert_result(QL_OK, ql_lock_extend(heir, 0), heir);
    clock_sleep_ms(2 * TTL_MS);
    assert_true(ql_lock_valid_ms(heir) > 0);
    assert_int_equal(loss.count, 0);
    assert_result(QL_OK, ql_lock_release(heir), heir);
    ql_lock_free(heir);
}

static void the_loss_callback_may_release_and_acquire(ql_lock *lock, int result,
                                                      void *arg)
{
    atomic_int *got = arg;

    if (result == QL_E_LOST && ql_lock_release(lock) == QL_GONE &&
        ql_lock_try(lock) == QL_OK)
        (*got)++;
    else
        (*got) = 100;
}

static bool is_got(void *arg)
{
    return *(atomic_int *)arg > 0;
}

static void the_lock_may_be_worked_on_from_the_loss_callback(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    atomic_int got = 0;
    ql_lock *lock;

    options.ttl_ms = TTL_MS;
    options.renew = true;
    options.lost = the_loss_callback_may_release_and_acquire;
    options.lost_arg = &got;
    lock = live_lock_with(live->client, NAME, &options);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "DEL", NAME, NULL);
    assert_true(clock_wait_until(is_got, &got, HANG_MS));
    assert_int_equal(got, 1);
    clock_sleep_ms(TTL_MS);
    assert_true(ql_lock_valid_ms(lock) > 0);
    ql_lock_free(lock);
    assert_no_key_soon(live->servers, NAME);
}

static void many_locks_are_renewed_by_one_client(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock[100];
    char name[] = "lock-00";

    options.ttl_ms = 3000;
    options.renew = true;
    for (int i = 0; i < 100; i++) {
        name[5] = (char)('0' + i / 10);
        name[6] = (char)('0' + i % 10);
        lock[i] = live_lock_with(live->client, name, &options);
        assert_result(QL_OK, ql_lock_acquire(lock[i]), lock[i]);
    }
    clock_sleep_ms(4000);
    for (int i = 0; i < 100; i++) {
        assert_true(ql_lock_valid_ms(lock[i]) > 0);
        assert_result(QL_OK, ql_lock_release(lock[i]), lock[i]);
        ql_lock_free(lock[i]);
    }
    assert_servers_empty(live->servers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(1, a_renewed_lock_outlives_its_ttl),
        ON(3, a_renewed_lock_outlives_its_ttl),
        ON(3, release_ends_the_renewal),
        ON(3, freeing_a_handle_in_the_middle_of_a_renewal),
        ON(3, leaving_ends_the_renewal_and_keeps_the_key),
        ON(3, the_hold_cap_ends_the_renewal),
        ON(5, loss_is_told_three_ways_before_the_validity_ends),
        ON(5, frozen_servers_are_a_loss_as_well),
        ON(3, a_deleted_key_is_a_loss),
        ON(3, trap_12_a_taken_key_is_a_loss_and_stays),
        ON(3, a_key_lost_on_a_minority_is_repaired_by_the_renewal),
        ON(3, the_descriptor_of_an_earlier_loss_is_quiet_again),
        ON(3, a_descriptor_asked_for_after_the_loss_is_readable),
        ON(5, loss_is_told_while_an_operation_waits_for_connections),
        ON(3, an_adopted_lock_renews_itself_once_extended),
        ON(3, the_lock_may_be_worked_on_from_the_loss_callback),
        ON(3, many_locks_are_renewed_by_one_client),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
