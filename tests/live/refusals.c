/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that begin to refuse between the acquire and the release. */
#include <stdio.h>
#include <string.h>

#include "live.h"
#include "spoil.h"

#define NAME SPOIL_NAME
#define LONG 3600000

/* Three servers, all with this fault's words. */
static struct servers *start(const struct fault *fault)
{
    struct servers_options options = {.config = fault->config};

    return servers_start_with(3, &options);
}

/* A majority refuses the release, and does it as soon as it can. */
static void release_is_put_off(const struct fault *fault)
{
    struct servers *servers = start(fault);
    ql_client *client = live_client(servers_list(servers), PATIENT_MS);
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_int_equal(ql_client_connect(client), QL_OK);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(servers, NAME, 3);
    fault->spoil(servers_at(servers, 0));
    fault->spoil(servers_at(servers, 1));
    assert_result(QL_E_UNSURE, ql_lock_release(lock), lock);
    assert_verdict(lock, 0, fault->verdict);
    assert_verdict(lock, 1, fault->verdict);
    assert_true(ql_lock_expires_ms(lock) > LONG / 2);
    fault->mend(servers_at(servers, 0));
    fault->mend(servers_at(servers, 1));
    assert_keys_soon_by(client, servers, NAME, 0);
    ql_lock_free(lock);
    ql_client_close(client);
    servers_stop(servers);
}

static void a_busy_majority_releases_later(void **state)
{
    (void)state;
    release_is_put_off(&fault_busy);
}

static void a_majority_without_replicas_releases_later(void **state)
{
    (void)state;
    release_is_put_off(&fault_noreplicas);
}

static void a_majority_that_cannot_save_releases_later(void **state)
{
    (void)state;
    release_is_put_off(&fault_misconf);
}

static void a_majority_of_replicas_releases_later(void **state)
{
    (void)state;
    /* One that was made a replica, and a master again. */
    release_is_put_off(&fault_readonly);
}

static void a_full_majority_still_extends_and_releases(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    fault_oom.spoil(servers_at(live->servers, 0));
    fault_oom.spoil(servers_at(live->servers, 1));
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

static void a_failed_attempt_is_undone_on_the_busy_ones_too(void **state)
{
    struct servers *servers = start(&fault_busy);
    ql_client *client = live_client(servers_list(servers), PATIENT_MS);
    ql_lock *lock = live_lock(client, NAME, LONG);

    (void)state;
    assert_int_equal(ql_client_connect(client), QL_OK);
    fault_busy.spoil(servers_at(servers, 0));
    fault_busy.spoil(servers_at(servers, 1));
    assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    fault_busy.mend(servers_at(servers, 0));
    fault_busy.mend(servers_at(servers, 1));
    assert_keys_soon_by(client, servers, NAME, 0);
    assert_result(QL_OK, ql_lock_timed(lock, HANG_MS), lock);
    ql_lock_free(lock);
    ql_client_close(client);
    assert_no_key_on_any_server(servers, NAME);
    servers_stop(servers);
}

/* --- Rights --------------------------------------------------------------- */

/* Like SPOIL_USER's on every server, less these. */
static ql_client *client_without(struct live *live, const char *rights)
{
    ql_client_options options = PLAIN_OPTIONS_INIT;

    for (unsigned i = 0; i < servers_count(live->servers); i++)
        server_command(servers_at(live->servers, i), "ACL", "SETUSER",
                       SPOIL_USER, "on", ">" SPOIL_PASSWORD, "~*", "+@all",
                       rights, NULL);
    options.node_timeout_ms = PATIENT_MS;
    options.user = SPOIL_USER;
    options.password = SPOIL_PASSWORD;
    return live_client_with(servers_list(live->servers), &options);
}

static void trap_19_without_the_right_to_load_scripts(void **state)
{
    struct live *live = *state;
    ql_client *client = client_without(live, "-script");
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_result(QL_E_AUTH, ql_lock_try(lock), lock);
    assert_in_range(count_verdicts(lock, 3, QL_V_NOPERM), 2, 3);
    assert_non_null(strstr(ql_lock_error(lock), "+script|load"));
    assert_int_equal(ql_client_connect(client), QL_E_AUTH);
    assert_servers_empty(live->servers);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void
without_the_right_to_ask_for_information_it_still_works(void **state)
{
    struct live *live = *state;
    ql_client *client = client_without(live, "-info");
    ql_lock *lock = live_lock(client, NAME, LONG);
    ql_node_info info;

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_int_equal(ql_client_node(client, 0, &info), QL_OK);
    assert_string_equal(info.run_id, "");
    ql_lock_free(lock);
    ql_client_close(client);
}

static void trap_19_keys_outside_of_the_users_pattern(void **state)
{
    struct live *live = *state;
    ql_client *client = client_without(live, "resetkeys");
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_result(QL_E_AUTH, ql_lock_try(lock), lock);
    assert_in_range(count_verdicts(lock, 3, QL_V_NOPERM), 2, 3);
    assert_servers_empty(live->servers);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void rights_taken_away_from_a_holder(void **state)
{
    struct live *live = *state;
    ql_client *client = client_without(live, "-dump");
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_int_equal(ql_client_connect(client), QL_OK);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    for (unsigned i = 0; i < 2; i++)
        server_command(servers_at(live->servers, i), "ACL", "SETUSER",
                       SPOIL_USER, "-evalsha", NULL);
    assert_result(QL_E_AUTH, ql_lock_extend(lock, 0), lock);
    assert_int_equal(ql_lock_lost(lock), 0);
    assert_result(QL_E_UNSURE, ql_lock_release(lock), lock);
    assert_verdict(lock, 0, QL_V_NOPERM);
    ql_lock_free(lock);
    ql_client_close(client);
}

/* --- A cluster ------------------------------------------------------------ */

/* Two members that know each other; the second has all the slots. */
static void make_cluster(struct servers *servers)
{
    struct server *first = servers_at(servers, 0);
    struct server *second = servers_at(servers, 1);
    int64_t end = clock_now_ms() + HANG_MS;
    struct server_reply reply;
    char port[8];

    server_command(second, "CLUSTER", "ADDSLOTSRANGE", "0", "16383", NULL);
    snprintf(port, sizeof(port), "%u", server_port(second));
    server_command(first, "CLUSTER", "MEET", "127.0.0.1", port, NULL);
    do {
        assert_true(clock_now_ms() < end);
        clock_sleep_ms(20);
        reply = server_command(first, "GET", "a", NULL);
    } while (strncmp(reply.text, "MOVED", 5) != 0);
    do {
        assert_true(clock_now_ms() < end);
        clock_sleep_ms(20);
        reply = server_command(second, "GET", "a", NULL);
    } while (reply.kind != SERVER_NIL);
}

static void trap_19_a_cluster_sends_us_elsewhere(void **state)
{
    static const char *const config[] = {"--cluster-enabled", "yes", NULL};
    struct servers_options options = {.tcp = true, .each = {config, config}};
    struct servers *servers = servers_start_with(3, &options);
    ql_client *client;
    ql_lock *lock;

    (void)state;
    make_cluster(servers);
    client = live_client(servers_list(servers), PATIENT_MS);
    lock = live_lock(client, NAME, LONG);
    assert_int_equal(ql_client_connect(client), QL_OK);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_verdict_soon(client, lock, 0, QL_V_MOVED);
    assert_ptr_equal(strstr(ql_lock_report(lock)[0].text, "MOVED"),
                     ql_lock_report(lock)[0].text);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    server_kill(servers_at(servers, 2));
    assert_int_not_equal(ql_lock_try(lock), QL_OK);
    ql_lock_free(lock);
    ql_client_close(client);
    servers_stop(servers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_busy_majority_releases_later),
        cmocka_unit_test(a_majority_without_replicas_releases_later),
        cmocka_unit_test(a_majority_that_cannot_save_releases_later),
        cmocka_unit_test(a_majority_of_replicas_releases_later),
        ON(3, a_full_majority_still_extends_and_releases),
        cmocka_unit_test(a_failed_attempt_is_undone_on_the_busy_ones_too),
        ON(3, trap_19_without_the_right_to_load_scripts),
        ON(3, without_the_right_to_ask_for_information_it_still_works),
        ON(3, trap_19_keys_outside_of_the_users_pattern),
        ON(3, rights_taken_away_from_a_holder),
        cmocka_unit_test(trap_19_a_cluster_sends_us_elsewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
