/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guarded level on real servers: fencing tokens, and nodes that lost
 * something and do not vote until they can have forgotten nothing that counts.
 */
#include <stdio.h>
#include <string.h>

#include "group.h"

#define NAME      "the name"
#define COMPANION "quorlock:lock:{the name}"

/* More than the quarantine of GROUP_MAX_TTL_MS, and less than forever. */
#define QUARANTINE_MS 3600
#define FOREVER_MS    60000

static ql_lock *impatient(ql_client *client, const char *name)
{
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;

    options.ttl_ms = GROUP_MAX_TTL_MS;
    options.wait_ms = 0;
    return live_lock_with(client, name, &options);
}

static void a_lock_has_a_fencing_token_and_the_next_a_larger(void **state)
{
    struct live *live = *state;
    ql_lock *first = impatient(live->client, NAME);
    ql_lock *second = impatient(live->client, NAME);
    uint64_t fence;

    assert_int_equal(ql_lock_fence(first), 0);
    assert_result(QL_OK, ql_lock_acquire(first), first);
    fence = ql_lock_fence(first);
    assert_true(fence > 0 && fence < UINT64_C(1) << 53);
    assert_result(QL_HELD, ql_lock_acquire(second), second);
    assert_result(QL_OK, ql_lock_release(first), first);
    assert_int_equal(ql_lock_fence(first), fence);
    assert_result(QL_OK, ql_lock_acquire(second), second);
    assert_true(ql_lock_fence(second) > fence);
    assert_false(ql_lock_owner_died(second));
    ql_lock_free(second);
    ql_lock_free(first);
}

static void the_plain_key_is_as_ever_and_goes_with_the_release(void **state)
{
    struct live *live = *state;
    ql_lock *lock = impatient(live->client, NAME);
    char value[80];

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    snprintf(value, sizeof(value), "%s " LABEL, ql_lock_token(lock));
    assert_keys_soon(live->servers, NAME, servers_count(live->servers));
    for (unsigned i = 0; i < servers_count(live->servers); i++) {
        struct server *server = servers_at(live->servers, i);
        struct server_reply reply = server_command(server, "GET", NAME, NULL);

        assert_string_equal(reply.text, value);
        reply = server_command(server, "PTTL", NAME, NULL);
        assert_in_range(reply.integer, 1, GROUP_MAX_TTL_MS);
    }
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

static void plain_and_guarded_exclude_each_other(void **state)
{
    struct live *live = *state;
    ql_client *plain =
        group_client(servers_list(live->servers), QL_LEVEL_PLAIN);
    ql_lock *guarded_lock = impatient(live->client, NAME);
    ql_lock *plain_lock = impatient(plain, NAME);

    assert_result(QL_OK, ql_lock_acquire(guarded_lock), guarded_lock);
    assert_result(QL_HELD, ql_lock_acquire(plain_lock), plain_lock);
    assert_result(QL_OK, ql_lock_release(guarded_lock), guarded_lock);
    assert_no_key_soon(live->servers, NAME);
    assert_result(QL_OK, ql_lock_acquire(plain_lock), plain_lock);
    assert_result(QL_HELD, ql_lock_acquire(guarded_lock), guarded_lock);
    assert_result(QL_OK, ql_lock_release(plain_lock), plain_lock);
    ql_lock_free(plain_lock);
    ql_lock_free(guarded_lock);
    ql_client_close(plain);
}

static void strict_and_guarded_are_one_group(void **state)
{
    struct live *live = *state;
    ql_client *strict =
        group_client(servers_list(live->servers), QL_LEVEL_STRICT);
    ql_lock *guarded_lock = impatient(live->client, NAME);
    ql_lock *strict_lock = impatient(strict, NAME);
    uint64_t fence;

    assert_result(QL_OK, ql_lock_acquire(strict_lock), strict_lock);
    fence = ql_lock_fence(strict_lock);
    assert_result(QL_HELD, ql_lock_acquire(guarded_lock), guarded_lock);
    assert_result(QL_OK, ql_lock_extend(strict_lock, 0), strict_lock);
    assert_result(QL_OK, ql_lock_verify(strict_lock), strict_lock);
    assert_result(QL_OK, ql_lock_release(strict_lock), strict_lock);
    assert_result(QL_OK, ql_lock_acquire(guarded_lock), guarded_lock);
    assert_true(ql_lock_fence(guarded_lock) > fence);
    ql_lock_free(strict_lock);
    ql_lock_free(guarded_lock);
    ql_client_close(strict);
}

static void an_extension_keeps_the_token_and_repairs_a_lost_key(void **state)
{
    struct live *live = *state;
    struct server *server = servers_at(live->servers, 0);
    ql_lock *lock = impatient(live->client, NAME);
    uint64_t fence;

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    fence = ql_lock_fence(lock);
    assert_keys_soon(live->servers, NAME, servers_count(live->servers));
    server_command(server, "DEL", NAME, COMPANION, NULL);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_verdict_soon(live->client, lock, 0, QL_V_REPAIRED);
    assert_keys_soon(live->servers, NAME, servers_count(live->servers));
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_verdict_soon(live->client, lock, 0, QL_V_GRANTED);
    assert_int_equal(ql_lock_fence(lock), fence);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
}

static void a_holder_that_died_is_told_of(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *dead, *heir;

    options.ttl_ms = 200;
    options.wait_ms = FOREVER_MS;
    dead = live_lock_with(live->client, NAME, &options);
    heir = live_lock_with(live->client, NAME, &options);
    assert_result(QL_OK, ql_lock_acquire(dead), dead);
    ql_lock_leave(dead);
    assert_result(QL_OK, ql_lock_acquire(heir), heir);
    assert_true(ql_lock_owner_died(heir));
    assert_result(QL_OK, ql_lock_release(heir), heir);
    assert_result(QL_OK, ql_lock_acquire(heir), heir);
    assert_false(ql_lock_owner_died(heir));
    ql_lock_free(heir);
}

/* Waits until it votes again, and says so. */
static void assert_votes_again(struct live *live, unsigned node)
{
    int64_t until = clock_now_ms() + QUARANTINE_MS + FOREVER_MS;

    for (;;) {
        ql_lock *lock = impatient(live->client, "other");
        ql_node_info info;

        (void)ql_lock_acquire(lock);
        ql_lock_free(lock);
        (void)ql_client_connect(live->client);
        assert_int_equal(QL_OK, ql_client_node(live->client, node, &info));
        if (info.verdict == QL_V_GRANTED)
            return;
        if (clock_now_ms() > until)
            fail_msg("node %u: %s (%s)", node, ql_verdict_word(info.verdict),
                     info.text);
        clock_sleep_ms(100);
    }
}

static void a_node_that_lost_its_data_does_not_vote_for_a_while(void **state)
{
    struct live *live = *state;
    int64_t began = clock_now_ms();
    ql_lock *lock = impatient(live->client, NAME);

    server_restart(servers_at(live->servers, 0));
    assert_node_ready_soon(live->client, 0);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_verdict_soon(live->client, lock, 0, QL_V_NOTREADY);
    assert_false(server_has_key(servers_at(live->servers, 0), NAME));
    assert_votes_again(live, 0);
    assert_true(clock_now_ms() - began > GROUP_MAX_TTL_MS);
    ql_lock_free(lock);
}

static void a_flushed_node_does_not_vote_for_a_while(void **state)
{
    struct live *live = *state;
    ql_lock *lock = impatient(live->client, NAME);

    server_command(servers_at(live->servers, 2), "FLUSHALL", NULL);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_verdict_soon(live->client, lock, 2, QL_V_NOTREADY);
    assert_false(server_has_key(servers_at(live->servers, 2), NAME));
    assert_votes_again(live, 2);
    ql_lock_free(lock);
}

/* A node that came back knows no number of before; the others tell it. */
static void tokens_grow_over_restarts_of_every_node(void **state)
{
    struct live *live = *state;
    uint64_t last = 0;

    for (unsigned node = 0; node < 3; node++) {
        ql_lock *lock = impatient(live->client, NAME);

        assert_result(QL_OK, ql_lock_acquire(lock), lock);
        assert_true(ql_lock_fence(lock) > last);
        last = ql_lock_fence(lock);
        ql_lock_free(lock);
        server_restart(servers_at(live->servers, node));
        assert_node_ready_soon(live->client, node);
        assert_votes_again(live, node);
    }
}

/* What the others would tell them is not there any more: somebody must say
 * that no lock is held. */
static void a_majority_that_lost_its_data_grants_nothing(void **state)
{
    struct live *live = *state;
    ql_lock *lock = impatient(live->client, NAME);

    server_restart(servers_at(live->servers, 0));
    server_restart(servers_at(live->servers, 1));
    assert_node_ready_soon(live->client, 0);
    assert_node_ready_soon(live->client, 1);
    assert_result(QL_E_CONFIG, ql_lock_acquire(lock), lock);
    assert_non_null(strstr(ql_lock_error(lock), "quorlock init --again"));
    assert_no_key_on_any_server(live->servers, NAME);
    ql_lock_free(lock);
}

static void what_was_never_initialised_says_what_to_type(void **state)
{
    struct live *live = *state;
    ql_client *client =
        group_client(servers_list(live->servers), QL_LEVEL_GUARDED);
    ql_lock *lock = impatient(client, NAME);

    assert_result(QL_E_CONFIG, ql_lock_acquire(lock), lock);
    assert_non_null(strstr(ql_lock_error(lock), "quorlock init"));
    assert_verdict(lock, 0, QL_V_GROUP);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void a_ttl_above_the_groups_is_refused(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, GROUP_MAX_TTL_MS + 1);

    assert_result(QL_E_CONFIG, ql_lock_try(lock), lock);
    assert_verdict(lock, 0, QL_V_TTL);
    assert_no_key_on_any_server(live->servers, NAME);
    ql_lock_free(lock);
}

static void part_of_the_list_is_refused(void **state)
{
    struct live *live = *state;
    ql_client *client;
    ql_lock *lock;
    char list[512];

    snprintf(list, sizeof(list), "%s,%s,%s",
             server_url(servers_at(live->servers, 0)),
             server_url(servers_at(live->servers, 1)),
             server_url(servers_at(live->servers, 2)));
    client = group_client(list, QL_LEVEL_GUARDED);
    lock = impatient(client, NAME);
    assert_result(QL_E_CONFIG, ql_lock_acquire(lock), lock);
    assert_verdict(lock, 0, QL_V_GROUP);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void names_of_our_own_records_are_refused(void **state)
{
    struct live *live = *state;
    ql_lock *lock = NULL;

    assert_int_equal(QL_E_INVALID,
                     ql_lock_new(&lock, live->client, "quorlock:node", NULL));
    assert_null(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GUARDED_ON(1, a_lock_has_a_fencing_token_and_the_next_a_larger),
        GUARDED_ON(3, a_lock_has_a_fencing_token_and_the_next_a_larger),
        GUARDED_ON(5, a_lock_has_a_fencing_token_and_the_next_a_larger),
        GUARDED_ON(3, the_plain_key_is_as_ever_and_goes_with_the_release),
        GUARDED_ON(3, plain_and_guarded_exclude_each_other),
        GUARDED_ON(3, strict_and_guarded_are_one_group),
        GUARDED_ON(3, an_extension_keeps_the_token_and_repairs_a_lost_key),
        GUARDED_ON(3, a_holder_that_died_is_told_of),
        GUARDED_ON(3, a_node_that_lost_its_data_does_not_vote_for_a_while),
        GUARDED_ON(3, a_flushed_node_does_not_vote_for_a_while),
        GUARDED_ON(3, tokens_grow_over_restarts_of_every_node),
        GUARDED_ON(3, a_majority_that_lost_its_data_grants_nothing),
        ON(3, what_was_never_initialised_says_what_to_type),
        GUARDED_ON(3, a_ttl_above_the_groups_is_refused),
        GUARDED_ON(5, part_of_the_list_is_refused),
        GUARDED_ON(1, names_of_our_own_records_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
