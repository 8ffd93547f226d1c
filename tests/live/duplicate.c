/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of servers: one server under several names, and what a URL may say. */
#include <stdio.h>
#include <string.h>

#include "live.h"

#define NAME "the name"
#define LIST 512

/* The server answers at its unix socket and at a port of its own. */
static struct servers *start_with_two_names(unsigned count)
{
    static const char *const config[] = {"--unixsocket", "both.sock", "--bind",
                                         "127.0.0.1 ::1", NULL};
    struct servers_options options = {.tcp = true, .config = config};

    return servers_start_with(count, &options);
}

static void other_name(char *out, size_t size, struct servers *servers,
                       unsigned index)
{
    snprintf(out, size, "unix://%s/%u/both.sock", servers_directory(servers),
             index);
}

static void trap_20_one_server_by_two_names_counts_once(void **state)
{
    struct servers *servers = start_with_two_names(2);
    char list[LIST], path[128];
    ql_client *client;
    ql_lock *lock;

    (void)state;
    other_name(path, sizeof(path), servers, 0);
    snprintf(list, sizeof(list), "%s,%s,%s", path,
             server_url(servers_at(servers, 0)),
             server_url(servers_at(servers, 1)));
    client = live_client(list, PATIENT_MS);
    assert_int_equal(ql_client_connect(client), QL_OK);
    lock = live_lock(client, NAME, 0);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_verdict(lock, 1, QL_V_DUPLICATE);
    assert_non_null(strstr(ql_lock_report(lock)[1].text, path));
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    /* Its death is the death of two of the three. */
    server_kill(servers_at(servers, 0));
    assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    ql_lock_free(lock);
    ql_client_close(client);
    servers_stop(servers);
}

static void trap_20_three_names_of_one_server_are_no_majority(void **state)
{
    struct servers *servers = start_with_two_names(1);
    ql_node_info info;
    char list[LIST], path[128];
    ql_client *client;
    ql_lock *lock;

    (void)state;
    other_name(path, sizeof(path), servers, 0);
    snprintf(list, sizeof(list), "%s %s [::1]:%u", path,
             server_url(servers_at(servers, 0)),
             server_port(servers_at(servers, 0)));
    client = live_client(list, PATIENT_MS);
    lock = live_lock(client, NAME, 0);
    assert_result(QL_E_CONFIG, ql_lock_try(lock), lock);
    assert_result(QL_E_CONFIG, ql_lock_acquire(lock), lock);
    assert_int_equal(ql_client_connect(client), QL_E_CONFIG);
    assert_int_equal(ql_client_node(client, 2, &info), QL_OK);
    assert_false(info.ready);
    assert_int_equal(info.verdict, QL_V_DUPLICATE);
    assert_non_null(strstr(ql_lock_error(lock), "the same server as"));
    ql_lock_free(lock);
    ql_client_close(client);
    assert_servers_empty(servers);
    servers_stop(servers);
}

static void
a_server_that_has_become_another_is_no_duplicate_any_more(void **state)
{
    struct servers *servers = start_with_two_names(2);
    char list[LIST], path[128];
    ql_client *client;
    ql_lock *lock;

    (void)state;
    other_name(path, sizeof(path), servers, 0);
    snprintf(list, sizeof(list), "%s,%s", path,
             server_url(servers_at(servers, 1)));
    client = live_client(list, PATIENT_MS);
    lock = live_lock(client, NAME, 0);
    for (int i = 0; i < 3; i++) {
        assert_result(QL_OK, ql_lock_timed(lock, HANG_MS), lock);
        assert_result(QL_OK, ql_lock_release(lock), lock);
        server_restart(servers_at(servers, i % 2));
    }
    ql_lock_free(lock);
    ql_client_close(client);
    servers_stop(servers);
}

static void one_url_twice_is_refused_in_words(void **state)
{
    ql_client *client = NULL;
    char error[200];

    (void)state;
    assert_int_equal(
        ql_servers_check("db1:7000,db2,db1:7000", error, sizeof(error)),
        QL_E_INVALID);
    assert_non_null(strstr(error, "db1:7000 is listed twice"));
    assert_int_equal(
        ql_servers_check("unix:///a,/b unix:///a", error, sizeof(error)),
        QL_E_INVALID);
    assert_int_equal(ql_client_open(&client, "h,h", NULL), QL_E_INVALID);
    assert_null(client);
}

static void lists_are_checked_without_a_client(void **state)
{
    char error[200], many[1024] = "";

    (void)state;
    assert_int_equal(ql_servers_check("a,b,c", error, sizeof(error)), 3);
    assert_string_equal(error, "");
    assert_int_equal(ql_servers_check(" a ,, b\n c ", error, sizeof(error)), 3);
    assert_int_equal(ql_servers_check("", error, sizeof(error)), QL_E_INVALID);
    assert_string_equal(error, "no server is listed");
    assert_int_equal(ql_servers_check(NULL, error, sizeof(error)),
                     QL_E_INVALID);
    assert_int_equal(ql_servers_check("a:0", error, sizeof(error)),
                     QL_E_INVALID);
    assert_true(error[0]);
    for (int i = 0; i <= QL_NODES_MAX; i++)
        sprintf(many + strlen(many), "host-%d ", i);
    assert_int_equal(ql_servers_check(many, error, sizeof(error)),
                     QL_E_INVALID);
    assert_non_null(strstr(error, "more than 32"));
    assert_int_equal(ql_servers_check("a:0", NULL, 0), QL_E_INVALID);
}

static void no_password_is_in_an_error(void **state)
{
    static const char *const bad[] = {
        "redis://user:secret@host:99999", "redis://:secret@host:x",
        "redis://:secret@", "redis://:sec%zzret@host",
        "redis://:secret@host/notadb"};
    char error[200];

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(ql_servers_check(bad[i], error, sizeof(error)),
                         QL_E_INVALID);
        assert_null(strstr(error, "secret"));
        assert_null(strstr(error, "sec%"));
        assert_true(error[0]);
    }
}

/* --- What a URL may say --------------------------------------------------- */

/* Locks through these URLs alone. */
static void assert_locks(const char *list)
{
    ql_client *client = live_client(list, PATIENT_MS);
    ql_lock *lock = live_lock(client, NAME, 0);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void every_form_of_an_address(void **state)
{
    struct servers *servers = start_with_two_names(1);
    unsigned port = server_port(servers_at(servers, 0));
    char list[LIST], path[128];

    (void)state;
    snprintf(list, sizeof(list), "127.0.0.1:%u", port);
    assert_locks(list);
    snprintf(list, sizeof(list), "localhost:%u", port);
    assert_locks(list);
    snprintf(list, sizeof(list), "[::1]:%u", port);
    assert_locks(list);
    snprintf(list, sizeof(list), "redis://[::1]:%u", port);
    assert_locks(list);
    snprintf(list, sizeof(list), "redis://127.0.0.1:%u/", port);
    assert_locks(list);
    other_name(path, sizeof(path), servers, 0);
    assert_locks(path);
    assert_locks(path + strlen("unix://"));
    servers_stop(servers);
}

static void three_servers_on_tcp(void **state)
{
    struct servers_options options = {.tcp = true};
    struct servers *servers = servers_start_with(3, &options);

    (void)state;
    assert_locks(servers_list(servers));
    servers_stop(servers);
}

static void a_database_of_ones_own(void **state)
{
    struct servers *servers = start_with_two_names(1);
    struct server *server = servers_at(servers, 0);
    char list[LIST], path[128];
    ql_client *client;
    ql_lock *lock;

    (void)state;
    other_name(path, sizeof(path), servers, 0);
    snprintf(list, sizeof(list), "%s?db=3", path);
    assert_locks(list);
    snprintf(list, sizeof(list), "redis://%s/3", server_url(server));
    client = live_client(list, PATIENT_MS);
    lock = live_lock(client, NAME, 0);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_false(server_has_key(server, NAME));
    server_command(server, "SELECT", "3", NULL);
    assert_true(server_has_key(server, NAME));
    ql_lock_free(lock);
    ql_client_close(client);
    snprintf(list, sizeof(list), "redis://%s/99", server_url(server));
    client = live_client(list, PATIENT_MS);
    lock = live_lock(client, NAME, 0);
    assert_int_not_equal(ql_lock_try(lock), QL_OK);
    assert_verdict(lock, 0, QL_V_ERROR);
    assert_non_null(strstr(ql_lock_error(lock), "out of range"));
    ql_lock_free(lock);
    ql_client_close(client);
    servers_stop(servers);
}

static void a_host_without_an_address_is_a_node_that_is_down(void **state)
{
    struct servers *servers = start_with_two_names(2);
    char list[LIST];
    ql_client *client;
    ql_lock *lock;

    (void)state;
    snprintf(list, sizeof(list), "nowhere.invalid,%s,%s",
             server_url(servers_at(servers, 0)),
             server_url(servers_at(servers, 1)));
    client = live_client(list, PATIENT_MS);
    lock = live_lock(client, NAME, 0);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_verdict(lock, 0, QL_V_RESOLVE);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
    ql_client_close(client);
    servers_stop(servers);
}

/* --- Users and passwords -------------------------------------------------- */

/* With the URL's own user and password, or with the options'. */
static int try_as(const char *list, const char *user, const char *password,
                  ql_verdict *ret_verdict)
{
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock;
    int result;

    options.node_timeout_ms = PATIENT_MS;
    options.user = user;
    options.password = password;
    client = live_client_with(list, &options);
    lock = live_lock(client, NAME, 0);
    result = ql_lock_try(lock);
    *ret_verdict = ql_lock_report(lock)[0].verdict;
    assert_null(strstr(ql_lock_error(lock), "secret"));
    assert_null(strstr(ql_lock_report(lock)[0].address, "secret"));
    ql_lock_free(lock);
    ql_client_close(client);
    return result;
}

static void passwords_in_urls_and_options(void **state)
{
    struct servers_options options = {.tcp = true, .password = "secret pw:@/%"};
    struct servers *servers = servers_start_with(1, &options);
    const char *url = server_url(servers_at(servers, 0));
    char list[LIST];
    ql_verdict verdict;

    (void)state;
    assert_int_equal(try_as(url, NULL, "secret pw:@/%", &verdict), QL_OK);
    snprintf(list, sizeof(list), "redis://:secret%%20pw%%3a%%40%%2F%%25@%s",
             url);
    assert_int_equal(try_as(list, NULL, NULL, &verdict), QL_OK);
    /* The URL's own comes before the options'. */
    assert_int_equal(try_as(list, NULL, "wrong", &verdict), QL_OK);
    snprintf(list, sizeof(list),
             "redis://default:secret%%20pw%%3a%%40%%2F%%25@%s", url);
    assert_int_equal(try_as(list, NULL, NULL, &verdict), QL_OK);
    snprintf(list, sizeof(list), "redis://:secretwrong@%s", url);
    assert_int_equal(try_as(list, NULL, "secret pw:@/%", &verdict), QL_E_AUTH);
    assert_int_equal(verdict, QL_V_NOAUTH);
    assert_int_equal(try_as(url, NULL, NULL, &verdict), QL_E_AUTH);
    assert_int_equal(verdict, QL_V_NOAUTH);
    servers_stop(servers);
}

static void users_in_urls_and_options(void **state)
{
    struct servers_options options = {.tcp = true};
    struct servers *servers = servers_start_with(1, &options);
    struct server *server = servers_at(servers, 0);
    char list[LIST];
    ql_verdict verdict;

    (void)state;
    server_command(server, "ACL", "SETUSER", "lock%er", "on", ">secret 1", "~*",
                   "+@all", NULL);
    server_command(server, "ACL", "SETUSER", "lock-only", "on", ">secret2",
                   "~the*", "+set", "+evalsha", "+script|load", "+getrange",
                   "+exists", "+pttl", "+del", "+pexpire", NULL);
    assert_int_equal(
        try_as(server_url(server), "lock%er", "secret 1", &verdict), QL_OK);
    snprintf(list, sizeof(list), "redis://lock%%25er:secret%%201@%s",
             server_url(server));
    assert_int_equal(try_as(list, NULL, NULL, &verdict), QL_OK);
    snprintf(list, sizeof(list), "redis://lock-only:secret2@%s",
             server_url(server));
    assert_int_equal(try_as(list, NULL, NULL, &verdict), QL_OK);
    assert_locks(list);
    snprintf(list, sizeof(list), "redis://nobody:secret2@%s",
             server_url(server));
    assert_int_equal(try_as(list, NULL, NULL, &verdict), QL_E_AUTH);
    assert_int_equal(verdict, QL_V_NOAUTH);
    servers_stop(servers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trap_20_one_server_by_two_names_counts_once),
        cmocka_unit_test(trap_20_three_names_of_one_server_are_no_majority),
        cmocka_unit_test(
            a_server_that_has_become_another_is_no_duplicate_any_more),
        cmocka_unit_test(one_url_twice_is_refused_in_words),
        cmocka_unit_test(lists_are_checked_without_a_client),
        cmocka_unit_test(no_password_is_in_an_error),
        cmocka_unit_test(every_form_of_an_address),
        cmocka_unit_test(three_servers_on_tcp),
        cmocka_unit_test(a_database_of_ones_own),
        cmocka_unit_test(a_host_without_an_address_is_a_node_that_is_down),
        cmocka_unit_test(passwords_in_urls_and_options),
        cmocka_unit_test(users_in_urls_and_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
