/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes that are silent and known to be: however often a lock is tried, nothing
 * piles up for them, and what they are owed is not forgotten. From inside,
 * because a queue is no business of callers.
 */
#include "live.h"

#include "client/client.h"

static unsigned pending_releases(const ql_client *client)
{
    unsigned count = 0;

    for (unsigned i = 0; i < client->rules.nodes; i++)
        count += ql_node_pending_releases(client->member[i].node);
    return count;
}

static void retries_leave_nothing_in_the_queues_of_silent_nodes(void **state)
{
    struct live *live = *state;
    ql_client *client = live_client(servers_list(live->servers), BRIEF_MS);
    ql_lock *lock = live_lock(client, "silent", 0);
    unsigned before;

    assert_result(QL_OK, ql_client_connect(client), lock);
    for (unsigned i = 0; i < 4; i++)
        server_freeze(servers_at(live->servers, i));
    assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    before = pending_releases(client);
    assert_in_range(before, 1, 4); /* of the attempt that found them silent */
    for (unsigned i = 0; i < 20; i++)
        assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    assert_in_range(pending_releases(client), 0, before);

    for (unsigned i = 0; i < 4; i++)
        server_thaw(servers_at(live->servers, i));
    assert_no_key_soon(live->servers, "silent");
    ql_lock_free(lock);
    ql_client_close(client);
}

/* PERSIST by a stranger: the key is ours, for longer than we asked. */
static void
a_key_without_expiry_does_not_end_a_lock_that_is_verified(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, "kept", 0);
    int64_t valid_ms;

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, "kept", 5);
    for (unsigned i = 0; i < 5; i++)
        server_command(servers_at(live->servers, i), "PERSIST", "kept", NULL);
    valid_ms = ql_lock_valid_ms(lock);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_int_equal(ql_lock_lost(lock), 0);
    assert_in_range(ql_lock_valid_ms(lock), 1, (uintmax_t)valid_ms);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
}

/* Nobody waits for it: the client only thinks that it has been so long. */
static void let_time_pass(ql_client *client, uint64_t seconds)
{
    client->clock.skipped += seconds * UINT64_C(1000000000);
}

static void not_asked(ql_lock *lock, int result, void *arg)
{
    (void)lock;
    (void)result;
    (void)arg;
}

/* The acquire was held up for almost a ttl, so its key lives for another one,
 * and the release is owed for as long. */
static void a_debt_outlives_a_key_that_was_set_late(void **state)
{
    struct live *live = *state;
    struct server *late = servers_at(live->servers, 2);
    ql_client *client = live_client(servers_list(live->servers), BRIEF_MS);
    ql_lock *lock = live_lock(client, "late", 600000);
    struct ql_node *node = client->member[2].node;

    assert_result(QL_OK, ql_client_connect(client), lock);
    server_freeze(late);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    let_time_pass(client, 590);
    server_thaw(late);
    assert_verdict_soon(client, lock, 2, QL_V_GRANTED);
    server_command(late, "CLIENT", "KILL", "TYPE", "normal", NULL);
    while (ql_node_state(node) != QL_NODE_DOWN)
        (void)ql_client_process(client);
    assert_result(QL_OK, ql_lock_release_start(lock, not_asked, NULL), lock);
    assert_int_equal(ql_node_pending_releases(node), 1);
    let_time_pass(client, 60);
    assert_node_ready_soon(client, 2);
    assert_keys_soon_by(client, live->servers, "late", 0);
    ql_lock_free(lock);
    ql_client_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(5, retries_leave_nothing_in_the_queues_of_silent_nodes),
        ON(3, a_debt_outlives_a_key_that_was_set_late),
        ON(5, a_key_without_expiry_does_not_end_a_lock_that_is_verified),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
