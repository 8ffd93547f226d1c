/* SPDX-License-Identifier: BSD-2-Clause */
/* See relay.h: one thread that copies bytes in both directions. */
#include "relay.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"

#define PAIRS_MAX 16

struct pair {
    int client, server; /* -1: free */
};

struct relay {
    char path[108];
    char url[120];
    char target[108];
    int listener;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards the next four */
    bool stops, swallows, cuts;
    unsigned swallowed;
    struct pair pair[PAIRS_MAX];
};

static int unix_socket(const char *path, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path, sizeof(address->sun_path), "%s", path);
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void hang_up(struct pair *pair)
{
    if (pair->client >= 0)
        close(pair->client);
    if (pair->server >= 0)
        close(pair->server);
    pair->client = pair->server = -1;
}

static void take_call(struct relay *relay)
{
    int client = accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC);
    struct sockaddr_un address;

    for (int i = 0; client >= 0 && i < PAIRS_MAX; i++) {
        struct pair *pair = &relay->pair[i];

        if (pair->client >= 0)
            continue;
        pair->client = client;
        pair->server = unix_socket(relay->target, &address);
        if (connect(pair->server, (struct sockaddr *)&address,
                    sizeof(address)) != 0)
            hang_up(pair);
        return;
    }
    if (client >= 0)
        close(client);
}

static void copy(struct relay *relay, struct pair *pair, int from, int to)
{
    char bytes[65536];
    ssize_t n = read(from, bytes, sizeof(bytes)), sent = 0;
    bool swallow;

    pthread_mutex_lock(&relay->mutex);
    swallow = relay->swallows && from == pair->server;
    relay->swallowed += swallow && n > 0;
    pthread_mutex_unlock(&relay->mutex);
    while (n > 0 && !swallow && sent < n) {
        ssize_t m = send(to, bytes + sent, (size_t)(n - sent), MSG_NOSIGNAL);

        if (m <= 0)
            n = 0;
        else
            sent += m;
    }
    if (n <= 0)
        hang_up(pair);
}

static void relay_once(struct relay *relay)
{
    struct pollfd fds[1 + 2 * PAIRS_MAX];

    fds[0] = (struct pollfd){.fd = relay->listener, .events = POLLIN};
    for (int i = 0; i < PAIRS_MAX; i++) {
        fds[1 + 2 * i] =
            (struct pollfd){.fd = relay->pair[i].client, .events = POLLIN};
        fds[2 + 2 * i] =
            (struct pollfd){.fd = relay->pair[i].server, .events = POLLIN};
    }
    if (poll(fds, 1 + 2 * PAIRS_MAX, 5) <= 0)
        return;
    for (int i = 0; i < PAIRS_MAX; i++) {
        struct pair *pair = &relay->pair[i];

        if (pair->client >= 0 && fds[1 + 2 * i].revents)
            copy(relay, pair, pair->client, pair->server);
        if (pair->server >= 0 && fds[2 + 2 * i].revents)
            copy(relay, pair, pair->server, pair->client);
    }
    if (fds[0].revents)
        take_call(relay);
}

static void *run(void *arg)
{
    struct relay *relay = arg;
    bool stops = false, cuts;

    while (!stops) {
        relay_once(relay);
        pthread_mutex_lock(&relay->mutex);
        stops = relay->stops;
        cuts = relay->cuts || stops;
        pthread_mutex_unlock(&relay->mutex);
        for (int i = 0; cuts && i < PAIRS_MAX; i++)
            hang_up(&relay->pair[i]);
        pthread_mutex_lock(&relay->mutex);
        relay->cuts = relay->cuts && !cuts;
        pthread_mutex_unlock(&relay->mutex);
    }
    return NULL;
}

struct relay *relay_start(struct server *server)
{
    struct relay *relay = calloc(1, sizeof(*relay));
    struct sockaddr_un address;

    assert_non_null(relay);
    assert_non_null(server_socket(server));
    snprintf(relay->target, sizeof(relay->target), "%s", server_socket(server));
    assert_true(strlen(relay->target) < sizeof(relay->path) - 8);
    snprintf(relay->path, sizeof(relay->path), "%.*s.relay",
             (int)sizeof(relay->path) - 8, relay->target);
    snprintf(relay->url, sizeof(relay->url), "unix://%s", relay->path);
    for (int i = 0; i < PAIRS_MAX; i++)
        relay->pair[i] = (struct pair){-1, -1};
    relay->listener = unix_socket(relay->path, &address);
    assert_int_equal(
        bind(relay->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(relay->listener, PAIRS_MAX), 0);
    pthread_mutex_init(&relay->mutex, NULL);
    assert_int_equal(pthread_create(&relay->thread, NULL, run, relay), 0);
    return relay;
}

void relay_stop(struct relay *relay)
{
    pthread_mutex_lock(&relay->mutex);
    relay->stops = true;
    pthread_mutex_unlock(&relay->mutex);
    pthread_join(relay->thread, NULL);
    pthread_mutex_destroy(&relay->mutex);
    close(relay->listener);
    unlink(relay->path);
    free(relay);
}

const char *relay_url(const struct relay *relay)
{
    return relay->url;
}

void relay_swallow(struct relay *relay, bool on)
{
    pthread_mutex_lock(&relay->mutex);
    relay->swallows = on;
    relay->swallowed = 0;
    pthread_mutex_unlock(&relay->mutex);
}

static bool has_cut(void *arg)
{
    struct relay *relay = arg;
    bool done;

    pthread_mutex_lock(&relay->mutex);
    done = !relay->cuts;
    pthread_mutex_unlock(&relay->mutex);
    return done;
}

void relay_cut(struct relay *relay)
{
    pthread_mutex_lock(&relay->mutex);
    relay->cuts = true;
    pthread_mutex_unlock(&relay->mutex);
    assert_true(clock_wait_until(has_cut, relay, HANG_MS));
}

static bool has_swallowed(void *arg)
{
    struct relay *relay = arg;
    bool done;

    pthread_mutex_lock(&relay->mutex);
    done = relay->swallowed > 0;
    if (done)
        relay->swallowed = 0;
    pthread_mutex_unlock(&relay->mutex);
    return done;
}

void relay_wait_swallowed(struct relay *relay)
{
    assert_true(clock_wait_until(has_swallowed, relay, HANG_MS));
}
