/* SPDX-License-Identifier: BSD-2-Clause */
/* The scripts of lua/ on a real server, against everything a key can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe.h"
#include "redis/script.h"
#include "servers.h"

#define TOKEN "0123456789abcdef0123456789abcdef01234567"

struct stage {
    struct servers *servers;
    struct server *server;
    struct probe *probe;
    uint32_t round;
};

static int setup(void **state)
{
    struct stage *stage = calloc(1, sizeof *stage);

    stage->servers = servers_start(1);
    stage->server = servers_at(stage->servers, 0);
    stage->probe = probe_ready(server_url(stage->server));
    *state = stage;
    return 0;
}

static int teardown(void **state)
{
    struct stage *stage = *state;

    probe_free(stage->probe);
    servers_stop(stage->servers);
    free(stage);
    return 0;
}

/* Sends one command and waits for its answer. */
static const struct ql_answer *
ask(struct stage *stage, enum ql_command_kind kind, ql_verdict verdict)
{
    stage->probe->count = 0;
    stage->round++;
    assert_int_equal(probe_send(stage->probe, kind, stage->round, TOKEN),
                     QL_V_NONE);
    probe_flush(stage->probe);
    probe_until_answers(stage->probe, 1);
    return probe_expect(stage->probe, 0, stage->round, verdict);
}

static void put(struct stage *stage, const char *value)
{
    server_command(stage->server, "SET", "lock", value, "PX", "90000", NULL);
}

static long long pttl(struct stage *stage)
{
    return server_command(stage->server, "PTTL", "lock", NULL).integer;
}

static void a_missing_key(void **state)
{
    struct stage *stage = *state;

    ask(stage, QL_CMD_INSPECT, QL_V_MISSING);
    ask(stage, QL_CMD_EXTEND, QL_V_MISSING);
    ask(stage, QL_CMD_RELEASE, QL_V_MISSING);
    assert_false(server_has_key(stage->server, "lock"));
}

static void a_key_of_ours(void **state)
{
    static const char *const values[] = {TOKEN, TOKEN " host:1:prog",
                                         TOKEN " "};
    struct stage *stage = *state;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        int64_t left;

        put(stage, values[i]);
        left = ask(stage, QL_CMD_INSPECT, QL_V_GRANTED)->remaining_ms;
        assert_in_range(left, 10001, 90000);
        ask(stage, QL_CMD_EXTEND, QL_V_GRANTED);
        assert_in_range(pttl(stage), 1, 10000);
        ask(stage, QL_CMD_RELEASE, QL_V_GRANTED);
        assert_false(server_has_key(stage->server, "lock"));
    }
}

/* Ours, and set by us, byte for byte as other clients expect it. */
static void what_we_set_is_ours(void **state)
{
    struct stage *stage = *state;
    struct server_reply reply;

    ask(stage, QL_CMD_SET, QL_V_GRANTED);
    ask(stage, QL_CMD_SET, QL_V_HELD);
    reply = server_command(stage->server, "GET", "lock", NULL);
    assert_string_equal(reply.text, TOKEN " label");
    assert_in_range(pttl(stage), 1, 10000);
    ask(stage, QL_CMD_RELEASE, QL_V_GRANTED);
}

static void a_key_of_somebody_elses(void **state)
{
    static const char *const values[] = {
        "someone",      "",          " ",          "0123456789abcdef",
        TOKEN "x",      TOKEN "x y", " " TOKEN,    TOKEN "\n",
        "x" TOKEN " y", "%s%n",      "\xff\xfe\n",
    };
    static const enum ql_command_kind kinds[] = {QL_CMD_EXTEND, QL_CMD_RELEASE,
                                                 QL_CMD_INSPECT};
    struct stage *stage = *state;

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        put(stage, values[i]);
        for (size_t k = 0; k < 3; k++) {
            const struct ql_answer *answer = ask(stage, kinds[k], QL_V_HELD);

            assert_string_equal(answer->text, values[i]);
            assert_in_range(answer->remaining_ms, 10001, 90000);
        }
        assert_string_equal(
            server_command(stage->server, "GET", "lock", NULL).text, values[i]);
    }
}

static void a_key_without_expiry(void **state)
{
    struct stage *stage = *state;

    server_command(stage->server, "SET", "lock", "theirs", NULL);
    assert_int_equal(ask(stage, QL_CMD_RELEASE, QL_V_HELD)->remaining_ms, -1);
    assert_int_equal(ask(stage, QL_CMD_INSPECT, QL_V_HELD)->remaining_ms, -1);
}

/* A megabyte is there, and 160 bytes of it are fetched. */
static void a_huge_value(void **state)
{
    struct stage *stage = *state;

    server_command(stage->server, "SETRANGE", "lock", "1000000", "x", NULL);
    assert_int_equal(ask(stage, QL_CMD_INSPECT, QL_V_HELD)->text_len, 160);
    assert_int_equal(ask(stage, QL_CMD_RELEASE, QL_V_HELD)->text_len, 160);
    assert_int_equal(ask(stage, QL_CMD_EXTEND, QL_V_HELD)->text_len, 160);
}

static void a_key_of_another_type(void **state)
{
    struct stage *stage = *state;

    server_command(stage->server, "RPUSH", "lock", "x", NULL);
    /* SET NX does not look at the type. */
    ask(stage, QL_CMD_SET, QL_V_HELD);
    ask(stage, QL_CMD_EXTEND, QL_V_WRONGTYPE);
    ask(stage, QL_CMD_RELEASE, QL_V_WRONGTYPE);
    assert_true(stage->probe->answers[0].text[0]);
    ask(stage, QL_CMD_INSPECT, QL_V_WRONGTYPE);
    assert_int_equal(
        server_command(stage->server, "LLEN", "lock", NULL).integer, 1);
}

static void trap_19_scripts_that_were_flushed(void **state)
{
    struct stage *stage = *state;

    for (int i = 0; i < 3; i++) {
        put(stage, TOKEN);
        server_command(stage->server, "SCRIPT", "FLUSH", NULL);
        ask(stage, QL_CMD_INSPECT, QL_V_GRANTED);
        ask(stage, QL_CMD_EXTEND, QL_V_GRANTED);
        ask(stage, QL_CMD_RELEASE, QL_V_GRANTED);
    }
    assert_int_equal(stage->probe->ready, 1);
}

static void any_bytes_are_a_name(void **state)
{
    static char big[1 << 20];
    static const struct {
        const char *name;
        size_t len;
    } names[] = {
        {"a b", 3},    {"%s%n%d", 6},     {"a\r\nDEL x\r\n", 10},
        {"a\0b", 3},   {"\0", 1},         {"\xff\xfe", 2},
        {"$5\r\n", 4}, {big, sizeof big}, {"{tag}\"'\\", 8},
    };
    struct stage *stage = *state;

    memset(big, 'n', sizeof big);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ql_command command = {
            .name = names[i].name,
            .name_len = names[i].len,
            .token = TOKEN,
            .label = "",
            .ttl_ms = 90000,
        };

        stage->probe->count = 0;
        command.kind = QL_CMD_SET;
        ql_node_send(stage->probe->node, &command, stage->probe->now);
        command.kind = QL_CMD_INSPECT;
        ql_node_send(stage->probe->node, &command, stage->probe->now);
        probe_flush(stage->probe);
        probe_until_answers(stage->probe, 2);
        probe_expect(stage->probe, 0, 0, QL_V_GRANTED);
        probe_expect(stage->probe, 1, 0, QL_V_GRANTED);
        assert_true(
            server_has_key_n(stage->server, names[i].name, names[i].len));
        command.kind = QL_CMD_RELEASE;
        ql_node_send(stage->probe->node, &command, stage->probe->now);
        probe_flush(stage->probe);
        probe_until_answers(stage->probe, 3);
        probe_expect(stage->probe, 2, 0, QL_V_GRANTED);
    }
    assert_servers_empty(stage->servers);
}

/* The hashes that were embedded are those that the server computes. */
static void hashes_are_the_servers(void **state)
{
    struct stage *stage = *state;

    for (unsigned i = 0; i < QL_SCRIPTS; i++) {
        const struct ql_script *script = ql_script_at(i);
        struct server_reply reply = server_command(
            stage->server, "SCRIPT", "LOAD", script->source, NULL);

        assert_string_equal(reply.text, script->sha1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_missing_key),         TEST(a_key_of_ours),
        TEST(what_we_set_is_ours),   TEST(a_key_of_somebody_elses),
        TEST(a_key_without_expiry),  TEST(a_huge_value),
        TEST(a_key_of_another_type), TEST(trap_19_scripts_that_were_flushed),
        TEST(any_bytes_are_a_name),  TEST(hashes_are_the_servers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
