/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that takes longer than the ttl: the library renews the lock by itself,
 * and tells when it cannot. Each step asks first whether the lock is still
 * ours; between steps the program waits on a descriptor that says when it is
 * not.
 *
 *     renew [STEPS]      steps of half a second each; 10
 */
#include <poll.h>
#include <quorlock/quorlock.h>
#include <stdio.h>
#include <stdlib.h>

#define TTL_MS  4000
#define STEP_MS 500

/* 0: all of it was done while the lock was ours. */
static int work(ql_lock *lock, int steps)
{
    struct pollfd lost = {ql_lock_lost_fd(lock), POLLIN, 0};

    for (int step = 1; step <= steps; step++) {
        if (ql_lock_valid_ms(lock) <= 0 || poll(&lost, 1, STEP_MS) != 0) {
            printf("lost at step %d: %s\n", step,
                   ql_result_text(ql_lock_lost(lock)));
            return 1;
        }
        printf("step %d of %d\n", step, steps);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock;
    int failed;

    options.ttl_ms = TTL_MS;
    options.renew = true;
    options.max_hold_ms = 60000; /* if we hang, others get their turn */
    if (ql_client_open(&client, getenv("QUORLOCK_SERVERS"), NULL) != QL_OK ||
        ql_lock_new(&lock, client, "report", &options) != QL_OK)
        return 1;
    if (ql_lock_acquire(lock) != QL_OK) {
        fprintf(stderr, "%s\n", ql_lock_error(lock));
        failed = 1;
    } else {
        failed = work(lock, argc > 1 ? atoi(argv[1]) : 10);
        /* QL_GONE here would mean that somebody else may have been at it. */
        if (ql_lock_release(lock) != QL_OK)
            failed = 1;
    }
    ql_lock_free(lock);
    ql_client_close(client);
    return failed;
}
