/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One guarded node on a real server: what its greeting sees, and a lock's life
 * through it, also when scripts are flushed and the server is restarted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "clock.h"
#include "probe.h"
#include "servers.h"

#define NODE "quorlock:node"

struct stage {
    struct servers *servers;
    struct server *server;
    struct probe *probe;
};

static void start(struct stage *stage, const char *const *config)
{
    struct servers_options options = {.config = config};

    stage->servers = servers_start_with(1, &options);
    stage->server = servers_at(stage->servers, 0);
    stage->probe = probe_new_guarded(server_url(stage->server));
}

static void stop(struct stage *stage)
{
    probe_free(stage->probe);
    servers_stop(stage->servers);
    assert_int_equal(probe_mem_used, 0);
}

static struct ql_sight greet(struct stage *stage)
{
    struct ql_sight sight;

    ql_node_connect(stage->probe->node, stage->probe->now);
    probe_until_state(stage->probe, QL_NODE_READY);
    ql_node_sight(stage->probe->node, &sight);
    return sight;
}

/* Writes a record that is ready for the process with this run_id. */
static void put_record(struct stage *stage, const char *run)
{
    server_command(stage->server, "HSET", NODE, "state", "ready", "cfg",
                   "g.1.3", "prev", "", "run", run, "hw", "0", "max_ttl_ms",
                   "60000", "slack_ms", "500", "at", "1", NULL);
}

static const struct ql_answer *
ask(struct stage *stage, enum ql_command_kind kind, ql_verdict verdict)
{
    struct probe *probe = stage->probe;

    probe->count = 0;
    assert_int_equal(probe_send(probe, kind, 1, "tok"), QL_V_NONE);
    probe_flush(probe);
    probe_until_answers(probe, 1);
    return probe_expect(probe, 0, 1, verdict);
}

static void what_the_greeting_sees(void **state)
{
    static const char *const config[] = {"--maxmemory-policy",
                                         "allkeys-lru",
                                         "--maxmemory",
                                         "100mb",
                                         "--appendonly",
                                         "yes",
                                         "--appendfsync",
                                         "always",
                                         NULL};
    struct stage stage;
    struct ql_sight sight;

    (void)state;
    start(&stage, config);
    ql_node_sight(stage.probe->node, &sight);
    assert_false(sight.reachable);
    sight = greet(&stage);
    assert_true(sight.reachable && sight.durable && sight.evicts);
    assert_false(sight.replica || sight.cluster);
    assert_int_equal(strlen(sight.run_id), 40);
    assert_string_equal(sight.eviction, "allkeys-lru");
    assert_in_range(sight.uptime_s, 0, 600);
    assert_int_equal(sight.record.state, QL_RECORD_ABSENT);
    assert_true(sight.record.now_us > UINT64_C(1600000000000000));
    assert_true(sight.sent_ns > 0 && sight.got_ns >= sight.sent_ns);
    stop(&stage);
}

/* One of its conditions is not met each time. */
static void what_is_not_durable(void **state)
{
    static const char *const configs[][7] = {
        {"--appendonly", "no", "--appendfsync", "always", NULL},
        {"--appendonly", "yes", "--appendfsync", "everysec", NULL},
        {"--appendonly", "yes", "--appendfsync", "always",
         "--no-appendfsync-on-rewrite", "yes", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
        struct stage stage;
        struct ql_sight sight;

        start(&stage, configs[i]);
        sight = greet(&stage);
        assert_false(sight.durable);
        assert_false(sight.evicts);
        stop(&stage);
    }
}

static bool has_a_link(void *server)
{
    return strstr(server_command(server, "INFO", "replication", NULL).text,
                  "master_link_status:up") != NULL;
}

/* It may miss the last writes of the master that it was a copy of. */
static void trap_a_promoted_replica_is_not_durable(void **state)
{
    static const char *const config[] = {"--appendonly", "yes", "--appendfsync",
                                         "always", NULL};
    struct servers_options options = {.tcp = true};
    struct servers *masters = servers_start_with(1, &options);
    struct stage stage;
    struct ql_sight sight;
    char port[8];

    (void)state;
    start(&stage, config);
    snprintf(port, sizeof(port), "%u", server_port(servers_at(masters, 0)));
    server_command(stage.server, "REPLICAOF", "127.0.0.1", port, NULL);
    assert_true(clock_wait_until(has_a_link, stage.server, HANG_MS));
    server_command(stage.server, "REPLICAOF", "NO", "ONE", NULL);
    sight = greet(&stage);
    assert_false(sight.replica || sight.durable);
    stop(&stage);
    servers_stop(masters);
}

static void a_locks_life(struct stage *stage)
{
    const struct ql_answer *answer;
    uint64_t fence;

    stage->probe->guard.fence = 0;
    answer = ask(stage, QL_CMD_SET, QL_V_GRANTED);
    fence = answer->fence;
    assert_true(fence > 0 && answer->time_us > UINT64_C(1600000000000000));
    stage->probe->guard.fence = fence;
    assert_int_equal(ask(stage, QL_CMD_CONFIRM, QL_V_GRANTED)->fence, fence);
    assert_int_equal(ask(stage, QL_CMD_EXTEND, QL_V_GRANTED)->fence, fence);
    answer = ask(stage, QL_CMD_INSPECT, QL_V_GRANTED);
    assert_int_equal(answer->fence, fence);
    assert_in_range(answer->remaining_ms, 1, 10000);
    server_command(stage->server, "DEL", "quorlock:lock:{lock}", NULL);
    assert_int_equal(ask(stage, QL_CMD_EXTEND, QL_V_REPAIRED)->fence, fence);
    ask(stage, QL_CMD_RELEASE, QL_V_GRANTED);
    ask(stage, QL_CMD_INSPECT, QL_V_MISSING);
    ask(stage, QL_CMD_CONFIRM, QL_V_MISSING);
    ask(stage, QL_CMD_RELEASE, QL_V_MISSING);
    assert_int_equal(ask(stage, QL_CMD_RECORD, QL_V_GRANTED)->record->hw,
                     fence);
}

static void scripts_that_were_flushed(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, NULL);
    put_record(&stage, greet(&stage).run_id);
    a_locks_life(&stage);
    for (int i = 0; i < 3; i++) {
        server_command(stage.server, "SCRIPT", "FLUSH", NULL);
        a_locks_life(&stage);
    }
    assert_int_equal(stage.probe->ready, 1);
    stop(&stage);
}

/* The server comes back with the record of its life before. A request that was
 * held back while it was away must not be taken for that life's. */
static void trap_a_restart_with_old_data(void **state)
{
    struct stage stage;
    char run[41];
    struct ql_sight sight;

    (void)state;
    start(&stage, NULL);
    sight = greet(&stage);
    memcpy(run, sight.run_id, sizeof(run));
    put_record(&stage, run);
    ask(&stage, QL_CMD_SET, QL_V_GRANTED);
    server_restart(stage.server);
    put_record(&stage, run);
    while (ql_node_state(stage.probe->node) >= QL_NODE_READY)
        probe_once(stage.probe, 10);
    ql_node_connect(stage.probe->node, stage.probe->now);
    ask(&stage, QL_CMD_SET, QL_V_NOTREADY);
    assert_string_equal(stage.probe->answers[0].text, "not ready");
    ql_node_sight(stage.probe->node, &sight);
    assert_string_not_equal(sight.run_id, run);
    assert_string_equal(sight.record.run, run);
    /* What the life before had answered is none of this one's. */
    put_record(&stage, sight.run_id);
    stage.probe->guard.fence = 1;
    assert_int_equal(ask(&stage, QL_CMD_SET, QL_V_GRANTED)->fence, 1);
    stop(&stage);
}

static void trap_a_snapshot_that_was_restored(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, NULL);
    put_record(&stage, greet(&stage).run_id);
    ask(&stage, QL_CMD_SET, QL_V_GRANTED);
    server_command(stage.server, "DEL", "lock", "quorlock:lock:{lock}", NULL);
    server_command(stage.server, "HSET", NODE, "hw", "999", NULL);
    ask(&stage, QL_CMD_SET, QL_V_NOTREADY);
    assert_string_equal(stage.probe->answers[0].text, "rolled back");
    /* Looking again does not make it good. */
    ask(&stage, QL_CMD_RECORD, QL_V_GRANTED);
    ask(&stage, QL_CMD_SET, QL_V_NOTREADY);
    stop(&stage);
}

static void a_record_of_another_type(void **state)
{
    struct stage stage;

    (void)state;
    start(&stage, NULL);
    server_command(stage.server, "SET", NODE, "x", NULL);
    assert_int_equal(greet(&stage).record.state, QL_RECORD_STRANGE);
    ask(&stage, QL_CMD_SET, QL_V_WRONGTYPE);
    ask(&stage, QL_CMD_RECORD, QL_V_WRONGTYPE);
    stop(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_greeting_sees),
        cmocka_unit_test(what_is_not_durable),
        cmocka_unit_test(trap_a_promoted_replica_is_not_durable),
        cmocka_unit_test(scripts_that_were_flushed),
        cmocka_unit_test(trap_a_restart_with_old_data),
        cmocka_unit_test(trap_a_snapshot_that_was_restored),
        cmocka_unit_test(a_record_of_another_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
