/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two locks at once from one poll(2) loop. The client has one descriptor;
 * whenever it is readable ql_client_process() does what is due, and calls back.
 */
#include <poll.h>
#include <quorlock/quorlock.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    const char *name;
    int *running; /* jobs that are not done yet */
    int *failed;
};

static void released(ql_lock *lock, int result, void *arg)
{
    struct job *job = arg;

    printf("%s: %s\n", job->name,
           result == QL_OK ? "released" : ql_lock_error(lock));
    *job->failed += result != QL_OK;
    (*job->running)--;
}

static void acquired(ql_lock *lock, int result, void *arg)
{
    struct job *job = arg;

    if (result == QL_OK) {
        printf("%s: acquired\n", job->name);
        result = ql_lock_release_start(lock, released, job);
    }
    if (result != QL_OK)
        released(lock, result, job);
}

static int serve(ql_client *client, const int *running)
{
    struct pollfd watched = {ql_client_fd(client), POLLIN, 0};

    /* A real program watches its own descriptors here as well. */
    while (*running > 0) {
        if (poll(&watched, 1, -1) < 0 || ql_client_process(client) != QL_OK)
            return 1;
    }
    return 0;
}

int main(void)
{
    int running = 0, failed = 0;
    struct job jobs[] = {{"order-1", &running, &failed},
                         {"order-2", &running, &failed}};
    ql_lock *locks[2] = {NULL, NULL};
    ql_client *client;

    if (ql_client_open(&client, getenv("QUORLOCK_SERVERS"), NULL) != QL_OK)
        return 1;
    for (int i = 0; i < 2; i++) {
        if (ql_lock_new(&locks[i], client, jobs[i].name, NULL) == QL_OK &&
            ql_lock_acquire_start(locks[i], acquired, &jobs[i]) == QL_OK)
            running++;
        else
            failed++;
    }
    failed += serve(client, &running);
    ql_lock_free(locks[0]);
    ql_lock_free(locks[1]);
    ql_client_close(client);
    return failed != 0;
}
