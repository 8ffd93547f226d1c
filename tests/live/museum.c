/* SPDX-License-Identifier: BSD-2-Clause */
/* Bugs that other lock clients had, and that no other test here would notice:
 * see tests/museum. */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "live.h"

#define NAME   "the name"
#define LONG   3600000 /* a ttl that no test waits for */
#define THEIRS "0123456789abcdef0123456789abcdef01234567"

/* A token that is read from the servers is that of whoever has the lock now. */
static void m36_the_token_stays_ours_when_another_has_the_lock(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);
    char ours[QL_TOKEN_MAX + 1];

    assert_result(QL_OK, ql_lock_try(lock), lock);
    strcpy(ours, ql_lock_token(lock));
    for (unsigned i = 0; i < servers_count(live->servers); i++)
        server_command(servers_at(live->servers, i), "SET", NAME, THEIRS, NULL);
    assert_result(QL_GONE, ql_lock_verify(lock), lock);
    assert_string_equal(ql_lock_token(lock), ours);
    assert_result(QL_HELD, ql_lock_inspect(lock), lock);
    assert_string_equal(ql_lock_token(lock), ours);
    assert_result(QL_GONE, ql_lock_release(lock), lock);
    assert_int_equal(servers_with_key(live->servers, NAME),
                     servers_count(live->servers));
    ql_lock_free(lock);
}

/* Lets the servers go on when the ttl below has passed. */
static void *thaw(void *arg)
{
    struct servers *servers = arg;

    clock_sleep_ms(1500);
    for (unsigned i = 0; i < servers_count(servers); i++)
        kill(server_pid(servers_at(servers, i)), SIGCONT);
    return NULL;
}

/* All say yes at last, and each yes is older than the lock would have been. */
static void m47_a_majority_that_comes_after_the_ttl_is_no_lock(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, 300);
    pthread_t thread;
    int result;

    for (unsigned i = 0; i < servers_count(live->servers); i++)
        server_freeze(servers_at(live->servers, i));
    assert_int_equal(pthread_create(&thread, NULL, thaw, live->servers), 0);
    result = ql_lock_try(lock);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < servers_count(live->servers); i++)
        server_thaw(servers_at(live->servers, i)); /* for those who ask */
    assert_int_not_equal(result, QL_OK);
    assert_int_equal(ql_lock_valid_ms(lock), 0);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
    ql_lock_free(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(3, m36_the_token_stays_ours_when_another_has_the_lock),
        ON(3, m47_a_majority_that_comes_after_the_ttl_is_no_lock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
