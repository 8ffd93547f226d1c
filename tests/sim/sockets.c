/* SPDX-License-Identifier: BSD-2-Clause */
/* The simulated kernel's sockets: connections of network.c with a number. */
#include <errno.h>
#include <netinet/in.h>

#include "kernel_inside.h"
#include "wire.h"
#include "world.h"

struct conn *kernel_conn(const struct file *file)
{
    return (uint32_t)file->conn < CONNS_MAX
               ? network_conn(kernel_world(), file->conn)
               : NULL;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

int __wrap_socket(int domain, int type, int protocol)
{
    int fd = kernel_open(FILE_SOCKET);

    (void)protocol;
    assert(domain == AF_INET && (type & SOCK_NONBLOCK));
    kernel_file(fd, FILE_SOCKET)->conn = NO_CONN;
    return fd;
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t len)
{
    struct world *w = kernel_world();
    struct sim_client *c = kernel_client();
    struct file *file = kernel_file(fd, FILE_SOCKET);
    struct sockaddr_in to;
    unsigned node;

    assert(len == sizeof to);
    memcpy(&to, address, sizeof to);
    node = (ntohl(to.sin_addr.s_addr) & 255) - 1;
    if (!c->doomed)
        file->conn = network_id(w, network_connect(w, c->index, node));
    return fail(EINPROGRESS);
}

int __wrap_setsockopt(int fd, int level, int option, const void *value,
                      socklen_t len)
{
    (void)value;
    (void)len;
    if (level == SOL_SOCKET && option == SO_LINGER)
        kernel_file(fd, FILE_SOCKET)->reset_on_close = true;
    return 0;
}

int __wrap_getsockopt(int fd, int level, int option, void *value,
                      socklen_t *len)
{
    struct conn *conn = kernel_conn(kernel_file(fd, FILE_SOCKET));

    assert(level == SOL_SOCKET && option == SO_ERROR && *len == sizeof(int));
    *(int *)value = conn ? conn->my_error : 0;
    if (conn)
        conn->my_error = 0;
    return 0;
}

int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *len)
{
    struct conn *conn = kernel_conn(kernel_file(fd, FILE_SOCKET));

    (void)address;
    (void)len;
    return conn && conn->mine == END_OPEN ? 0 : fail(ENOTCONN);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct world *w = kernel_world();
    struct conn *conn;
    ssize_t sent = 0;

    assert(flags & MSG_NOSIGNAL);
    kernel_maybe_preempt();
    conn = kernel_conn(kernel_file(fd, FILE_SOCKET));
    if (!conn || kernel_client()->doomed)
        return fail(EAGAIN);
    if (conn->my_error)
        return fail(conn->my_error);
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        const struct iovec *piece = &message->msg_iov[i];
        size_t n = network_send(w, conn, piece->iov_base, piece->iov_len);

        sent += (ssize_t)n;
        if (n < piece->iov_len)
            break;
    }
    return sent > 0 ? sent : fail(EAGAIN);
}

ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags)
{
    struct conn *conn = kernel_conn(kernel_file(fd, FILE_SOCKET));
    size_t n;

    (void)flags;
    if (!conn || kernel_client()->doomed)
        return fail(EAGAIN);
    n = bytes_count(&conn->at_client);
    if (n > 0) {
        n = n < size ? n : size;
        memcpy(buffer, bytes_first(&conn->at_client), n);
        bytes_take(&conn->at_client, n);
        return (ssize_t)n;
    }
    if (conn->my_error)
        return fail(conn->my_error);
    return conn->my_eof ? 0 : fail(EAGAIN);
}

int __wrap_shutdown(int fd, int how)
{
    struct world *w = kernel_world();
    struct conn *conn = kernel_conn(kernel_file(fd, FILE_SOCKET));

    assert(how == SHUT_WR);
    if (!conn || conn->mine != END_OPEN || conn->my_error || conn->shut)
        return fail(ENOTCONN);
    conn->shut = true;
    wire_send(w, conn, UP, SEGMENT_FIN, NULL, 0);
    return 0;
}
