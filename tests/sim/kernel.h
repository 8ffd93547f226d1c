/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system calls that the library makes, for the client that is running:
 * sockets, epoll, timers, clocks. A client that is preempted stays in one of
 * them while the world goes on.
 */
#ifndef TESTS_SIM_KERNEL_H
#define TESTS_SIM_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "bounds.h"

#define FILES_MAX   4096
#define WATCHES_MAX (NODES_MAX + 4)

struct world;
struct sim_client;

enum file_kind {
    FILE_NONE,
    FILE_SOCKET,
    FILE_EPOLL,
    FILE_EVENT,
    FILE_TIMER,
};

struct watch {
    int fd;
    uint32_t events;
    uint64_t data;
};

struct file {
    uint8_t kind; /* enum file_kind */
    uint8_t client;
    bool reset_on_close;
    uint64_t conn;     /* SOCKET: network_id() */
    uint64_t count;    /* EVENT */
    uint64_t deadline; /* TIMER: by the boot clock; NEVER: not set */
    struct watch watch[WATCHES_MAX]; /* EPOLL */
    unsigned watches;
};

struct kernel {
    struct file file[FILES_MAX];
    unsigned files; /* so many were ever used */
    unsigned open;
};

/* Between these, system calls are those of `c`. They nest. */
void kernel_enter(struct world *w, struct sim_client *c);
void kernel_leave(void);
/* The world has ended in the middle of something: no client runs any more. */
void kernel_leave_all(void);
/* The process thinks that it is a forked child. */
void kernel_pretend_fork(bool forked);
void kernel_end_process(struct world *w, struct sim_client *c, bool off);

/* Whether anything that the process watches is ready. */
bool kernel_ready(struct world *w, const struct sim_client *c);
/* The true time at which its timer goes off; NEVER: none is set. */
uint64_t kernel_timer(struct world *w, const struct sim_client *c);

#endif
