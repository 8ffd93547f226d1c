/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One node on a real server that is in trouble, of each kind that has a
 * verdict of its own; and the ways to log in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "probe.h"
#include "servers.h"

static struct servers *start_with(const char *const *config)
{
    struct servers_options options = {.config = config};

    return servers_start_with(1, &options);
}

static ql_verdict ask(struct probe *probe, enum ql_command_kind kind)
{
    probe->count = 0;
    assert_int_equal(probe_send(probe, kind, 1, "tok"), QL_V_NONE);
    probe_flush(probe);
    probe_until_answers(probe, 1);
    return probe->answers[0].answer.verdict;
}

static void finish(struct probe *probe, struct servers *servers)
{
    probe_free(probe);
    servers_stop(servers);
    assert_int_equal(probe_mem_used, 0);
}

/* Connects, and says with which verdict that failed. */
static ql_verdict refused(struct probe *probe)
{
    probe->count = 0;
    ql_node_connect(probe->node, probe->now);
    probe_send(probe, QL_CMD_SET, 1, "tok");
    probe_until_answers(probe, 1);
    assert_false(probe->answers[0].answer.sent);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
    return probe->answers[0].answer.verdict;
}

static void what_is_known_of_a_server(void **state)
{
    static const char *const config[] = {"--maxmemory-policy", "allkeys-lru",
                                         NULL};
    struct servers *servers = start_with(config);
    struct probe *probe = probe_ready(server_url(servers_at(servers, 0)));
    ql_node_info info;
    int major;

    (void)state;
    ql_node_describe(probe->node, &info);
    assert_true(info.ready);
    assert_int_equal(info.verdict, QL_V_GRANTED);
    assert_string_equal(info.text, "");
    assert_int_equal(strlen(info.run_id), 40);
    assert_int_equal(sscanf(info.version, "%d.", &major), 1);
    assert_string_equal(info.eviction, "allkeys-lru");
    assert_false(info.replica);
    finish(probe, servers);
}

static void trap_19_a_replica(void **state)
{
    struct servers *servers = servers_start(2);
    struct server *replica = servers_at(servers, 0);
    struct probe *probe;
    ql_node_info info;

    (void)state;
    server_command(replica, "REPLICAOF", "127.0.0.1", "1", NULL);
    probe = probe_ready(server_url(replica));
    ql_node_describe(probe->node, &info);
    assert_true(info.replica);
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_READONLY);
    finish(probe, servers);
}

/* Releasing and extending must work where there is no memory for more. */
static void trap_19_out_of_memory(void **state)
{
    struct servers *servers = servers_start(1);
    struct server *server = servers_at(servers, 0);
    struct probe *probe = probe_ready(server_url(server));

    (void)state;
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_GRANTED);
    server_command(server, "CONFIG", "SET", "maxmemory", "1", NULL);
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_OOM);
    assert_int_equal(ask(probe, QL_CMD_EXTEND), QL_V_GRANTED);
    assert_int_equal(ask(probe, QL_CMD_INSPECT), QL_V_GRANTED);
    assert_int_equal(ask(probe, QL_CMD_RELEASE), QL_V_GRANTED);
    finish(probe, servers);
}

static void trap_19_too_few_replicas(void **state)
{
    static const char *const config[] = {"--min-replicas-to-write", "1", NULL};
    struct servers *servers = start_with(config);
    struct probe *probe = probe_ready(server_url(servers_at(servers, 0)));

    (void)state;
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_NOREPLICAS);
    finish(probe, servers);
}

/* It is answered, so nobody waits; and it is made up for. */
static void a_release_that_is_put_off_is_tried_again(void **state)
{
    struct servers *servers = start_with(NULL);
    struct server *server = servers_at(servers, 0);
    struct probe *probe = probe_ready(server_url(server));
    int64_t end = clock_now_ms() + HANG_MS;

    (void)state;
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_GRANTED);
    server_command(server, "CONFIG", "SET", "min-replicas-to-write", "1", NULL);
    assert_int_equal(ask(probe, QL_CMD_RELEASE), QL_V_NOREPLICAS);
    assert_true(server_has_key(server, "lock"));
    server_command(server, "CONFIG", "SET", "min-replicas-to-write", "0", NULL);
    while (server_has_key(server, "lock")) {
        assert_true(clock_now_ms() < end);
        probe_advance(probe, 100);
        probe_once(probe, 10);
    }
    assert_int_equal(ql_node_pending_releases(probe->node), 0);
    assert_int_equal(probe->count, 1);
    finish(probe, servers);
}

/* The directory that it saves to has gone. */
static void trap_19_misconf(void **state)
{
    char directory[] = "/tmp/quorlock-states-XXXXXX";
    const char *config[] = {"--dir", NULL, "--save", "3600 1", NULL};
    struct servers *servers;
    struct server *server;
    struct probe *probe;
    int64_t end = clock_now_ms() + HANG_MS;

    (void)state;
    assert_non_null(mkdtemp(directory));
    config[1] = directory;
    servers = start_with(config);
    server = servers_at(servers, 0);
    probe = probe_ready(server_url(server));
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_GRANTED);
    assert_int_equal(rmdir(directory), 0);
    server_command(server, "BGSAVE", NULL);
    while (ask(probe, QL_CMD_SET) != QL_V_MISCONF)
        assert_true(clock_now_ms() < end);
    /* In this state a server refuses to delete as well. */
    assert_int_equal(ask(probe, QL_CMD_RELEASE), QL_V_MISCONF);
    finish(probe, servers);
}

static void trap_19_a_cluster_node(void **state)
{
    static const char *const config[] = {"--cluster-enabled", "yes", NULL};
    struct servers_options options = {.config = config, .tcp = true};
    struct servers *servers = servers_start_with(1, &options);
    struct probe *probe = probe_ready(server_url(servers_at(servers, 0)));

    (void)state;
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_MOVED);
    assert_int_equal(ask(probe, QL_CMD_RELEASE), QL_V_MOVED);
    finish(probe, servers);
}

/* Says something to a server and does not wait for the answer. */
static int shout(struct server *server, const char *words)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s",
             server_socket(server));
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address),
                     0);
    assert_int_equal(write(fd, words, strlen(words)), strlen(words));
    return fd;
}

/* Asks until the server is in the state. */
static void until(struct probe *probe, ql_verdict verdict)
{
    int64_t end = clock_now_ms() + HANG_MS;

    while (ask(probe, QL_CMD_INSPECT) != verdict)
        assert_true(clock_now_ms() < end);
}

static void trap_19_a_script_that_does_not_end(void **state)
{
    static const char *const config[] = {"--lua-time-limit", "1", NULL};
    struct servers *servers = start_with(config);
    struct server *server = servers_at(servers, 0);
    struct probe *probe = probe_ready(server_url(server));
    struct probe *late = probe_new(server_url(server));
    int fd = shout(server, "EVAL \"while true do end\" 0\r\n");

    (void)state;
    until(probe, QL_V_BUSY);
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_BUSY);
    assert_int_equal(refused(late), QL_V_BUSY);
    server_command(server, "SCRIPT", "KILL", NULL);
    until(probe, QL_V_MISSING);
    probe_reconnect(late);
    close(fd);
    probe_free(late);
    finish(probe, servers);
}

static void trap_19_a_server_that_loads(void **state)
{
    static const char *const config[] = {
        "--enable-debug-command",
        "yes",
        "--key-load-delay",
        "20000",
        "--loading-process-events-interval-bytes",
        "1024",
        NULL};
    struct servers *servers = start_with(config);
    struct server *server = servers_at(servers, 0);
    struct probe *probe = probe_ready(server_url(server));
    struct probe *late = probe_new(server_url(server));
    int fd;

    (void)state;
    server_command(server, "DEBUG", "POPULATE", "5000", "key", "1000", NULL);
    fd = shout(server, "DEBUG RELOAD\r\n");
    until(probe, QL_V_LOADING);
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_LOADING);
    assert_int_equal(refused(late), QL_V_LOADING);
    close(fd);
    probe_free(late);
    finish(probe, servers);
}

static void trap_19_no_connection_left(void **state)
{
    struct servers *servers = servers_start(1);
    struct server *server = servers_at(servers, 0);
    struct probe *probe = probe_new(server_url(server));

    (void)state;
    /* The connection that says so is the one. */
    server_command(server, "CONFIG", "SET", "maxclients", "1", NULL);
    assert_int_equal(refused(probe), QL_V_MAXCLIENTS);
    server_command(server, "CONFIG", "SET", "maxclients", "10", NULL);
    probe_reconnect(probe);
    finish(probe, servers);
}

/* --- Logging in ----------------------------------------------------------- */

static void trap_19_passwords(void **state)
{
    struct servers_options options = {.password = "p@ss w:rd%"};
    struct servers *servers;
    struct probe *probe;
    const char *url;

    (void)state;
    options.tcp = true;
    servers = servers_start_with(1, &options);
    url = server_url(servers_at(servers, 0));
    probe = probe_new(url);
    assert_int_equal(refused(probe), QL_V_NOAUTH);
    probe_free(probe);
    probe = probe_new_login(url, NULL, "wrong");
    assert_int_equal(refused(probe), QL_V_NOAUTH);
    assert_null(strstr(probe->answers[0].text, "wrong "));
    probe_free(probe);
    probe = probe_new_login(url, "nobody", options.password);
    assert_int_equal(refused(probe), QL_V_NOAUTH);
    probe_free(probe);
    probe = probe_new_login(url, "default", options.password);
    ql_node_connect(probe->node, probe->now);
    probe_until_state(probe, QL_NODE_READY);
    probe_free(probe);
    probe = probe_new_login(url, NULL, options.password);
    ql_node_connect(probe->node, probe->now);
    probe_until_state(probe, QL_NODE_READY);
    finish(probe, servers);
}

/* The address's own login comes first, and is percent-decoded. */
static void a_password_in_the_address(void **state)
{
    struct servers_options options = {.password = "p@ss:rd%", .tcp = true};
    struct servers *servers = servers_start_with(1, &options);
    char url[128];
    struct probe *probe;

    (void)state;
    snprintf(url, sizeof url, "redis://default:p%%40ss%%3ard%%25@127.0.0.1:%u",
             server_port(servers_at(servers, 0)));
    probe = probe_new_login(url, "other", "wrong");
    ql_node_connect(probe->node, probe->now);
    probe_until_state(probe, QL_NODE_READY);
    assert_null(strstr(probe->address.display, "ss"));
    finish(probe, servers);
}

static void allow(struct server *server, const char *rights)
{
    char words[512];
    const char *argv[32] = {"ACL", "SETUSER", "limited", "reset",
                            "on",  ">secret", "~*"};
    int argc = 7;
    char *place;

    snprintf(words, sizeof words, "%s", rights);
    for (char *word = strtok_r(words, " ", &place); word;
         word = strtok_r(NULL, " ", &place))
        argv[argc++] = word;
    assert_int_not_equal(server_command_argv(server, argc, argv, NULL).kind,
                         SERVER_ERROR);
}

/* The least that a user needs; without INFO less is known, and that is all. */
static void trap_19_a_user_with_few_rights(void **state)
{
    struct servers *servers = servers_start(1);
    struct server *server = servers_at(servers, 0);
    struct probe *probe =
        probe_new_login(server_url(server), "limited", "secret");
    ql_node_info info;

    (void)state;
    allow(server, "-@all +set +evalsha +script|load +getrange +exists +del "
                  "+pexpire +pttl");
    ql_node_connect(probe->node, probe->now);
    probe_until_state(probe, QL_NODE_READY);
    ql_node_describe(probe->node, &info);
    assert_true(info.ready);
    assert_string_equal(info.run_id, "");
    assert_string_equal(info.version, "");
    assert_string_equal(info.eviction, "");
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_GRANTED);
    assert_int_equal(ask(probe, QL_CMD_EXTEND), QL_V_GRANTED);
    assert_int_equal(ask(probe, QL_CMD_INSPECT), QL_V_GRANTED);
    assert_int_equal(ask(probe, QL_CMD_RELEASE), QL_V_GRANTED);
    finish(probe, servers);
}

static void trap_19_a_user_with_too_few_rights(void **state)
{
    struct servers *servers = servers_start(1);
    struct server *server = servers_at(servers, 0);
    struct probe *probe =
        probe_new_login(server_url(server), "limited", "secret");

    (void)state;
    allow(server, "-@all +set +evalsha +getrange +exists +del +pexpire +pttl");
    assert_int_equal(refused(probe), QL_V_NOPERM);
    assert_non_null(strstr(ql_node_text(probe->node), "+script|load"));
    allow(server, "-@all +evalsha +script|load +exists +getrange");
    probe_reconnect(probe);
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_NOPERM);
    server_command(server, "SET", "lock", "tok", NULL);
    assert_int_equal(ask(probe, QL_CMD_RELEASE), QL_V_NOPERM);
    assert_int_equal(ask(probe, QL_CMD_EXTEND), QL_V_NOPERM);
    finish(probe, servers);
}

static void a_database_of_its_own(void **state)
{
    struct servers *servers = servers_start(1);
    struct server *server = servers_at(servers, 0);
    char url[128];
    struct probe *probe;

    (void)state;
    snprintf(url, sizeof url, "%s?db=3", server_url(server));
    probe = probe_ready(url);
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_GRANTED);
    assert_false(server_has_key(server, "lock"));
    probe_free(probe);
    snprintf(url, sizeof url, "%s?db=99", server_url(server));
    probe = probe_new(url);
    assert_int_equal(refused(probe), QL_V_ERROR);
    assert_string_equal(probe->answers[0].text, "ERR DB index is out of range");
    finish(probe, servers);
}

/* --- Coming and going ----------------------------------------------------- */

/* Wherever the resolver puts it, the address that works is found. */
static void all_addresses_of_a_name_are_tried(void **state)
{
    struct servers_options options = {.tcp = true};
    struct servers *servers = servers_start_with(1, &options);
    char url[64];
    struct probe *probe;

    (void)state;
    snprintf(url, sizeof url, "redis://localhost:%u",
             server_port(servers_at(servers, 0)));
    probe = probe_ready(url);
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_GRANTED);
    finish(probe, servers);
}

static void a_name_without_address(void **state)
{
    struct probe *probe = probe_new("redis://no-such-host.invalid");

    (void)state;
    ql_node_connect(probe->node, probe->now);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 1, "x"), QL_V_RESOLVE);
    assert_true(ql_node_text(probe->node)[0]);
    probe_free(probe);
}

/* Killed with an acquire that it has answered and a release that it cannot:
 * it comes back empty, and the release is paid all the same. */
static void a_server_that_is_killed_and_comes_back(void **state)
{
    struct servers_options options = {.tcp = true};
    struct servers *servers = servers_start_with(1, &options);
    struct server *server = servers_at(servers, 0);
    struct probe *probe = probe_ready(server_url(server));
    ql_node_info before, after;

    (void)state;
    ql_node_describe(probe->node, &before);
    assert_int_equal(ask(probe, QL_CMD_SET), QL_V_GRANTED);
    server_kill(server);
    probe_until_state(probe, QL_NODE_DOWN);
    assert_int_not_equal(probe_send(probe, QL_CMD_RELEASE, 2, "tok"),
                         QL_V_NONE);
    assert_int_equal(refused(probe), QL_V_REFUSED);
    server_restart(server);
    server_command(server, "SET", "lock", "tok", NULL);
    probe_reconnect(probe);
    while (ql_node_pending_releases(probe->node) > 0)
        probe_once(probe, 10);
    assert_false(server_has_key(server, "lock"));
    ql_node_describe(probe->node, &after);
    assert_string_not_equal(before.run_id, after.run_id);
    finish(probe, servers);
}

static void a_server_that_is_frozen_and_thaws(void **state)
{
    struct servers *servers = servers_start(1);
    struct server *server = servers_at(servers, 0);
    struct probe *probe = probe_ready(server_url(server));

    (void)state;
    server_freeze(server);
    probe_send(probe, QL_CMD_SET, 1, "tok");
    probe_flush(probe);
    probe_advance(probe, PROBE_TIMEOUT_MS);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_SUSPECT);
    assert_int_equal(probe_send(probe, QL_CMD_RELEASE, 2, "tok"), QL_V_SUSPECT);
    probe_flush(probe);
    server_thaw(server);
    probe_until_state(probe, QL_NODE_READY);
    probe_expect(probe, 0, 1, QL_V_GRANTED);
    while (ql_node_pending_releases(probe->node) > 0)
        probe_once(probe, 10);
    assert_false(server_has_key(server, "lock"));
    finish(probe, servers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_known_of_a_server),
        cmocka_unit_test(trap_19_a_replica),
        cmocka_unit_test(trap_19_out_of_memory),
        cmocka_unit_test(trap_19_too_few_replicas),
        cmocka_unit_test(a_release_that_is_put_off_is_tried_again),
        cmocka_unit_test(trap_19_misconf),
        cmocka_unit_test(trap_19_a_cluster_node),
        cmocka_unit_test(trap_19_a_script_that_does_not_end),
        cmocka_unit_test(trap_19_a_server_that_loads),
        cmocka_unit_test(trap_19_no_connection_left),
        cmocka_unit_test(trap_19_passwords),
        cmocka_unit_test(a_password_in_the_address),
        cmocka_unit_test(trap_19_a_user_with_few_rights),
        cmocka_unit_test(trap_19_a_user_with_too_few_rights),
        cmocka_unit_test(a_database_of_its_own),
        cmocka_unit_test(all_addresses_of_a_name_are_tried),
        cmocka_unit_test(a_name_without_address),
        cmocka_unit_test(a_server_that_is_killed_and_comes_back),
        cmocka_unit_test(a_server_that_is_frozen_and_thaws),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
