/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keeper: a thread that renews locks while the program is busy elsewhere.
 * It runs from the first blocking acquire of a lock that renews itself, and
 * drives the loop only when something is due and nobody else is driving.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/client.h"
#include "core/time.h"

static void drive_what_is_due(struct ql_client *client)
{
    if (client->driving)
        return;
    (void)ql_loop_once(client, 0);
    ql_loop_call_back(client);
    while (!client->keeper_stops && client->busy && !client->driving) {
        (void)ql_loop_once(client, QL_NEVER);
        ql_loop_call_back(client);
    }
    ql_loop_hand_over(client);
}

static void sleep_until_due(struct ql_client *client)
{
    struct pollfd fds[2] = {{.fd = client->timer_fd, .events = POLLIN},
                            {.fd = client->keeper_fd, .events = POLLIN}};
    uint64_t count;

    pthread_mutex_unlock(&client->mutex);
    (void)poll(fds, 2, -1);
    while (fds[1].revents && read(client->keeper_fd, &count, sizeof(count)) < 0)
        if (errno != EINTR)
            break;
    pthread_mutex_lock(&client->mutex);
    ql_clock_now(&client->clock);
}

static void *keep(void *arg)
{
    struct ql_client *client = arg;

    pthread_mutex_lock(&client->mutex);
    while (!client->keeper_stops) {
        ql_loop_settle(client);
        sleep_until_due(client);
        drive_what_is_due(client);
    }
    pthread_mutex_unlock(&client->mutex);
    return NULL;
}

int ql_keeper_start(struct ql_client *client)
{
    sigset_t all, before;
    int error;

    if (client->keeper_runs)
        return QL_OK;
    client->timer_used = true;
    /* The program's signals are the program's: none is delivered here. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&client->keeper, NULL, keep, client);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        errno = error;
        return QL_E_SYSTEM;
    }
    (void)pthread_setname_np(client->keeper, "quorlock-keeper");
    client->keeper_runs = true;
    return QL_OK;
}

void ql_keeper_stop(struct ql_client *client)
{
    if (!client->keeper_runs)
        return;
    client->keeper_stops = true;
    ql_keeper_wake(client);
    /* It may be the one that waits in the loop. */
    if (client->driving)
        ql_loop_wake(client);
    pthread_mutex_unlock(&client->mutex);
    pthread_join(client->keeper, NULL);
    pthread_mutex_lock(&client->mutex);
    client->keeper_runs = false;
}
