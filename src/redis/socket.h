/* SPDX-License-Identifier: BSD-2-Clause */
/* Stream sockets that never block: the system calls of one connection. */
#ifndef QL_REDIS_SOCKET_H
#define QL_REDIS_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "redis/resolve.h"

/*
 * Starts to connect. Returns the descriptor, and in `ret_done` whether it is
 * connected already; or a negative errno.
 */
int ql_socket_open(const struct ql_place *place, bool *ret_done);

/* Whether the connection has come about: 0, EINPROGRESS, or why not. */
int ql_socket_status(int fd);

/* The bytes that went through; a negative errno, -EAGAIN for "not now". */
ssize_t ql_socket_write(int fd, const struct iovec *pieces, int count);
/* Likewise; 0: the peer has closed. */
ssize_t ql_socket_read(int fd, void *buffer, size_t size);

enum ql_socket_end {
    QL_END_ORDERLY, /* the kernel still delivers what it was given */
    QL_END_ABORT,   /* the kernel drops it, and the peer sees a reset (TCP) */
    QL_END_FORKED,  /* only our copy of the descriptor goes */
};

void ql_socket_close(int fd, enum ql_socket_end end);

#endif
