/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trap 19: what servers answer instead of doing what they are asked for. Two
 * of five in such a state are no hindrance, and the report says what is the
 * matter; three of five are a failure with the right name.
 */
#include <stdio.h>
#include <string.h>

#include "live.h"
#include "spoil.h"

#define NAME SPOIL_NAME
#define LONG 3600000

static ql_client *open_client(struct servers *servers)
{
    ql_client_options options = PLAIN_OPTIONS_INIT;

    options.node_timeout_ms = PATIENT_MS;
    options.connect_timeout_ms = PATIENT_MS;
    options.user = SPOIL_USER;
    options.password = SPOIL_PASSWORD;
    return live_client_with(servers_list(servers), &options);
}

/* Five servers with the user, the first `bad` of which can be spoiled. */
static struct servers *start(const struct fault *fault, unsigned bad)
{
    static const char *const user[] = {
        "--user", SPOIL_USER, "on", ">" SPOIL_PASSWORD, "~*", "+@all", NULL};
    struct servers_options options = {.tcp = fault == &fault_clusterdown,
                                      .config = user};

    for (unsigned i = 0; i < bad; i++)
        options.each[i] = fault->config;
    return servers_start_with(5, &options);
}

static void spoil(const struct fault *fault, struct servers *servers,
                  unsigned bad)
{
    for (unsigned i = 0; fault->spoil && i < bad; i++)
        fault->spoil(servers_at(servers, i));
}

static void assert_no_key_on(struct servers *servers, unsigned first)
{
    int64_t end = clock_now_ms() + HANG_MS;

    for (unsigned i = first; i < servers_count(servers); i++)
        while (server_has_key(servers_at(servers, i), NAME)) {
            assert_true(clock_now_ms() < end);
            clock_sleep_ms(5);
        }
}

static void work_in_spite_of(const struct fault *fault, ql_client *client,
                             struct servers *servers, bool notices)
{
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    for (unsigned i = 0; notices && i < 2; i++)
        assert_verdict_soon(client, lock, i,
                            fault->late ? QL_V_HELD : fault->verdict);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    for (unsigned i = 0; fault->late && i < 2; i++)
        assert_verdict_soon(client, lock, i, fault->verdict);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_no_key_on(servers, 2);
    ql_lock_free(lock);
}

static void two_of_five(const struct fault *fault)
{
    struct servers *servers = start(fault, 2);
    ql_client *old = open_client(servers), *fresh;

    /* A fault that is there from the start has nothing to do with it. */
    if (fault->spoil)
        assert_int_equal(ql_client_connect(old), QL_OK);
    spoil(fault, servers, 2);
    work_in_spite_of(fault, old, servers, !fault->keeps_old);
    fresh = open_client(servers);
    assert_int_equal(ql_client_connect(fresh), QL_OK);
    work_in_spite_of(fault, fresh, servers, true);
    ql_client_close(fresh);
    ql_client_close(old);
    servers_stop(servers);
}

static void fail_because_of(const struct fault *fault, ql_client *client,
                            struct servers *servers)
{
    ql_lock *lock = live_lock(client, NAME, LONG);

    assert_result(fault->majority_result, ql_lock_try(lock), lock);
    for (unsigned i = 0; i < 3; i++)
        assert_verdict_soon(client, lock, i, fault->verdict);
    assert_non_null(
        strstr(ql_lock_error(lock), ql_verdict_word(fault->verdict)));
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    assert_no_key_on(servers, 3);
    ql_lock_free(lock);
}

static void three_of_five(const struct fault *fault)
{
    struct servers *servers = start(fault, 3);
    ql_client *client = open_client(servers);
    ql_lock *lock;

    if (!fault->keeps_old && fault->spoil)
        assert_int_equal(ql_client_connect(client), QL_OK);
    spoil(fault, servers, 3);
    fail_because_of(fault, client, servers);
    if (fault->mend) {
        for (unsigned i = 0; i < 3; i++)
            fault->mend(servers_at(servers, i));
        lock = live_lock(client, NAME, LONG);
        assert_result(QL_OK, ql_lock_timed(lock, HANG_MS), lock);
        ql_lock_free(lock);
        assert_keys_soon_by(client, servers, NAME, 0);
    }
    ql_client_close(client);
    servers_stop(servers);
}

#define FAULT(name)                                                            \
    static void trap_19_##name##_on_two_of_five(void **state)                  \
    {                                                                          \
        (void)state;                                                           \
        two_of_five(&fault_##name);                                            \
    }                                                                          \
    static void trap_19_##name##_on_three_of_five(void **state)                \
    {                                                                          \
        (void)state;                                                           \
        three_of_five(&fault_##name);                                          \
    }

FAULT(loading)
FAULT(readonly)
FAULT(misconf)
FAULT(oom)
FAULT(busy)
FAULT(noperm)
FAULT(noauth)
FAULT(wrongpass)
FAULT(wrongtype)
FAULT(clusterdown)
FAULT(noreplicas)
FAULT(maxclients)

#define BOTH(name)                                                             \
    cmocka_unit_test(trap_19_##name##_on_two_of_five),                         \
        cmocka_unit_test(trap_19_##name##_on_three_of_five)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(loading),   BOTH(readonly),    BOTH(misconf),    BOTH(oom),
        BOTH(busy),      BOTH(noperm),      BOTH(noauth),     BOTH(wrongpass),
        BOTH(wrongtype), BOTH(clusterdown), BOTH(noreplicas), BOTH(maxclients),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
