/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client knows of its nodes: for people who look, and for checks. */
#include <string.h>

#include "live.h"

/* The node as a client that has just connected sees it. */
static ql_node_info look(struct live *live, unsigned index)
{
    ql_client *client = live_client(servers_list(live->servers), PATIENT_MS);
    ql_node_info info;

    (void)ql_client_connect(client);
    assert_int_equal(ql_client_node(client, index, &info), QL_OK);
    info.address = NULL; /* it goes with the client */
    ql_client_close(client);
    return info;
}

static void a_node_says_what_it_is(void **state)
{
    struct live *live = *state;
    ql_node_info info[2];

    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(ql_client_node(live->client, i, &info[i]), QL_OK);
        assert_true(info[i].ready);
        assert_int_equal(info[i].verdict, QL_V_GRANTED);
        assert_string_equal(info[i].address,
                            server_url(servers_at(live->servers, i)));
        assert_int_equal(strlen(info[i].run_id), 40);
        assert_true(strchr(info[i].version, '.') != NULL);
        assert_false(info[i].replica);
    }
    assert_string_not_equal(info[0].run_id, info[1].run_id);
    assert_int_equal(ql_client_node(live->client, 3, &info[0]), QL_E_INVALID);
    assert_int_equal(ql_client_node(live->client, 0, NULL), QL_E_INVALID);
}

static void before_it_is_connected_nothing_is_known(void **state)
{
    struct live *live = *state;
    ql_client *client = live_client(servers_list(live->servers), PATIENT_MS);
    ql_node_info info;

    assert_int_equal(ql_client_node(client, 0, &info), QL_OK);
    assert_false(info.ready);
    assert_string_equal(info.run_id, "");
    assert_int_equal(ql_client_nodes(client), 3);
    assert_int_equal(ql_client_quorum(client), 2);
    ql_client_close(client);
}

static void a_dead_node_says_why(void **state)
{
    struct live *live = *state;
    ql_node_info info;

    server_kill(servers_at(live->servers, 1));
    info = look(live, 1);
    assert_false(info.ready);
    assert_int_equal(info.verdict, QL_V_REFUSED);
    assert_true(info.text[0]);
}

static void a_restarted_node_is_another(void **state)
{
    struct live *live = *state;
    ql_node_info before = look(live, 0), after;

    server_restart(servers_at(live->servers, 0));
    after = look(live, 0);
    assert_string_not_equal(before.run_id, after.run_id);
}

static void a_replica_is_known_as_one(void **state)
{
    struct live *live = *state;

    server_command(servers_at(live->servers, 2), "REPLICAOF", "127.0.0.1", "1",
                   NULL);
    assert_true(look(live, 2).replica);
    assert_false(look(live, 0).replica);
}

static void trap_22_the_eviction_policy_is_known(void **state)
{
    struct live *live = *state;

    assert_string_equal(look(live, 0).eviction, "noeviction");
    server_command(servers_at(live->servers, 0), "CONFIG", "SET",
                   "maxmemory-policy", "allkeys-lru", NULL);
    assert_string_equal(look(live, 0).eviction, "allkeys-lru");
    assert_string_equal(look(live, 1).eviction, "noeviction");
}

static void every_result_and_every_verdict_has_words(void **state)
{
    (void)state;
    for (int result = -14; result <= 2; result++) {
        assert_memory_equal(ql_result_name(result), "QL_", 3);
        assert_true(ql_result_text(result)[0]);
    }
    assert_string_equal(ql_result_name(QL_HELD), "QL_HELD");
    assert_string_equal(ql_result_name(99), "unknown");
    assert_non_null(ql_result_text(-99));
    for (int verdict = 0; verdict < QL_V_COUNT; verdict++)
        assert_true(ql_verdict_word((ql_verdict)verdict)[0]);
    assert_string_equal(ql_verdict_word(QL_V_COUNT), "unknown");
    assert_string_equal(ql_version(), QL_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(3, a_node_says_what_it_is),
        ON(3, before_it_is_connected_nothing_is_known),
        ON(3, a_dead_node_says_why),
        ON(3, a_restarted_node_is_another),
        ON(3, a_replica_is_known_as_one),
        ON(3, trap_22_the_eviction_policy_is_known),
        cmocka_unit_test(every_result_and_every_verdict_has_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
