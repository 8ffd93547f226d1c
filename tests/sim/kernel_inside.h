/* SPDX-License-Identifier: BSD-2-Clause */
/* What the two files of the simulated kernel share, and the names by which the
 * linker takes the library's calls to them. */
#ifndef TESTS_SIM_KERNEL_INSIDE_H
#define TESTS_SIM_KERNEL_INSIDE_H

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>

#include "kernel.h"
#include "network.h"

#define FD_BASE 100000
#define NO_CONN (UINT32_MAX - 1) /* a conn's id that is none */

struct world *kernel_world(void); /* NULL: no simulated process runs */
struct sim_client *kernel_client(void);
void kernel_maybe_preempt(void);
int kernel_open(enum file_kind kind);
struct file *kernel_file(int fd, enum file_kind kind);
struct conn *kernel_conn(const struct file *file);

int __real_close(int fd);
ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __real_write(int fd, const void *buffer, size_t size);
int __real_clock_gettime(clockid_t id, struct timespec *ret);

int __wrap_close(int fd);
int __wrap_epoll_create1(int flags);
int __wrap_epoll_ctl(int epoll_fd, int op, int fd, struct epoll_event *event);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int ms);
int __wrap_eventfd(unsigned count, int flags);
int __wrap_timerfd_create(int clock, int flags);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value,
                           struct itimerspec *old);
ssize_t __wrap_read(int fd, void *buffer, size_t size);
ssize_t __wrap_write(int fd, const void *buffer, size_t size);
int __wrap_clock_gettime(clockid_t id, struct timespec *ret);
ssize_t __wrap_getrandom(void *buffer, size_t size, unsigned flags);
pid_t __wrap_getpid(void);

int __wrap_socket(int domain, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_setsockopt(int fd, int level, int option, const void *value,
                      socklen_t len);
int __wrap_getsockopt(int fd, int level, int option, void *value,
                      socklen_t *len);
int __wrap_getpeername(int fd, struct sockaddr *address, socklen_t *len);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags);
int __wrap_shutdown(int fd, int how);

#endif
