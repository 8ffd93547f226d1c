/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes that are there and say nothing, and replies that are lost. */
#include <stdio.h>
#include <string.h>

#include "live.h"
#include "relay.h"

#define NAME "the name"
#define LONG 3600000 /* a ttl that no test waits for */

static void freeze(struct live *live, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        server_freeze(servers_at(live->servers, i));
}

static void thaw_all(struct live *live)
{
    for (unsigned i = 0; i < servers_count(live->servers); i++)
        server_thaw(servers_at(live->servers, i));
}

/* A client that does not wait for long, connected to every node. */
static ql_client *brief_client(struct live *live)
{
    ql_client *client = live_client(servers_list(live->servers), BRIEF_MS);

    assert_int_equal(ql_client_connect(client), QL_OK);
    return client;
}

static void trap_04_two_of_five_are_frozen(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    /* With the patient client: nobody waits for the frozen ones. */
    freeze(live, 0, 2);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_verdict(lock, 0, QL_V_PENDING);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    thaw_all(live);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

static void trap_04_two_of_five_are_frozen_for_a_new_client(void **state)
{
    struct live *live = *state;
    ql_client *client;
    ql_lock *lock;

    freeze(live, 0, 2);
    client = live_client(servers_list(live->servers), BRIEF_MS);
    lock = live_lock(client, NAME, LONG);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    thaw_all(live);
    assert_keys_soon_by(client, live->servers, NAME, 0);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void trap_04_three_of_five_are_frozen(void **state)
{
    struct live *live = *state;
    ql_client *client = brief_client(live);
    ql_lock *lock = live_lock(client, NAME, LONG);

    freeze(live, 1, 3);
    assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    for (unsigned i = 1; i < 4; i++)
        assert_verdict(lock, i, QL_V_TIMEOUT);
    assert_verdict(lock, 0, QL_V_GRANTED);
    assert_verdict(lock, 4, QL_V_GRANTED);
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    thaw_all(live);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void a_silent_node_costs_its_time_once(void **state)
{
    struct live *live = *state;
    ql_client *client = brief_client(live);
    ql_lock *lock = live_lock(client, NAME, LONG);

    freeze(live, 0, 1);
    assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    for (int i = 0; i < 10; i++) {
        assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
        assert_verdict(lock, 0, QL_V_SUSPECT);
    }
    thaw_all(live);
    assert_node_ready_soon(client, 0);
    assert_result(QL_OK, ql_lock_timed(lock, HANG_MS), lock);
    ql_lock_free(lock);
    ql_client_close(client);
    assert_no_key_on_any_server(live->servers, NAME);
}

static void all_are_frozen_before_the_first_connection(void **state)
{
    struct live *live = *state;
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock;

    freeze(live, 0, 3);
    options.node_timeout_ms = 200;
    options.connect_timeout_ms = 200;
    client = live_client_with(servers_list(live->servers), &options);
    lock = live_lock(client, NAME, LONG);
    assert_int_equal(ql_client_connect(client), QL_E_QUORUM);
    assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    assert_result(QL_E_QUORUM, ql_lock_inspect(lock), lock);
    assert_int_equal(count_verdicts(lock, 3, QL_V_GRANTED), 0);
    thaw_all(live);
    assert_keys_soon_by(client, live->servers, NAME, 0);
    assert_result(QL_OK, ql_lock_timed(lock, HANG_MS), lock);
    ql_lock_free(lock);
    assert_keys_soon_by(client, live->servers, NAME, 0);
    ql_client_close(client);
}

/* --- Between acquire and release ------------------------------------------ */

static void trap_04_a_node_freezes_between_acquire_and_release(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 5);
    freeze(live, 2, 2);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    thaw_all(live);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

static void a_majority_freezes_between_acquire_and_release(void **state)
{
    struct live *live = *state;
    ql_client *client = brief_client(live);
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 5);
    freeze(live, 2, 3);
    assert_result(QL_E_UNSURE, ql_lock_release(lock), lock);
    assert_verdict(lock, 0, QL_V_GRANTED);
    for (unsigned i = 2; i < 5; i++)
        assert_verdict(lock, i, QL_V_TIMEOUT);
    assert_in_range(ql_lock_expires_ms(lock), LONG / 2, LONG + LONG / 50);
    thaw_all(live);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void extend_without_a_majority_leaves_the_lock_as_it_was(void **state)
{
    struct live *live = *state;
    ql_client *client = brief_client(live);
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 5);
    freeze(live, 0, 3);
    assert_result(QL_E_QUORUM, ql_lock_extend(lock, 0), lock);
    assert_in_range(ql_lock_valid_ms(lock), 1, LONG);
    assert_int_equal(ql_lock_lost(lock), 0);
    assert_result(QL_E_QUORUM, ql_lock_verify(lock), lock);
    assert_in_range(ql_lock_valid_ms(lock), 1, LONG);
    thaw_all(live);
    for (unsigned i = 0; i < 3; i++)
        assert_node_ready_soon(client, i);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
    ql_client_close(client);
    assert_no_key_on_any_server(live->servers, NAME);
}

/* --- Lost replies --------------------------------------------------------- */

static void note_result(ql_lock *lock, int result, void *arg)
{
    (void)lock;
    *(int *)arg = result;
}

#define NOT_YET 99

static void process_until_done(ql_client *client, const int *result)
{
    int64_t end = clock_now_ms() + HANG_MS;

    while (*result == NOT_YET && clock_now_ms() < end) {
        assert_int_equal(ql_client_process(client), QL_OK);
        clock_sleep_ms(2);
    }
    assert_int_not_equal(*result, NOT_YET);
}

/* A majority says yes when the lock is as good as over. */
static void trap_03_an_acquire_that_took_the_whole_ttl_fails(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 400);
    int result = NOT_YET;

    freeze(live, 0, 2);
    assert_result(QL_OK,
                  ql_lock_acquire_start_timed(lock, 0, note_result, &result),
                  lock);
    clock_sleep_ms(500);
    thaw_all(live);
    process_until_done(live->client, &result);
    assert_result(QL_E_SPLIT, result, lock);
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
    ql_lock_free(lock);
}

/*
 * The third node's connection is not ready when the other two have decided, and
 * is not looked at before the lock is over: what was to be sent there must not
 * be sent any more.
 */
static void a_key_that_was_held_back_is_not_set_after_its_time(void **state)
{
    struct live *live = *state;
    ql_client *client = live_client(servers_list(live->servers), BRIEF_MS);
    ql_lock *lock = live_lock(client, NAME, 2000);
    ql_lock *other = live_lock(client, "other", 0);

    freeze(live, 2, 1);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    ql_lock_leave(lock);
    clock_sleep_ms(2100);
    thaw_all(live);
    assert_no_key_soon(live->servers, NAME);
    assert_result(QL_OK, ql_lock_try(other), other);
    assert_node_ready_soon(client, 2);
    assert_result(QL_OK, ql_lock_verify(other), other);
    assert_no_key_on_any_server(live->servers, NAME);
    ql_lock_free(other);
    ql_client_close(client);
    assert_no_key_on_any_server(live->servers, NAME);
}

/* The servers set the key, and their answers never come. */
static void trap_06_the_reply_is_lost_after_the_write(void **state)
{
    struct live *live = *state;
    struct relay *relay = relay_start(servers_at(live->servers, 0));
    ql_client *client = live_client(relay_url(relay), BRIEF_MS);
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_int_equal(ql_client_connect(client), QL_OK);
    relay_swallow(relay, true);
    assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    assert_verdict(lock, 0, QL_V_TIMEOUT);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
    ql_client_close(client);
    relay_stop(relay);
}

/* The same, and the connection breaks before a release can follow. */
static void trap_06_the_connection_breaks_after_the_write(void **state)
{
    struct live *live = *state;
    struct relay *relay = relay_start(servers_at(live->servers, 0));
    ql_client *client = live_client(relay_url(relay), PATIENT_MS);
    ql_lock *lock = live_lock(client, NAME, LONG);
    int result = NOT_YET;

    assert_int_equal(ql_client_connect(client), QL_OK);
    relay_swallow(relay, true);
    assert_result(QL_OK,
                  ql_lock_acquire_start_timed(lock, 0, note_result, &result),
                  lock);
    relay_wait_swallowed(relay);
    assert_true(server_has_key(servers_at(live->servers, 0), NAME));
    relay_swallow(relay, false);
    relay_cut(relay);
    process_until_done(client, &result);
    assert_result(QL_E_QUORUM, result, lock);
    assert_verdict(lock, 0, QL_V_CONNECTION);
    /* A debt, paid as soon as there is a connection again. */
    assert_keys_soon_by(client, live->servers, NAME, 0);
    ql_lock_free(lock);
    ql_client_close(client);
    relay_stop(relay);
}

static void a_release_whose_connection_breaks_is_paid_later(void **state)
{
    struct live *live = *state;
    struct relay *relay = relay_start(servers_at(live->servers, 0));
    ql_client *client = live_client(relay_url(relay), BRIEF_MS);
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_int_equal(ql_client_connect(client), QL_OK);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    server_freeze(servers_at(live->servers, 0));
    assert_result(QL_E_UNSURE, ql_lock_release(lock), lock);
    relay_cut(relay);
    server_thaw(servers_at(live->servers, 0));
    assert_keys_soon_by(client, live->servers, NAME, 0);
    ql_lock_free(lock);
    ql_client_close(client);
    relay_stop(relay);
}

static void a_lost_reply_to_an_extension_is_no_extension(void **state)
{
    struct live *live = *state;
    struct relay *relay = relay_start(servers_at(live->servers, 0));
    ql_client *client = live_client(relay_url(relay), BRIEF_MS);
    ql_lock *lock = live_lock(client, NAME, 600000);
    int64_t valid_ms;

    assert_int_equal(ql_client_connect(client), QL_OK);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    relay_swallow(relay, true);
    assert_result(QL_E_QUORUM, ql_lock_extend(lock, LONG), lock);
    assert_in_range(ql_lock_valid_ms(lock), 1, 600000);
    /* The server may have done it, so the key may be there for so long. */
    assert_in_range(ql_lock_expires_ms(lock), 600000, LONG + LONG / 50);
    /* One that shortens counts from the moment it was asked for. */
    assert_result(QL_E_QUORUM, ql_lock_extend(lock, 60000), lock);
    valid_ms = ql_lock_valid_ms(lock);
    assert_in_range(valid_ms, 1, 60000);
    relay_swallow(relay, false);
    ql_lock_free(lock);
    ql_client_close(client);
    assert_no_key_soon(live->servers, NAME);
    relay_stop(relay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(5, trap_04_two_of_five_are_frozen),
        ON(5, trap_04_two_of_five_are_frozen_for_a_new_client),
        ON(5, trap_04_three_of_five_are_frozen),
        ON(1, a_silent_node_costs_its_time_once),
        ON(3, all_are_frozen_before_the_first_connection),
        ON(5, trap_04_a_node_freezes_between_acquire_and_release),
        ON(5, a_majority_freezes_between_acquire_and_release),
        ON(5, extend_without_a_majority_leaves_the_lock_as_it_was),
        ON(3, trap_03_an_acquire_that_took_the_whole_ttl_fails),
        ON(3, a_key_that_was_held_back_is_not_set_after_its_time),
        ON(1, trap_06_the_reply_is_lost_after_the_write),
        ON(1, trap_06_the_connection_breaks_after_the_write),
        ON(1, a_release_whose_connection_breaks_is_paid_later),
        ON(1, a_lost_reply_to_an_extension_is_no_extension),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
