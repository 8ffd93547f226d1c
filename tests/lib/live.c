/* SPDX-License-Identifier: BSD-2-Clause */
/* See live.h. */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>

static int setup(void **state, unsigned count)
{
    struct live *live = calloc(1, sizeof(*live));

    if (!live)
        return -1;
    live->level = QL_LEVEL_PLAIN;
    live->servers = servers_start(count);
    live->client = live_client(servers_list(live->servers), PATIENT_MS);
    assert_int_equal(ql_client_connect(live->client), QL_OK);
    *state = live;
    return 0;
}

int live_setup_1(void **state)
{
    return setup(state, 1);
}

int live_setup_2(void **state)
{
    return setup(state, 2);
}

int live_setup_3(void **state)
{
    return setup(state, 3);
}

int live_setup_4(void **state)
{
    return setup(state, 4);
}

int live_setup_5(void **state)
{
    return setup(state, 5);
}

int live_teardown(void **state)
{
    struct live *live = *state;

    ql_client_close(live->client);
    servers_stop(live->servers);
    free(live);
    *state = NULL;
    return 0;
}

ql_client *live_client(const char *servers, uint32_t node_timeout_ms)
{
    ql_client_options options = PLAIN_OPTIONS_INIT;

    options.node_timeout_ms = node_timeout_ms;
    options.connect_timeout_ms = PATIENT_MS;
    options.label = LABEL;
    return live_client_with(servers, &options);
}

ql_client *live_client_with(const char *servers,
                            const ql_client_options *options)
{
    ql_client *client = NULL;
    int result = ql_client_open(&client, servers, options);

    if (result != QL_OK)
        fail_msg("ql_client_open: %s", ql_result_name(result));
    return client;
}

ql_lock *live_lock(ql_client *client, const char *name, uint32_t ttl_ms)
{
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;

    options.ttl_ms = ttl_ms;
    return live_lock_with(client, name, &options);
}

ql_lock *live_lock_with(ql_client *client, const char *name,
                        const ql_lock_options *options)
{
    ql_lock *lock = NULL;
    int result = ql_lock_new(&lock, client, name, options);

    if (result != QL_OK)
        fail_msg("ql_lock_new: %s", ql_result_name(result));
    return lock;
}

void live_assert_result(int expected, int result, ql_lock *lock,
                        const char *what, const char *file, int line)
{
    if (result == expected)
        return;
    print_error("%s gave %s, expected %s: %s\n", what, ql_result_name(result),
                ql_result_name(expected), lock ? ql_lock_error(lock) : "");
    _fail(file, line);
}

void live_assert_verdict(ql_lock *lock, unsigned node, ql_verdict expected,
                         const char *file, int line)
{
    const ql_node_report *report = ql_lock_report(lock);

    if (report && report[node].verdict == expected)
        return;
    print_error("node %u says %s, expected %s: %s\n", node,
                report ? ql_verdict_word(report[node].verdict) : "nothing",
                ql_verdict_word(expected), ql_lock_error(lock));
    _fail(file, line);
}

void assert_verdict_soon(ql_client *client, ql_lock *lock, unsigned node,
                         ql_verdict expected)
{
    int64_t end = clock_now_ms() + HANG_MS;

    while (ql_lock_report(lock)[node].verdict != expected &&
           clock_now_ms() < end) {
        (void)ql_client_process(client);
        clock_sleep_ms(2);
    }
    assert_verdict(lock, node, expected);
}

unsigned count_verdicts(ql_lock *lock, unsigned nodes, ql_verdict verdict)
{
    const ql_node_report *report = ql_lock_report(lock);
    unsigned count = 0;

    assert_non_null(report);
    for (unsigned i = 0; i < nodes; i++)
        count += report[i].verdict == verdict;
    return count;
}

void assert_keys_soon_by(ql_client *client, struct servers *servers,
                         const char *name, unsigned count)
{
    int64_t end = clock_now_ms() + HANG_MS;

    while (servers_with_key(servers, name) != count) {
        if (client)
            (void)ql_client_process(client);
        if (clock_now_ms() > end)
            fail_msg("%s is on %u servers, expected %u", name,
                     servers_with_key(servers, name), count);
        clock_sleep_ms(5);
    }
}

void assert_keys_soon(struct servers *servers, const char *name, unsigned count)
{
    assert_keys_soon_by(NULL, servers, name, count);
}

void assert_node_ready_soon(ql_client *client, unsigned node)
{
    int64_t end = clock_now_ms() + HANG_MS;
    ql_node_info info;

    for (;;) {
        (void)ql_client_process(client);
        assert_int_equal(ql_client_node(client, node, &info), QL_OK);
        if (info.ready)
            return;
        if (clock_now_ms() > end)
            fail_msg("node %u does not come back: %s", node, info.text);
        clock_sleep_ms(5);
    }
}
