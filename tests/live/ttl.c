/* SPDX-License-Identifier: BSD-2-Clause */
/* Times to live at their limits, and options out of range. */
#include <string.h>

#include "live.h"

#define NAME "the name"

static int new_lock(struct live *live, const ql_lock_options *options)
{
    ql_lock *lock = NULL;
    int result = ql_lock_new(&lock, live->client, NAME, options);

    assert_true((result == QL_OK) == (lock != NULL));
    ql_lock_free(lock);
    return result;
}

static void trap_14_one_millisecond_can_never_be_held(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 1);

    for (int i = 0; i < 20; i++) {
        assert_result(QL_E_SPLIT, ql_lock_try(lock), lock);
        assert_int_equal(ql_lock_valid_ms(lock), 0);
        assert_result(QL_E_STATE, ql_lock_release(lock), lock);
    }
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

static void trap_14_two_milliseconds_are_eaten_by_the_drift(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 2);

    assert_result(QL_E_SPLIT, ql_lock_try(lock), lock);
    ql_lock_free(lock);
}

static void trap_14_a_ttl_far_below_the_node_timeout(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 500);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_in_range(ql_lock_valid_ms(lock), 0, 500);
    /* It may be over already on a slow machine. */
    assert_int_not_equal(ql_lock_release(lock), QL_E_STATE);
    ql_lock_free(lock);
}

static void a_day_is_the_longest_ttl(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, QL_TTL_MAX_MS);
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_in_range(ql_lock_valid_ms(lock), 80000000, QL_TTL_MAX_MS);
    assert_result(QL_E_INVALID, ql_lock_extend(lock, QL_TTL_MAX_MS + 1), lock);
    assert_result(QL_OK, ql_lock_extend(lock, QL_TTL_MAX_MS), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
    options.ttl_ms = QL_TTL_MAX_MS + 1;
    assert_int_equal(new_lock(live, &options), QL_E_INVALID);
    options.ttl_ms = UINT32_MAX;
    assert_int_equal(new_lock(live, &options), QL_E_INVALID);
}

static void the_default_ttl_is_ten_seconds(void **state)
{
    struct live *live = *state;
    ql_lock *lock = NULL;

    assert_int_equal(ql_lock_new(&lock, live->client, NAME, NULL), QL_OK);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_in_range(ql_lock_valid_ms(lock), 1, 9898);
    assert_true(ql_lock_expires_ms(lock) > 9898 / 2);
    ql_lock_free(lock);
}

static void a_lock_ends_by_our_own_clock(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 400);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    clock_sleep_ms(420);
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    assert_int_equal(ql_lock_lost(lock), QL_E_LOST);
    assert_result(QL_E_LOST, ql_lock_extend(lock, 0), lock);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    ql_lock_free(lock);
}

static void trap_11_extend_after_expiry_never_creates_the_lock(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 400);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    clock_sleep_ms(420);
    assert_result(QL_E_LOST, ql_lock_extend(lock, 60000), lock);
    assert_no_key_soon(live->servers, NAME);
    assert_result(QL_E_LOST, ql_lock_extend(lock, 60000), lock);
    assert_no_key_on_any_server(live->servers, NAME);
    ql_lock_free(lock);
}

static void the_hold_cap_limits_extension(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock;

    options.ttl_ms = 20000;
    options.max_hold_ms = 30000;
    lock = live_lock_with(live->client, NAME, &options);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_extend(lock, 60000), lock);
    assert_in_range(ql_lock_valid_ms(lock), 1, 30000);
    assert_result(QL_E_CAP, ql_lock_extend(lock, 60000), lock);
    /* That was no loss: it lasts as long as it did. */
    assert_int_equal(ql_lock_lost(lock), 0);
    assert_in_range(ql_lock_valid_ms(lock), 1, 30000);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
}

static void options_out_of_range_are_refused(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock = live_lock(live->client, NAME, 0);

    options.wait_ms = -2;
    assert_int_equal(new_lock(live, &options), QL_E_INVALID);
    options = (ql_lock_options)QL_LOCK_OPTIONS_INIT;
    options.loss_notice_ms = 5001; /* more than half of the ttl */
    assert_int_equal(new_lock(live, &options), QL_E_INVALID);
    options = (ql_lock_options)QL_LOCK_OPTIONS_INIT;
    options.size = 0;
    assert_int_equal(new_lock(live, &options), QL_E_INVALID);
    assert_result(QL_E_INVALID, ql_lock_timed(lock, -2), lock);
    assert_result(QL_E_INVALID, ql_lock_adopt(lock, ""), lock);
    assert_result(QL_E_INVALID, ql_lock_adopt(lock, "a b"), lock);
    assert_result(QL_E_INVALID, ql_lock_adopt(lock, NULL), lock);
    assert_result(QL_E_INVALID, ql_lock_acquire_start(lock, NULL, NULL), lock);
    ql_lock_free(lock);
}

static void clients_out_of_range_are_refused(void **state)
{
    struct live *live = *state;
    const char *list = servers_list(live->servers);
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_client *client = NULL;

    options.node_timeout_ms = 60001;
    assert_int_equal(ql_client_open(&client, list, &options), QL_E_INVALID);
    options = (ql_client_options)PLAIN_OPTIONS_INIT;
    options.drift_ppm = 500001;
    assert_int_equal(ql_client_open(&client, list, &options), QL_E_INVALID);
    options = (ql_client_options)PLAIN_OPTIONS_INIT;
    options.size = 3;
    assert_int_equal(ql_client_open(&client, list, &options), QL_E_INVALID);
    assert_int_equal(ql_client_open(&client, NULL, NULL), QL_E_INVALID);
    assert_int_equal(ql_client_open(&client, "", NULL), QL_E_INVALID);
    assert_null(client);
}

static void options_of_an_older_header_are_understood(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock;

    /* A program that was built when there were no more fields than these; what
     * lies behind them is not ours to read. */
    memset(&options, 0xff, sizeof(options));
    options.size = offsetof(ql_lock_options, wait_ms);
    options.name_len = 0;
    options.ttl_ms = 30000;
    lock = live_lock_with(live->client, NAME, &options);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_in_range(ql_lock_valid_ms(lock), 10000, 30000);
    ql_lock_free(lock);
}

static void a_large_drift_leaves_little_validity(void **state)
{
    struct live *live = *state;
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock;

    options.node_timeout_ms = PATIENT_MS;
    options.drift_ppm = 500000;
    client = live_client_with(servers_list(live->servers), &options);
    lock = live_lock(client, NAME, 600000);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_in_range(ql_lock_valid_ms(lock), 1, 299998);
    ql_lock_free(lock);
    ql_client_close(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(3, trap_14_one_millisecond_can_never_be_held),
        ON(3, trap_14_two_milliseconds_are_eaten_by_the_drift),
        ON(3, trap_14_a_ttl_far_below_the_node_timeout),
        ON(3, a_day_is_the_longest_ttl),
        ON(3, the_default_ttl_is_ten_seconds),
        ON(3, a_lock_ends_by_our_own_clock),
        ON(3, trap_11_extend_after_expiry_never_creates_the_lock),
        ON(3, the_hold_cap_limits_extension),
        ON(1, options_out_of_range_are_refused),
        ON(1, clients_out_of_range_are_refused),
        ON(3, options_of_an_older_header_are_understood),
        ON(1, a_large_drift_leaves_little_validity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
