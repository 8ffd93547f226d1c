/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes that are dead, die, and come back: with or without what they knew. */
#include <string.h>

#include "live.h"

#define NAME "the name"
#define LONG 3600000 /* a ttl that no test waits for */

static void kill_first(struct live *live, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        server_kill(servers_at(live->servers, i));
}

static void restart_first(struct live *live, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        server_restart(servers_at(live->servers, i));
}

/* Everything a lock can do, with a client that was there before and with one
 * that finds the nodes as they are. */
static void assert_works(ql_client *client, struct servers *servers)
{
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_result(QL_HELD, ql_lock_inspect(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
    assert_keys_soon_by(client, servers, NAME, 0);
}

static void assert_works_for_old_and_new(struct live *live)
{
    ql_client *fresh = live_client(servers_list(live->servers), PATIENT_MS);

    assert_works(live->client, live->servers);
    assert_works(fresh, live->servers);
    ql_client_close(fresh);
}

static void trap_08_the_first_node_is_dead(void **state)
{
    struct live *live = *state;

    kill_first(live, 1);
    assert_works_for_old_and_new(live);
}

static void trap_07_two_of_five_are_dead(void **state)
{
    struct live *live = *state;

    kill_first(live, 2);
    assert_works_for_old_and_new(live);
}

static void three_of_five_are_dead(void **state)
{
    struct live *live = *state;
    ql_client *fresh = live_client(servers_list(live->servers), PATIENT_MS);
    ql_lock *lock = live_lock(fresh, NAME, LONG);

    kill_first(live, 3);
    assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    for (unsigned i = 0; i < 3; i++) {
        assert_verdict(lock, i, QL_V_REFUSED);
        assert_true(ql_lock_report(lock)[i].text[0]);
    }
    assert_non_null(strstr(ql_lock_error(lock), "refused"));
    assert_result(QL_E_QUORUM, ql_lock_timed(lock, 300), lock);
    assert_result(QL_E_QUORUM, ql_lock_inspect(lock), lock);
    assert_int_equal(ql_client_connect(fresh), QL_E_QUORUM);
    assert_keys_soon_by(fresh, live->servers, NAME, 0);
    ql_lock_free(lock);
    ql_client_close(fresh);
}

static void three_of_five_die_under_a_client(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    assert_works(live->client, live->servers);
    kill_first(live, 3);
    assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
    ql_lock_free(lock);
}

static void a_lock_survives_the_death_of_a_minority(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 5);
    kill_first(live, 2);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
    ql_lock_free(lock);
}

/* --- Coming back ---------------------------------------------------------- */

static void a_killed_node_that_comes_back_is_used_again(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    kill_first(live, 2);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    restart_first(live, 2);
    assert_node_ready_soon(live->client, 0);
    assert_node_ready_soon(live->client, 1);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 5);
    ql_lock_free(lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
}

static void a_waiter_gets_the_lock_when_the_majority_comes_back(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    kill_first(live, 3);
    assert_result(QL_E_QUORUM, ql_lock_timed(lock, 200), lock);
    restart_first(live, 3);
    assert_result(QL_OK, ql_lock_timed(lock, HANG_MS), lock);
    ql_lock_free(lock);
}

static void all_nodes_restart_while_the_client_is_idle(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    for (int i = 0; i < 3; i++) {
        assert_result(QL_OK, ql_lock_try(lock), lock);
        assert_result(QL_OK, ql_lock_release(lock), lock);
        restart_first(live, servers_count(live->servers));
    }
    ql_lock_free(lock);
}

static void trap_13_a_node_that_forgot_the_key_gets_it_back(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);
    struct server *server = servers_at(live->servers, 1);
    struct server_reply reply;

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    server_restart(server);
    assert_false(server_has_key(server, NAME));
    assert_node_ready_soon(live->client, 1);
    assert_result(QL_OK, ql_lock_extend(lock, 60000), lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 3);
    reply = server_command(server, "GET", NAME, NULL);
    assert_memory_equal(reply.text, ql_lock_token(lock), 40);
    reply = server_command(server, "PTTL", NAME, NULL);
    assert_in_range(reply.integer, 1, 60000);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
    ql_lock_free(lock);
}

static void
trap_13_a_node_away_during_the_acquire_gets_the_key_later(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    server_kill(servers_at(live->servers, 0));
    assert_result(QL_OK, ql_lock_try(lock), lock);
    server_restart(servers_at(live->servers, 0));
    assert_node_ready_soon(live->client, 0);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 3);
    /* The node that was sent it by the repair alone is released as well. */
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
    ql_lock_free(lock);
}

static void trap_13_a_majority_that_forgot_the_key_means_loss(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 5);
    restart_first(live, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_node_ready_soon(live->client, i);
    assert_result(QL_GONE, ql_lock_extend(lock, 0), lock);
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    assert_int_equal(ql_lock_lost(lock), QL_E_LOST);
    for (unsigned i = 0; i < 3; i++)
        assert_false(server_has_key(servers_at(live->servers, i), NAME));
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
    ql_lock_free(lock);
}

static void extend_waits_for_the_nodes_to_be_connected_again(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 5);
    restart_first(live, 3);
    assert_result(QL_GONE, ql_lock_extend(lock, 0), lock);
    ql_lock_free(lock);
}

static void forget_scripts(struct live *live)
{
    for (unsigned i = 0; i < servers_count(live->servers); i++)
        server_command(servers_at(live->servers, i), "SCRIPT", "FLUSH", NULL);
}

static void trap_19_the_servers_have_forgotten_the_scripts(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);
    ql_lock *other = live_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    forget_scripts(live);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    forget_scripts(live);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    forget_scripts(live);
    assert_result(QL_HELD, ql_lock_try(other), other);
    assert_string_equal(ql_lock_report(other)[0].text, LABEL);
    forget_scripts(live);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
    ql_lock_free(other);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
}

/* --- Retrying ------------------------------------------------------------- */

static uint32_t at_once(unsigned attempt, void *arg)
{
    unsigned *attempts = arg;

    *attempts = attempt;
    return 0;
}

/* A partial grant leaves our key on one node; the next attempt must not find
 * it in its way. */
static void trap_02_own_keys_of_an_earlier_attempt_do_not_count(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    unsigned attempts = 1;
    ql_lock *lock;

    options.ttl_ms = LONG;
    options.wait_ms = HANG_MS;
    options.retry = at_once;
    options.retry_arg = &attempts;
    lock = live_lock_with(live->client, NAME, &options);
    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "SET", NAME, "other", "PX",
                       "500", NULL);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_true(attempts > 1);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
}

static void a_partial_acquire_leaves_nothing(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "SET", NAME, "other",
                       NULL);
    assert_result(QL_HELD, ql_lock_try(lock), lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_true(server_has_key(servers_at(live->servers, i), NAME));
    ql_lock_free(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(3, trap_08_the_first_node_is_dead),
        ON(5, trap_08_the_first_node_is_dead),
        ON(5, trap_07_two_of_five_are_dead),
        ON(5, three_of_five_are_dead),
        ON(5, three_of_five_die_under_a_client),
        ON(5, a_lock_survives_the_death_of_a_minority),
        ON(5, a_killed_node_that_comes_back_is_used_again),
        ON(5, a_waiter_gets_the_lock_when_the_majority_comes_back),
        ON(1, all_nodes_restart_while_the_client_is_idle),
        ON(3, all_nodes_restart_while_the_client_is_idle),
        ON(3, trap_13_a_node_that_forgot_the_key_gets_it_back),
        ON(3, trap_13_a_node_away_during_the_acquire_gets_the_key_later),
        ON(5, trap_13_a_majority_that_forgot_the_key_means_loss),
        ON(5, extend_waits_for_the_nodes_to_be_connected_again),
        ON(1, trap_19_the_servers_have_forgotten_the_scripts),
        ON(5, trap_19_the_servers_have_forgotten_the_scripts),
        ON(5, trap_02_own_keys_of_an_earlier_attempt_do_not_count),
        ON(5, a_partial_acquire_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
