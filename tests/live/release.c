/* SPDX-License-Identifier: BSD-2-Clause */
/* Release has three outcomes: released, not ours any more, cannot tell. */
#include <string.h>

#include "live.h"

#define NAME "the name"
#define LONG 3600000 /* a ttl that no test waits for */

static ql_lock *held_lock(struct live *live)
{
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, servers_count(live->servers));
    return lock;
}

/* Somebody else has the lock on the servers from `first` on. */
static void take(struct live *live, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        server_command(servers_at(live->servers, i), "SET", NAME, "theirs",
                       NULL);
}

static unsigned count_theirs(struct live *live)
{
    unsigned count = 0;

    for (unsigned i = 0; i < servers_count(live->servers); i++)
        count += strcmp(server_command(servers_at(live->servers, i), "GET",
                                       NAME, NULL)
                            .text,
                        "theirs") == 0;
    return count;
}

/* Those who answered before the decision name the other. */
static void assert_theirs_named(ql_lock *lock, unsigned nodes)
{
    const ql_node_report *report = ql_lock_report(lock);

    assert_in_range(count_verdicts(lock, nodes, QL_V_HELD), 1, nodes);
    for (unsigned i = 0; i < nodes; i++)
        if (report[i].verdict == QL_V_HELD)
            assert_string_equal(report[i].text, "theirs");
}

static void a_released_lock_is_gone_from_every_node(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_int_equal(ql_lock_lost(lock), 0);
    assert_no_key_soon(live->servers, NAME);
    /* It is free for the next one at once, whoever that is. */
    assert_result(QL_OK, ql_lock_try(lock), lock);
    ql_lock_free(lock);
}

static void a_deleted_lock_is_gone(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    for (unsigned i = 0; i < servers_count(live->servers); i++)
        server_command(servers_at(live->servers, i), "DEL", NAME, NULL);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    assert_non_null(strstr(ql_lock_error(lock), "no longer ours"));
    assert_true(
        count_verdicts(lock, servers_count(live->servers), QL_V_MISSING) >= 1);
    ql_lock_free(lock);
}

static void an_expired_lock_is_gone(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 300);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    clock_sleep_ms(400);
    assert_no_key_soon(live->servers, NAME);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    ql_lock_free(lock);
}

static void trap_10_somebody_elses_lock_stays(void **state)
{
    struct live *live = *state;
    unsigned nodes = servers_count(live->servers);
    ql_lock *lock = held_lock(live);

    take(live, 0, nodes);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    assert_theirs_named(lock, nodes);
    assert_result(QL_HELD, ql_lock_inspect(lock), lock);
    assert_int_equal(count_theirs(live), nodes);
    ql_lock_free(lock);
    assert_int_equal(count_theirs(live), nodes);
}

static void trap_09_a_wrong_token_releases_nothing(void **state)
{
    struct live *live = *state;
    ql_client *client = live_client(servers_list(live->servers), PATIENT_MS);
    ql_lock *lock = held_lock(live), *thief = live_lock(client, NAME, LONG);
    char wrong[QL_TOKEN_MAX + 1];

    /* The right one without its last digit. */
    strcpy(wrong, ql_lock_token(lock));
    wrong[39] = '\0';
    assert_result(QL_OK, ql_lock_adopt(thief, wrong), thief);
    assert_result(QL_GONE, ql_lock_release(thief), thief);
    assert_result(QL_OK, ql_lock_adopt(thief, "a"), thief);
    assert_result(QL_GONE, ql_lock_release(thief), thief);
    assert_result(QL_OK, ql_lock_adopt(thief, "a"), thief);
    assert_result(QL_GONE, ql_lock_extend(thief, 60000), thief);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_in_range(ql_lock_valid_ms(lock), LONG / 2, LONG);
    ql_lock_free(thief);
    ql_client_close(client);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
}

static void theirs_on_a_minority_stays_and_ours_is_released(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    take(live, 3, 2);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_keys_soon(live->servers, NAME, 2);
    assert_int_equal(count_theirs(live), 2);
    ql_lock_free(lock);
}

static void theirs_on_a_majority_means_gone_and_ours_is_tidied_up(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    take(live, 0, 3);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    assert_int_equal(count_theirs(live), 3);
    ql_lock_free(lock);
}

static void trap_12_extend_says_at_once_that_a_majority_is_foreign(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    take(live, 2, 3);
    assert_result(QL_GONE, ql_lock_extend(lock, 0), lock);
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    assert_int_equal(ql_lock_lost(lock), QL_E_LOST);
    assert_int_equal(count_theirs(live), 3);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    assert_int_equal(count_theirs(live), 3);
    ql_lock_free(lock);
}

static void a_majority_that_died_leaves_us_unsure(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);
    int64_t expires_ms;

    for (unsigned i = 0; i < 3; i++)
        server_kill(servers_at(live->servers, i));
    assert_result(QL_E_UNSURE, ql_lock_release(lock), lock);
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    expires_ms = ql_lock_expires_ms(lock);
    assert_in_range(expires_ms, LONG / 2, LONG + LONG / 100 + PATIENT_MS + 100);
    assert_result(QL_E_STATE, ql_lock_release(lock), lock);
    for (unsigned i = 3; i < 5; i++)
        assert_verdict(lock, i, QL_V_GRANTED);
    ql_lock_free(lock);
}

static void a_majority_that_comes_back_without_the_key_means_gone(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    for (unsigned i = 0; i < 3; i++)
        server_restart(servers_at(live->servers, i));
    for (unsigned i = 0; i < 3; i++)
        assert_node_ready_soon(live->client, i);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
    ql_lock_free(lock);
}

static void releasing_a_lost_lock_tidies_up(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "DEL", NAME, NULL);
    assert_result(QL_GONE, ql_lock_verify(lock), lock);
    assert_int_equal(servers_with_key(live->servers, NAME), 2);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

/* --- Adopting and leaving ------------------------------------------------- */

static void a_lock_is_left_to_its_token(void **state)
{
    struct live *live = *state;
    ql_client *client = live_client(servers_list(live->servers), PATIENT_MS);
    ql_lock *lock = held_lock(live), *heir = live_lock(client, NAME, LONG);
    char token[QL_TOKEN_MAX + 1];

    strcpy(token, ql_lock_token(lock));
    ql_lock_leave(lock);
    ql_client_close(live->client);
    live->client = NULL;
    assert_int_equal(servers_with_key(live->servers, NAME), 3);

    assert_result(QL_OK, ql_lock_adopt(heir, token), heir);
    assert_int_equal(ql_lock_valid_ms(heir), 0);
    assert_result(QL_OK, ql_lock_verify(heir), heir);
    assert_int_equal(ql_lock_valid_ms(heir), 0);
    assert_result(QL_OK, ql_lock_extend(heir, 60000), heir);
    assert_in_range(ql_lock_valid_ms(heir), 1, 60000);
    assert_result(QL_OK, ql_lock_release(heir), heir);
    ql_lock_free(heir);
    ql_client_close(client);
    assert_no_key_on_any_server(live->servers, NAME);
}

static void an_adopted_lock_that_was_never_ours_is_left_alone(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);
    ql_lock *heir = live_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_adopt(heir, ql_lock_token(lock)), heir);
    assert_result(QL_E_STATE, ql_lock_try(heir), heir);
    /* Freed without having been extended: it is still the other's. */
    ql_lock_free(heir);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    ql_lock_free(lock);
}

static void an_adopted_lock_can_be_released_at_once(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);
    ql_lock *heir = live_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_adopt(heir, ql_lock_token(lock)), heir);
    assert_result(QL_OK, ql_lock_release(heir), heir);
    assert_result(QL_GONE, ql_lock_verify(lock), lock);
    ql_lock_free(heir);
    ql_lock_free(lock);
    assert_no_key_soon(live->servers, NAME);
}

static void leaving_nothing_leaves_nothing(void **state)
{
    struct live *live = *state;

    ql_lock_leave(live_lock(live->client, NAME, LONG));
    assert_servers_empty(live->servers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(1, a_released_lock_is_gone_from_every_node),
        ON(5, a_released_lock_is_gone_from_every_node),
        ON(1, a_deleted_lock_is_gone),
        ON(3, a_deleted_lock_is_gone),
        ON(3, an_expired_lock_is_gone),
        ON(1, trap_10_somebody_elses_lock_stays),
        ON(3, trap_10_somebody_elses_lock_stays),
        ON(3, trap_09_a_wrong_token_releases_nothing),
        ON(5, theirs_on_a_minority_stays_and_ours_is_released),
        ON(5, theirs_on_a_majority_means_gone_and_ours_is_tidied_up),
        ON(5, trap_12_extend_says_at_once_that_a_majority_is_foreign),
        ON(5, a_majority_that_died_leaves_us_unsure),
        ON(5, a_majority_that_comes_back_without_the_key_means_gone),
        ON(5, releasing_a_lost_lock_tidies_up),
        ON(3, a_lock_is_left_to_its_token),
        ON(3, an_adopted_lock_that_was_never_ours_is_left_alone),
        ON(3, an_adopted_lock_can_be_released_at_once),
        ON(3, leaving_nothing_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
