/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out: each allocation of a scenario fails in turn, alone or with
 * all that follow. Nothing crashes or leaks, and no key is left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group.h"

#define NAME "the name"
#define LONG 3600000

/* An allocator that counts, and fails on command. */
struct ledger {
    unsigned asked;
    unsigned fail_at; /* from 1; 0: never */
    bool for_good;    /* and all that come after it */
    long pieces;      /* given out and not given back */
};

static bool fails(struct ledger *ledger)
{
    ledger->asked++;
    return ledger->fail_at &&
           (ledger->for_good ? ledger->asked >= ledger->fail_at
                             : ledger->asked == ledger->fail_at);
}

static void *take(size_t size, void *arg)
{
    struct ledger *ledger = arg;
    void *memory = fails(ledger) ? NULL : malloc(size);

    ledger->pieces += memory != NULL;
    return memory;
}

static void *change(void *memory, size_t size, void *arg)
{
    struct ledger *ledger = arg;
    void *changed = fails(ledger) ? NULL : realloc(memory, size);

    ledger->pieces += changed && !memory;
    return changed;
}

static void give_back(void *memory, void *arg)
{
    struct ledger *ledger = arg;

    ledger->pieces -= memory != NULL;
    free(memory);
}

/* --- Scenarios ------------------------------------------------------------ */

/* What an operation may say if memory ran out in its middle. */
static void assert_one_of(int result, int expected, ql_lock *lock,
                          const struct ledger *ledger)
{
    if (result == expected)
        return;
    /* A node for which there was no memory is a node that did not vote. */
    if (ledger->fail_at &&
        (result == QL_E_NOMEM || result == QL_E_QUORUM ||
         result == QL_E_SPLIT || result == QL_E_UNSURE || result == QL_GONE))
        return;
    fail_msg("allocation %u of %u failed, and the result is %s: %s",
             ledger->fail_at, ledger->asked, ql_result_name(result),
             ql_lock_error(lock));
}

/* Everything that one can do with two handles on one name. */
static void use_locks(ql_lock *lock, ql_lock *other, struct ledger *ledger)
{
    int result = ql_lock_try(lock);

    assert_one_of(result, QL_OK, lock, ledger);
    assert_non_null(ql_lock_error(lock));
    if (result != QL_OK) {
        assert_int_equal(ql_lock_valid_ms(lock), 0);
        return;
    }
    assert_one_of(ql_lock_try(other), QL_HELD, other, ledger);
    assert_non_null(ql_lock_error(other));
    assert_one_of(ql_lock_extend(lock, 0), QL_OK, lock, ledger);
    assert_one_of(ql_lock_verify(lock), QL_OK, lock, ledger);
    assert_one_of(ql_lock_inspect(other), QL_HELD, other, ledger);
    assert_one_of(ql_lock_release(lock), QL_OK, lock, ledger);
    assert_one_of(ql_lock_try(other), QL_OK, other, ledger);
}

static void run(struct live *live, struct ledger *ledger)
{
    ql_allocator allocator = {take, change, give_back, ledger};
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_lock_options lock_options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock = NULL, *other = NULL;
    ql_client *client = NULL;
    int result;

    options.level = live->level;
    options.allocator = &allocator;
    options.node_timeout_ms = PATIENT_MS;
    options.connect_timeout_ms = PATIENT_MS;
    options.user = "default";
    options.password = "none";
    lock_options.ttl_ms =
        live->level == QL_LEVEL_PLAIN ? LONG : GROUP_MAX_TTL_MS;
    result = ql_client_open(&client, servers_list(live->servers), &options);
    assert_true((result == QL_OK) == (client != NULL));
    if (result != QL_OK) {
        assert_int_equal(result, QL_E_NOMEM);
        return;
    }
    (void)ql_client_connect(client);
    if (ql_lock_new(&lock, client, NAME, &lock_options) == QL_OK &&
        ql_lock_new(&other, client, NAME, &lock_options) == QL_OK)
        use_locks(lock, other, ledger);
    else
        assert_true(ledger->fail_at > 0);
    ql_lock_free(lock);
    ql_lock_free(other);
    ql_client_close(client);
}

static void assert_clean(struct live *live, const struct ledger *ledger)
{
    if (ledger->pieces != 0)
        fail_msg("%ld pieces are left when allocation %u of %u fails",
                 ledger->pieces, ledger->fail_at, ledger->asked);
    if (servers_with_key(live->servers, NAME) != 0)
        print_error("when allocation %u of %u fails%s:\n", ledger->fail_at,
                    ledger->asked, ledger->for_good ? " for good" : "");
    assert_no_key_on_any_server(live->servers, NAME);
}

static unsigned count_allocations(struct live *live)
{
    struct ledger ledger = {0};

    run(live, &ledger);
    assert_clean(live, &ledger);
    assert_true(ledger.asked > 10);
    return ledger.asked;
}

static void set_passwords(struct live *live)
{
    for (unsigned i = 0; i < servers_count(live->servers); i++)
        server_command(servers_at(live->servers, i), "ACL", "SETUSER",
                       "default", "resetpass", ">none", NULL);
}

static void any_one_allocation_may_fail(void **state)
{
    struct live *live = *state;
    unsigned count;

    set_passwords(live);
    count = count_allocations(live);
    for (unsigned i = 1; i <= count; i++) {
        struct ledger ledger = {.fail_at = i};

        run(live, &ledger);
        assert_clean(live, &ledger);
    }
}

static void memory_may_run_out_for_good(void **state)
{
    struct live *live = *state;
    unsigned count;

    set_passwords(live);
    count = count_allocations(live);
    for (unsigned i = 1; i <= count; i++) {
        struct ledger ledger = {.fail_at = i, .for_good = true};

        run(live, &ledger);
        assert_clean(live, &ledger);
    }
}

/* --- Many locks ----------------------------------------------------------- */

static void a_handle_that_cannot_be_made_is_not_made(void **state)
{
    struct live *live = *state;
    struct ledger ledger = {0};
    ql_allocator allocator = {take, change, give_back, &ledger};
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_lock *lock[200] = {NULL}, *none = NULL;
    ql_client *client;

    options.allocator = &allocator;
    options.node_timeout_ms = PATIENT_MS;
    client = live_client_with(servers_list(live->servers), &options);
    for (int i = 0; i < 200; i++) {
        ledger.fail_at = ledger.asked + 1;
        assert_int_equal(ql_lock_new(&none, client, NAME, NULL), QL_E_NOMEM);
        /* The second piece is room for its timer, now and then. */
        ledger.fail_at = ledger.asked + 2;
        if (ql_lock_new(&lock[i], client, NAME, NULL) != QL_OK) {
            assert_null(lock[i]);
            ledger.fail_at = 0;
            assert_int_equal(ql_lock_new(&lock[i], client, NAME, NULL), QL_OK);
        }
    }
    assert_null(none);
    ledger.fail_at = 0;
    assert_result(QL_OK, ql_lock_try(lock[199]), lock[199]);
    for (int i = 0; i < 200; i++)
        ql_lock_free(lock[i]);
    ql_client_close(client);
    assert_clean(live, &ledger);
}

/* The handle is freed, and its releases are unanswered, when the client goes.
 */
static void a_client_closed_over_frozen_nodes_leaks_nothing(void **state)
{
    struct live *live = *state;
    struct ledger ledger = {0};
    ql_allocator allocator = {take, change, give_back, &ledger};
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock;

    options.allocator = &allocator;
    options.node_timeout_ms = 200;
    client = live_client_with(servers_list(live->servers), &options);
    assert_int_equal(ql_client_connect(client), QL_OK);
    lock = live_lock(client, NAME, LONG);
    for (unsigned i = 0; i < 3; i++)
        server_freeze(servers_at(live->servers, i));
    assert_result(QL_E_QUORUM, ql_lock_try(lock), lock);
    ql_lock_free(lock);
    ql_client_close(client);
    for (unsigned i = 0; i < 3; i++)
        server_thaw(servers_at(live->servers, i));
    assert_no_key_soon(live->servers, NAME);
    assert_clean(live, &ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(1, any_one_allocation_may_fail),
        ON(3, any_one_allocation_may_fail),
        ON(1, memory_may_run_out_for_good),
        ON(3, memory_may_run_out_for_good),
        GUARDED_ON(3, any_one_allocation_may_fail),
        GUARDED_ON(3, memory_may_run_out_for_good),
        ON(3, a_handle_that_cannot_be_made_is_not_made),
        ON(3, a_client_closed_over_frozen_nodes_leaks_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
