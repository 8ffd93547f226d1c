/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every allocation of a node fails once, and from each one on: nothing leaks,
 * every command that was taken is answered once, and the node is as good as
 * before when there is memory again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "probe.h"
#include "servers.h"

/* More than the queue's first size, so that it has to grow. */
#define PAIRS 40

static unsigned send_pairs(struct probe *probe)
{
    unsigned taken = 0;
    char token[24];

    for (unsigned i = 0; i < PAIRS; i++) {
        snprintf(token, sizeof token, "token-%u", i);
        taken += probe_send(probe, QL_CMD_SET, i, token) == QL_V_NONE;
        taken += probe_send(probe, QL_CMD_RELEASE, i, token) == QL_V_NONE;
    }
    probe_flush(probe);
    return taken;
}

/* False: it could not even be made. */
static bool live_once(const char *url)
{
    struct probe *probe = probe_try(url, "default", "secret");
    unsigned taken;

    if (!probe)
        return false;
    ql_node_connect(probe->node, probe->now);
    taken = send_pairs(probe);
    while (ql_node_state(probe->node) == QL_NODE_CONNECTING ||
           ql_node_state(probe->node) == QL_NODE_GREETING)
        probe_once(probe, 10);
    taken += send_pairs(probe);
    if (ql_node_state(probe->node) == QL_NODE_DOWN)
        assert_int_equal(probe->count, taken);
    else
        probe_until_answers(probe, taken);
    /* There is memory again. */
    probe_mem_good = PROBE_MEM_ALWAYS_GOOD;
    probe_reconnect(probe);
    probe->count = 0;
    taken = send_pairs(probe);
    assert_int_equal(taken, 2 * PAIRS);
    probe_until_answers(probe, taken);
    probe_free(probe);
    return true;
}

/* A node allocates fewer times than this: itself, two strings, a place, and
 * its queues as they grow. */
#define ALLOCATIONS 16

static void fail_each(const char *url, bool all)
{
    unsigned lives = 0;

    probe_mem_all_fail = all;
    for (unsigned good = 0; good < ALLOCATIONS; good++) {
        probe_mem_good = good;
        lives += live_once(url);
        probe_mem_good = PROBE_MEM_ALWAYS_GOOD;
        assert_int_equal(probe_mem_used, 0);
    }
    /* The first four are those without which there is no node. */
    assert_int_equal(lives, ALLOCATIONS - 4);
}

static void every_allocation_may_fail(void **state)
{
    struct servers_options options = {.password = "secret"};
    struct servers *servers = servers_start_with(1, &options);

    (void)state;
    fail_each(server_url(servers_at(servers, 0)), false);
    fail_each(server_url(servers_at(servers, 0)), true);
    servers_stop(servers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
