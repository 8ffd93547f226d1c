/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets. A peer that has gone is noticed in three ways: data that it does
 * not acknowledge for some seconds (TCP_USER_TIMEOUT), an idle connection's
 * keepalives, and above this file by the answers that do not come.
 */
#include "redis/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#define USER_TIMEOUT_MS      3000
#define KEEPALIVE_IDLE_S     10
#define KEEPALIVE_INTERVAL_S 3
#define KEEPALIVE_PROBES     3

static void set(int fd, int level, int option, int value)
{
    /* None of them is needed for being correct, so a failure is let pass. */
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static void tune(int fd)
{
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
}

int ql_socket_open(const struct ql_place *place, bool *ret_done)
{
    const struct sockaddr *address = (const struct sockaddr *)&place->address;
    int fd = socket(address->sa_family,
                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error;

    if (fd < 0)
        return -errno;
    if (address->sa_family != AF_UNIX)
        tune(fd);
    error = connect(fd, address, place->len) == 0 ? 0 : errno;
    *ret_done = error == 0;
    /* Interrupted, the kernel goes on connecting all the same. */
    if (error == 0 || error == EINPROGRESS || error == EINTR)
        return fd;
    close(fd);
    return -error;
}

int ql_socket_status(int fd)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof peer;
    int error = 0;
    socklen_t error_len = sizeof error;

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_len) != 0)
        return errno;
    if (error)
        return error;
    if (getpeername(fd, (struct sockaddr *)&peer, &len) == 0)
        return 0;
    return errno == ENOTCONN ? EINPROGRESS : errno;
}

ssize_t ql_socket_write(int fd, const struct iovec *pieces, int count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)pieces,
                             .msg_iovlen = (size_t)count};
    ssize_t n;

    do
        n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n >= 0)
        return n;
    return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

ssize_t ql_socket_read(int fd, void *buffer, size_t size)
{
    ssize_t n;

    do
        n = recv(fd, buffer, size, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n >= 0)
        return n;
    return errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

/* Unread bytes would turn the close into a reset. */
static void drain(int fd)
{
    char bytes[4096];

    for (int i = 0; i < 64; i++)
        if (ql_socket_read(fd, bytes, sizeof bytes) <= 0)
            return;
}

void ql_socket_close(int fd, enum ql_socket_end end)
{
    struct linger reset = {.l_onoff = 1, .l_linger = 0};

    switch (end) {
    case QL_END_ORDERLY:
        (void)shutdown(fd, SHUT_WR);
        drain(fd);
        break;
    case QL_END_ABORT:
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        break;
    case QL_END_FORKED:
        break;
    }
    /* Not again when interrupted: the descriptor is gone in either case. */
    (void)close(fd);
}
