/* SPDX-License-Identifier: BSD-2-Clause */
/* Trap 16: a holder that is stopped for longer than its lock lasts. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

#define NAME   "the name"
#define TTL_MS 1500

/* Each line is one thing that must be so; its number is what went wrong. */
static int ask_after_the_pause(ql_lock *lock)
{
    if (ql_lock_valid_ms(lock) != 0)
        return 10;
    if (ql_lock_lost(lock) != QL_E_LOST)
        return 11;
    if (ql_lock_extend(lock, 0) != QL_E_LOST)
        return 12;
    if (ql_lock_verify(lock) != QL_GONE)
        return 13;
    if (ql_lock_release(lock) != QL_GONE)
        return 14;
    return 0;
}

static int hold(const char *servers, bool renew, int told, int asks)
{
    ql_client_options client_options = PLAIN_OPTIONS_INIT;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock;
    int wrong;
    char byte = 0;

    client_options.node_timeout_ms = PATIENT_MS;
    options.ttl_ms = TTL_MS;
    options.renew = renew;
    if (ql_client_open(&client, servers, &client_options) != QL_OK ||
        ql_lock_new(&lock, client, NAME, &options) != QL_OK)
        return 1;
    if (ql_lock_acquire(lock) != QL_OK)
        return 2;
    if (write(told, &byte, 1) != 1 || read(asks, &byte, 1) != 1)
        return 3;
    wrong = ask_after_the_pause(lock);
    ql_lock_free(lock);
    ql_client_close(client);
    return wrong;
}

static void pause_a_holder(struct live *live, bool renew)
{
    ql_lock *lock = live_lock(live->client, NAME, 600000);
    int told[2], asks[2], status;
    pid_t child;
    char byte = 0;

    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(asks), 0);
    child = fork();
    if (child == 0)
        _exit(hold(servers_list(live->servers), renew, told[1], asks[0]));
    assert_int_equal(read(told[0], &byte, 1), 1);
    assert_result(QL_HELD, ql_lock_try(lock), lock);
    kill(child, SIGSTOP);
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    /* It sleeps, its lock runs out, and somebody else has it. */
    assert_result(QL_OK, ql_lock_timed(lock, HANG_MS), lock);
    clock_sleep_ms(TTL_MS);
    assert_int_equal(write(asks[1], &byte, 1), 1);
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    for (int i = 0; i < 2; i++) {
        close(told[i]);
        close(asks[i]);
    }
    ql_lock_free(lock);
    assert_no_key_soon(live->servers, NAME);
}

static void
trap_16_a_holder_that_was_stopped_knows_that_it_is_over(void **state)
{
    pause_a_holder(*state, false);
}

static void trap_16_a_holder_that_was_stopped_does_not_renew(void **state)
{
    pause_a_holder(*state, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(3, trap_16_a_holder_that_was_stopped_knows_that_it_is_over),
        ON(3, trap_16_a_holder_that_was_stopped_does_not_renew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
