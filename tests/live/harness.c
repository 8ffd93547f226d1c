/* SPDX-License-Identifier: BSD-2-Clause */
/* The servers that the live tests stand on: they start, die, freeze and come
 * back as the tests believe, and leave nothing behind. */
#include "servers.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"

static void a_key_is_on_the_servers_that_were_sent_it(void **state)
{
    struct servers *servers = *state;
    struct server_reply reply;

    assert_int_equal(servers_count(servers), 3);
    reply = server_command(servers_at(servers, 1), "SET", "a", "b", NULL);
    assert_int_equal(reply.kind, SERVER_STRING);
    assert_string_equal(reply.text, "OK");
    assert_int_equal(servers_with_key(servers, "a"), 1);
    reply = server_command(servers_at(servers, 0), "GET", "a", NULL);
    assert_int_equal(reply.kind, SERVER_NIL);
    reply = server_command(servers_at(servers, 1), "DEL", "a", NULL);
    assert_int_equal(reply.integer, 1);
    assert_no_key_on_any_server(servers, "a");
    reply = server_command(servers_at(servers, 1), "NOSUCH", NULL);
    assert_int_equal(reply.kind, SERVER_ERROR);
}

static void a_killed_server_comes_back_empty_at_its_address(void **state)
{
    struct servers *servers = *state;
    struct server *server = servers_at(servers, 2);

    server_command(server, "SET", "a", "b", NULL);
    server_kill(server);
    assert_int_equal(server_pid(server), 0);
    assert_no_key_on_any_server(servers, "a");
    server_restart(server);
    assert_true(server_pid(server) > 0);
    assert_servers_empty(servers);
    server_terminate(server);
    server_restart(server);
}

static void a_frozen_server_keeps_its_keys(void **state)
{
    struct servers *servers = *state;
    struct server *server = servers_at(servers, 0);

    server_command(server, "SET", "a", "b", NULL);
    server_freeze(server);
    server_freeze(server);
    assert_true(server_frozen(server));
    server_thaw(server);
    assert_int_equal(servers_with_key(servers, "a"), 1);
    server_freeze(server);
    server_restart(server);
    assert_false(server_has_key(server, "a"));
}

static void ports_and_passwords_work(void **state)
{
    const char *const config[] = {"--maxmemory", "2mb", NULL};
    const char *const first[] = {"--min-replicas-to-write", "1", NULL};
    struct servers_options options = {.tcp = true,
                                      .password = "pass word",
                                      .config = config,
                                      .each = {first}};
    struct servers *servers = servers_start_with(2, &options);

    (void)state;
    assert_true(server_port(servers_at(servers, 0)) > 0);
    assert_null(server_socket(servers_at(servers, 0)));
    assert_int_equal(
        server_command(servers_at(servers, 0), "SET", "a", "b", NULL).kind,
        SERVER_ERROR);
    assert_int_equal(
        server_command(servers_at(servers, 1), "SET", "a", "b", NULL).kind,
        SERVER_STRING);
    server_restart(servers_at(servers, 1));
    assert_servers_empty(servers);
    servers_stop(servers);
}

static bool is_gone(void *arg)
{
    return access(arg, F_OK) != 0;
}

/* The test program itself dies: no server and no file is left. */
static void nothing_is_left_when_a_test_is_killed(void **state)
{
    char directory[128] = "";
    pid_t server = 0, child;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct servers *servers = servers_start(2);

        server = server_pid(servers_at(servers, 0));
        strncpy(directory, servers_directory(servers), sizeof(directory) - 1);
        if (write(ends[1], &server, sizeof(server)) < 0 ||
            write(ends[1], directory, sizeof(directory)) < 0)
            _exit(1);
        pause();
    }
    assert_int_equal(read(ends[0], &server, sizeof(server)), sizeof(server));
    assert_int_equal(read(ends[0], directory, sizeof(directory)),
                     sizeof(directory));
    assert_int_equal(kill(server, 0), 0);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(clock_wait_until(is_gone, directory, HANG_MS));
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_key_is_on_the_servers_that_were_sent_it, servers_setup_3,
            servers_teardown),
        cmocka_unit_test_setup_teardown(
            a_killed_server_comes_back_empty_at_its_address, servers_setup_3,
            servers_teardown),
        cmocka_unit_test_setup_teardown(a_frozen_server_keeps_its_keys,
                                        servers_setup_1, servers_teardown),
        cmocka_unit_test(ports_and_passwords_work),
        cmocka_unit_test(nothing_is_left_when_a_test_is_killed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
