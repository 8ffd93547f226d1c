/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the live tests share: real servers with a client of the library on
 * them, and the questions that every test asks.
 *
 *     static void it_locks(void **state)
 *     {
 *         struct live *live = *state;
 *         ql_lock *lock = live_lock(live->client, "name", 0);
 *
 *         assert_result(QL_OK, ql_lock_try(lock), lock);
 *         ql_lock_free(lock);
 *     }
 *     ... ON(3, it_locks) ...
 */
#ifndef TESTS_LIB_LIVE_H
#define TESTS_LIB_LIVE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"
#include "quorlock/quorlock.h"
#include "servers.h"

/* Node timeouts: one that no slow machine reaches, for tests in which every
 * node answers; and one that tests with silent nodes can wait for. */
#define PATIENT_MS 10000
#define BRIEF_MS   800

#define LABEL "tester"

/* Most tests are about Redlock as its page has it; group.h has the others. */
#define PLAIN_OPTIONS_INIT                                                     \
    {                                                                          \
        .size = sizeof(ql_client_options), .level = QL_LEVEL_PLAIN             \
    }

struct live {
    struct servers *servers;
    /* A patient one, with the label above. It is connected to every node: the
     * first lock of a client need not wait for the last one. */
    ql_client *client;
    enum ql_level level; /* of that client */
};

/* A test on so many servers of its own: 1, 2, 3, 4 or 5. */
#define ON(n, test)                                                            \
    {                                                                          \
#test " (" #n ")", test, live_setup_##n, live_teardown, NULL           \
    }

int live_setup_1(void **state);
int live_setup_2(void **state);
int live_setup_3(void **state);
int live_setup_4(void **state);
int live_setup_5(void **state);
int live_teardown(void **state);

/* Plain clients and locks with the defaults, except for what is said. */
ql_client *live_client(const char *servers, uint32_t node_timeout_ms);
ql_client *live_client_with(const char *servers,
                            const ql_client_options *options);
ql_lock *live_lock(ql_client *client, const char *name, uint32_t ttl_ms);
ql_lock *live_lock_with(ql_client *client, const char *name,
                        const ql_lock_options *options);

/* Says which result came instead, and what the nodes have to say about it. */
#define assert_result(expected, result, lock)                                  \
    live_assert_result(expected, result, lock, #result, __FILE__, __LINE__)
void live_assert_result(int expected, int result, ql_lock *lock,
                        const char *what, const char *file, int line);

#define assert_verdict(lock, node, expected)                                   \
    live_assert_verdict(lock, node, expected, __FILE__, __LINE__)
void live_assert_verdict(ql_lock *lock, unsigned node, ql_verdict expected,
                         const char *file, int line);

/* The same, when the answer may come after the decision. */
void assert_verdict_soon(ql_client *client, ql_lock *lock, unsigned node,
                         ql_verdict expected);

/* How many nodes of the lock's report say so. */
unsigned count_verdicts(ql_lock *lock, unsigned nodes, ql_verdict verdict);

/* Waits until so many servers have the key: a majority has decided while the
 * others may still be at it. */
void assert_keys_soon(struct servers *servers, const char *name,
                      unsigned count);

/* The same, and the client may work at it meanwhile: without a thread behind
 * it, it does nothing while nobody calls it. */
void assert_keys_soon_by(ql_client *client, struct servers *servers,
                         const char *name, unsigned count);

/* Lets the client work until it is connected to the node. */
void assert_node_ready_soon(ql_client *client, unsigned node);

#endif
