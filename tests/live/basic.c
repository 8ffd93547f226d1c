/* SPDX-License-Identifier: BSD-2-Clause */
/* A lock is acquired, held, extended, looked at and released. */
#include <stdio.h>
#include <string.h>

#include "live.h"

#define NAME "the name"

static void a_lock_is_acquired_and_released(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 0);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_keys_soon(live->servers, NAME, servers_count(live->servers));
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

static void acquire_try_and_timed_all_get_a_free_lock(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 0);

    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_result(QL_OK, ql_lock_timed(lock, 0), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_result(QL_OK, ql_lock_timed(lock, QL_WAIT_FOREVER), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
}

static void the_value_is_the_token_and_the_label(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 7000);
    char value[80];

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_int_equal(strlen(ql_lock_token(lock)), 40);
    assert_int_equal(strspn(ql_lock_token(lock), "0123456789abcdef"), 40);
    snprintf(value, sizeof(value), "%s " LABEL, ql_lock_token(lock));
    assert_keys_soon(live->servers, NAME, 3);
    for (unsigned i = 0; i < 3; i++) {
        struct server *server = servers_at(live->servers, i);
        struct server_reply reply = server_command(server, "GET", NAME, NULL);

        assert_string_equal(reply.text, value);
        reply = server_command(server, "PTTL", NAME, NULL);
        assert_in_range(reply.integer, 1, 7000);
    }
    ql_lock_free(lock);
}

static void each_attempt_has_a_token_of_its_own(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 0);
    char first[QL_TOKEN_MAX + 1];

    assert_string_equal(ql_lock_token(lock), "");
    assert_result(QL_OK, ql_lock_try(lock), lock);
    strcpy(first, ql_lock_token(lock));
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_string_not_equal(ql_lock_token(lock), first);
    ql_lock_free(lock);
}

static void
validity_is_the_ttl_less_the_drift_and_ends_with_the_release(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 60000);

    assert_int_equal(ql_lock_valid_ms(lock), 0);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    /* 60 s less one percent and 2 ms. */
    assert_in_range(ql_lock_valid_ms(lock), 1, 59398);
    assert_true(ql_lock_expires_ms(lock) >= ql_lock_valid_ms(lock));
    assert_int_equal(ql_lock_lost(lock), 0);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    ql_lock_free(lock);
}

static void a_second_handle_is_told_who_holds_it_and_for_how_long(void **state)
{
    struct live *live = *state;
    ql_lock *first = live_lock(live->client, NAME, 60000);
    ql_lock *second = live_lock(live->client, NAME, 60000);
    const ql_node_report *report;

    assert_result(QL_OK, ql_lock_try(first), first);
    assert_keys_soon(live->servers, NAME, servers_count(live->servers));
    assert_result(QL_HELD, ql_lock_try(second), second);
    report = ql_lock_report(second);
    for (unsigned i = 0; i < servers_count(live->servers); i++) {
        assert_verdict(second, i, QL_V_HELD);
        assert_string_equal(report[i].text, LABEL);
        assert_in_range(report[i].remaining_ms, 1, 60000);
        assert_true(report[i].took_us >= 0);
        assert_string_equal(report[i].address,
                            server_url(servers_at(live->servers, i)));
    }
    ql_lock_free(first);
    ql_lock_free(second);
}

static void the_error_is_one_sentence_with_every_node(void **state)
{
    struct live *live = *state;
    ql_lock *first = live_lock(live->client, NAME, 60000);
    ql_lock *second = live_lock(live->client, NAME, 60000);
    const char *error;

    assert_result(QL_OK, ql_lock_try(first), first);
    assert_keys_soon(live->servers, NAME, 3);
    assert_result(QL_HELD, ql_lock_try(second), second);
    error = ql_lock_error(second);
    assert_ptr_equal(strstr(error, "held by another holder; unix:///"), error);
    for (unsigned i = 0; i < 3; i++)
        assert_non_null(
            strstr(error, server_url(servers_at(live->servers, i))));
    assert_non_null(strstr(error, ": held by " LABEL " for another "));
    assert_null(strstr(error, ql_lock_token(first)));
    ql_lock_free(first);
    ql_lock_free(second);
}

static void the_report_of_a_success_names_who_granted_it(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 0);
    unsigned granted;

    assert_result(QL_OK, ql_lock_try(lock), lock);
    granted = count_verdicts(lock, 5, QL_V_GRANTED);
    assert_in_range(granted, 3, 5);
    assert_int_equal(granted + count_verdicts(lock, 5, QL_V_PENDING), 5);
    ql_lock_free(lock);
}

static void before_the_first_operation_nobody_was_asked(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 0);

    assert_int_equal(count_verdicts(lock, 3, QL_V_NONE), 3);
    assert_string_equal(ql_lock_error(lock), "done");
    assert_int_equal(ql_lock_expires_ms(lock), 0);
    ql_lock_free(lock);
}

static void timed_gives_up_when_the_wait_is_over(void **state)
{
    struct live *live = *state;
    ql_lock *first = live_lock(live->client, NAME, 60000);
    ql_lock *second = live_lock(live->client, NAME, 60000);
    int64_t start = clock_now_ms();

    assert_result(QL_OK, ql_lock_try(first), first);
    assert_result(QL_HELD, ql_lock_timed(second, 500), second);
    assert_true(clock_now_ms() - start >= 500);
    ql_lock_free(first);
    ql_lock_free(second);
}

static void a_waiter_gets_the_lock_when_the_holders_ttl_has_ended(void **state)
{
    struct live *live = *state;
    ql_lock *first = live_lock(live->client, NAME, 300);
    ql_lock *second = live_lock(live->client, NAME, 60000);

    assert_result(QL_OK, ql_lock_acquire(first), first);
    ql_lock_leave(first);
    assert_result(QL_OK, ql_lock_timed(second, HANG_MS), second);
    assert_result(QL_OK, ql_lock_release(second), second);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(second);
}

static uint32_t count_retries(unsigned attempt, void *arg)
{
    unsigned *last = arg;

    assert_int_equal(attempt, *last + 1);
    *last = attempt;
    return 0; /* trap 14: a delay of nothing is no busy loop */
}

static void trap_14_a_retry_delay_of_nothing_and_a_limit_of_tries(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *first = live_lock(live->client, NAME, 60000), *second;
    unsigned attempts = 1;

    options.tries = 7;
    options.retry = count_retries;
    options.retry_arg = &attempts;
    second = live_lock_with(live->client, NAME, &options);
    assert_result(QL_OK, ql_lock_try(first), first);
    assert_result(QL_HELD, ql_lock_acquire(second), second);
    assert_int_equal(attempts, 7);
    ql_lock_free(first);
    ql_lock_free(second);
}

static void a_handle_can_be_used_again_and_again(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 0);

    for (int i = 0; i < 20; i++) {
        assert_result(QL_OK, ql_lock_try(lock), lock);
        assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
        assert_result(QL_OK, ql_lock_release(lock), lock);
    }
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

static void what_makes_no_sense_now_is_refused(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 0);

    assert_result(QL_E_STATE, ql_lock_release(lock), lock);
    assert_result(QL_E_STATE, ql_lock_extend(lock, 0), lock);
    assert_result(QL_E_STATE, ql_lock_verify(lock), lock);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_E_STATE, ql_lock_try(lock), lock);
    assert_result(QL_E_STATE, ql_lock_adopt(lock, "a"), lock);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_result(QL_E_STATE, ql_lock_release(lock), lock);
    ql_lock_cancel(lock);
    ql_lock_free(lock);
}

static void extend_lets_the_keys_last_so_long_from_now(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 60000);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_extend(lock, 3600000), lock);
    assert_in_range(ql_lock_valid_ms(lock), 3000000, 3600000);
    for (unsigned i = 0; i < servers_count(live->servers); i++) {
        struct server_reply reply;

        /* A verify comes behind the extension on every connection. */
        assert_result(QL_OK, ql_lock_verify(lock), lock);
        do
            reply = server_command(servers_at(live->servers, i), "PTTL", NAME,
                                   NULL);
        while (reply.integer < 3000000);
        assert_in_range(reply.integer, 3000000, 3600000);
    }
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(lock);
}

static void extend_by_less_shortens_the_lock(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 3600000);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_extend(lock, 30000), lock);
    assert_in_range(ql_lock_valid_ms(lock), 1, 30000);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_in_range(ql_lock_valid_ms(lock), 3000000, 3600000);
    ql_lock_free(lock);
}

static void verify_sees_that_the_lock_is_ours(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 60000);
    int64_t before;

    assert_result(QL_OK, ql_lock_try(lock), lock);
    before = ql_lock_valid_ms(lock);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_in_range(ql_lock_valid_ms(lock), 1, before);
    assert_true(count_verdicts(lock, servers_count(live->servers),
                               QL_V_GRANTED) >= ql_client_quorum(live->client));
    ql_lock_free(lock);
}

static void verify_shortens_the_validity_if_the_servers_say_so(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 3600000);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "PEXPIRE", NAME, "60000",
                       NULL);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_in_range(ql_lock_valid_ms(lock), 1, 60000);
    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "PEXPIRE", NAME, "7200000",
                       NULL);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_in_range(ql_lock_valid_ms(lock), 1, 60000);
    ql_lock_free(lock);
}

static void verify_tells_of_a_lock_that_is_gone(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 60000);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    server_command(servers_at(live->servers, 0), "DEL", NAME, NULL);
    server_command(servers_at(live->servers, 2), "DEL", NAME, NULL);
    assert_result(QL_GONE, ql_lock_verify(lock), lock);
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    assert_int_equal(ql_lock_lost(lock), QL_E_LOST);
    assert_result(QL_E_LOST, ql_lock_extend(lock, 0), lock);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

static void inspect_sees_free_held_and_split(void **state)
{
    struct live *live = *state;
    ql_lock *holder = live_lock(live->client, NAME, 60000);
    ql_lock *looker = live_lock(live->client, NAME, 0);

    assert_result(QL_OK, ql_lock_inspect(looker), looker);
    assert_int_equal(count_verdicts(looker, 3, QL_V_MISSING), 3);
    assert_result(QL_OK, ql_lock_try(holder), holder);
    assert_keys_soon(live->servers, NAME, 3);
    assert_result(QL_HELD, ql_lock_inspect(looker), looker);
    assert_int_equal(count_verdicts(looker, 3, QL_V_HELD), 3);
    assert_result(QL_HELD, ql_lock_inspect(holder), holder);
    assert_int_equal(count_verdicts(holder, 3, QL_V_GRANTED), 3);
    assert_int_equal(servers_with_key(live->servers, NAME), 3);
    server_command(servers_at(live->servers, 0), "DEL", NAME, NULL);
    server_command(servers_at(live->servers, 1), "SET", NAME, "other", NULL);
    assert_result(QL_E_SPLIT, ql_lock_inspect(looker), looker);
    assert_string_equal(ql_lock_report(looker)[1].text, "other");
    assert_int_equal(ql_lock_report(looker)[1].remaining_ms, -1);
    ql_lock_free(looker);
    ql_lock_free(holder);
}

static void freeing_a_handle_releases_its_lock(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 3600000);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    ql_lock_free(lock);
    assert_no_key_soon(live->servers, NAME);
}

static void closing_the_client_still_delivers_the_release(void **state)
{
    struct live *live = *state;
    ql_client *client = live_client(servers_list(live->servers), PATIENT_MS);
    ql_lock *lock = live_lock(client, NAME, 3600000);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    ql_lock_free(lock);
    ql_client_close(client);
    assert_no_key_on_any_server(live->servers, NAME);
}

static void null_is_freed_and_closed_without_harm(void **state)
{
    (void)state;
    ql_lock_free(NULL);
    ql_lock_leave(NULL);
    ql_client_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(1, a_lock_is_acquired_and_released),
        ON(2, a_lock_is_acquired_and_released),
        ON(3, a_lock_is_acquired_and_released),
        ON(4, a_lock_is_acquired_and_released),
        ON(5, a_lock_is_acquired_and_released),
        ON(1, acquire_try_and_timed_all_get_a_free_lock),
        ON(3, acquire_try_and_timed_all_get_a_free_lock),
        ON(3, the_value_is_the_token_and_the_label),
        ON(3, each_attempt_has_a_token_of_its_own),
        ON(3, validity_is_the_ttl_less_the_drift_and_ends_with_the_release),
        ON(1, a_second_handle_is_told_who_holds_it_and_for_how_long),
        ON(3, a_second_handle_is_told_who_holds_it_and_for_how_long),
        ON(5, a_second_handle_is_told_who_holds_it_and_for_how_long),
        ON(3, the_error_is_one_sentence_with_every_node),
        ON(5, the_report_of_a_success_names_who_granted_it),
        ON(3, before_the_first_operation_nobody_was_asked),
        ON(3, timed_gives_up_when_the_wait_is_over),
        ON(1, a_waiter_gets_the_lock_when_the_holders_ttl_has_ended),
        ON(3, a_waiter_gets_the_lock_when_the_holders_ttl_has_ended),
        ON(3, trap_14_a_retry_delay_of_nothing_and_a_limit_of_tries),
        ON(3, a_handle_can_be_used_again_and_again),
        ON(3, what_makes_no_sense_now_is_refused),
        ON(1, extend_lets_the_keys_last_so_long_from_now),
        ON(5, extend_lets_the_keys_last_so_long_from_now),
        ON(3, extend_by_less_shortens_the_lock),
        ON(1, verify_sees_that_the_lock_is_ours),
        ON(5, verify_sees_that_the_lock_is_ours),
        ON(3, verify_shortens_the_validity_if_the_servers_say_so),
        ON(3, verify_tells_of_a_lock_that_is_gone),
        ON(3, inspect_sees_free_held_and_split),
        ON(3, freeing_a_handle_releases_its_lock),
        ON(3, closing_the_client_still_delivers_the_release),
        cmocka_unit_test(null_is_freed_and_closed_without_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
