/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors, epoll, timers, clocks, chance. Sockets are in sockets.c. */
#include "kernel.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <time.h>

#include "kernel_inside.h"
#include "world.h"

#define DEPTH_MAX 256

static struct {
    struct world *w;
    struct sim_client *c;
} running[DEPTH_MAX];
static unsigned depth;
static bool forked;

/* --- Who runs ------------------------------------------------------------- */

void kernel_enter(struct world *w, struct sim_client *c)
{
    assert(depth + 1 < DEPTH_MAX);
    depth++;
    running[depth].w = w;
    running[depth].c = c;
}

void kernel_leave(void)
{
    assert(depth > 0);
    depth--;
}

void kernel_leave_all(void)
{
    depth = 0;
    forked = false;
}

void kernel_pretend_fork(bool pretend)
{
    forked = pretend;
}

struct world *kernel_world(void)
{
    return depth ? running[depth].w : NULL;
}

struct sim_client *kernel_client(void)
{
    return running[depth].c;
}

/* The running process does not run, until then. The world does. */
static void sleep_until(uint64_t at)
{
    struct world *w = kernel_world();
    struct sim_client *c = kernel_client();

    if (c->alive)
        oracle_look(w, c);
    world_pass(w, at);
    c->unpunctual_at = w->now;
}

void kernel_maybe_preempt(void)
{
    struct world *w = kernel_world();

    if (w->calm || forked || !kernel_client()->alive ||
        !dice_chance(&w->dice, w->swarm.preempt_ppm))
        return;
    w->tally.fault[FAULT_PREEMPT]++;
    tell(w, "%c is stopped within a step", kernel_client()->index, 0, 0, NULL);
    sleep_until(w->now + dice_below(&w->dice, w->swarm.preempt_ns));
    tell(w, "%c goes on", kernel_client()->index, 0, 0, NULL);
}

/* --- Files ---------------------------------------------------------------- */

int kernel_open(enum file_kind kind)
{
    struct world *w = kernel_world();
    struct kernel *kernel = &w->kernel;
    unsigned i = 0;

    while (i < kernel->files && kernel->file[i].kind != FILE_NONE)
        i++;
    assert(i < FILES_MAX);
    if (i == kernel->files)
        kernel->files++;
    kernel->file[i] = (struct file){.kind = (uint8_t)kind,
                                    .client = (uint8_t)kernel_client()->index,
                                    .deadline = NEVER};
    kernel->open++;
    return (int)i + FD_BASE;
}

struct file *kernel_file(int fd, enum file_kind kind)
{
    struct file *file = &kernel_world()->kernel.file[fd - FD_BASE];

    assert(fd >= FD_BASE && fd < FD_BASE + FILES_MAX);
    assert(file->kind == kind);
    return file;
}

static struct file *any_file(struct world *w, int fd)
{
    return &w->kernel.file[fd - FD_BASE];
}

void kernel_end_process(struct world *w, struct sim_client *c, bool off)
{
    for (unsigned i = 0; i < w->kernel.files; i++) {
        struct file *file = &w->kernel.file[i];
        struct conn *conn;

        if (file->kind != FILE_SOCKET || file->client != c->index)
            continue;
        conn = network_conn(w, file->conn);
        if (conn && off)
            network_vanish(w, conn);
        else if (conn)
            network_close(w, conn);
        file->conn = NO_CONN;
    }
}

int __wrap_close(int fd)
{
    struct world *w = kernel_world();
    struct file *file;
    struct conn *conn;

    if (fd < FD_BASE)
        return __real_close(fd);
    file = any_file(w, fd);
    assert(file->kind != FILE_NONE);
    conn = file->kind == FILE_SOCKET ? kernel_conn(file) : NULL;
    if (conn) {
        conn->reset_on_close = file->reset_on_close;
        network_close(w, conn);
    }
    file->kind = FILE_NONE;
    w->kernel.open--;
    return 0;
}

/* --- Epoll ---------------------------------------------------------------- */

static uint32_t readiness(struct world *w, const struct sim_client *c, int fd)
{
    const struct file *file = any_file(w, fd);
    const struct conn *conn;

    switch (file->kind) {
    case FILE_SOCKET:
        conn = file->conn == NO_CONN ? NULL : network_conn(w, file->conn);
        if (!conn)
            return 0;
        return (network_readable(conn) ? (uint32_t)EPOLLIN : 0) |
               (network_writable(w, conn) ? (uint32_t)EPOLLOUT : 0) |
               (conn->my_error ? (uint32_t)EPOLLERR : 0);
    case FILE_EVENT:
        return file->count ? EPOLLIN : 0;
    case FILE_TIMER:
        return vclock_read(&c->boot, w->now) >= file->deadline ? EPOLLIN : 0;
    default:
        return 0;
    }
}

int __wrap_epoll_create1(int flags)
{
    (void)flags;
    return kernel_open(FILE_EPOLL);
}

int __wrap_epoll_ctl(int epoll_fd, int op, int fd, struct epoll_event *event)
{
    struct file *file = kernel_file(epoll_fd, FILE_EPOLL);
    unsigned i = 0;

    while (i < file->watches && file->watch[i].fd != fd)
        i++;
    if (op == EPOLL_CTL_DEL) {
        assert(i < file->watches);
        file->watch[i] = file->watch[--file->watches];
        return 0;
    }
    assert((op == EPOLL_CTL_ADD) == (i == file->watches) && i < WATCHES_MAX);
    file->watch[i] = (struct watch){fd, event->events, event->data.u64};
    if (i == file->watches)
        file->watches++;
    return 0;
}

static int look(struct world *w, const struct sim_client *c,
                const struct file *file, struct epoll_event *events, int max)
{
    int count = 0;

    for (unsigned i = 0; i < file->watches && count < max; i++) {
        const struct watch *watch = &file->watch[i];
        uint32_t ready =
            readiness(w, c, watch->fd) & (watch->events | EPOLLERR | EPOLLHUP);

        if (!ready)
            continue;
        if (events)
            events[count] =
                (struct epoll_event){.events = ready, .data.u64 = watch->data};
        count++;
    }
    return count;
}

/* A process that sleeps in it is one that closes: see client_quit(). */
int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int ms)
{
    struct world *w = kernel_world();
    struct sim_client *c = kernel_client();
    const struct file *file = kernel_file(fd, FILE_EPOLL);
    uint64_t until = vclock_read(&c->boot, w->now) + (uint64_t)ms * MS;

    if (c->doomed)
        return 0;
    while (ms > 0 && look(w, c, file, NULL, 1) == 0 &&
           vclock_read(&c->boot, w->now) < until)
        sleep_until(w->now + 200 * US);
    return look(w, c, file, events, max);
}

static const struct file *epoll_of(struct world *w, const struct sim_client *c)
{
    return any_file(w, c->ql->epoll_fd);
}

bool kernel_ready(struct world *w, const struct sim_client *c)
{
    return look(w, c, epoll_of(w, c), NULL, 1) > 0;
}

uint64_t kernel_timer(struct world *w, const struct sim_client *c)
{
    return vclock_when(&c->boot, any_file(w, c->ql->timer_fd)->deadline);
}

/* --- Events and timers ---------------------------------------------------- */

int __wrap_eventfd(unsigned count, int flags)
{
    int fd = kernel_open(FILE_EVENT);

    (void)flags;
    kernel_file(fd, FILE_EVENT)->count = count;
    return fd;
}

int __wrap_timerfd_create(int clock, int flags)
{
    (void)flags;
    assert(clock == CLOCK_BOOTTIME);
    return kernel_open(FILE_TIMER);
}

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *value,
                           struct itimerspec *old)
{
    const struct timespec *at = &value->it_value;
    uint64_t deadline;

    assert(flags == TFD_TIMER_ABSTIME && !old);
    /* Nothing but zeros disarms it. */
    deadline = (uint64_t)at->tv_sec * S + (uint64_t)at->tv_nsec;
    kernel_file(fd, FILE_TIMER)->deadline = deadline ? deadline : NEVER;
    return 0;
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
    struct file *file;

    if (fd < FD_BASE)
        return __real_read(fd, buffer, size);
    file = any_file(kernel_world(), fd);
    if (file->kind == FILE_TIMER)
        file->deadline = NEVER;
    else
        kernel_file(fd, FILE_EVENT)->count = 0;
    memset(buffer, 1, size);
    return (ssize_t)size;
}

ssize_t __wrap_write(int fd, const void *buffer, size_t size)
{
    if (fd < FD_BASE)
        return __real_write(fd, buffer, size);
    kernel_file(fd, FILE_EVENT)->count++;
    return (ssize_t)size;
}

/* --- Clocks and chance ---------------------------------------------------- */

int __wrap_clock_gettime(clockid_t id, struct timespec *ret)
{
    struct world *w = kernel_world();
    uint64_t ns, stopped_at;

    if (!w)
        return __real_clock_gettime(id, ret);
    stopped_at = w->now;
    kernel_maybe_preempt();
    /* Between its readings of the two clocks, that looks like a jump. */
    if (w->now > stopped_at + S)
        kernel_client()->jumped_at = w->now;
    ns = vclock_read(id == CLOCK_REALTIME ? &kernel_client()->wall
                                          : &kernel_client()->boot,
                     w->now);
    ret->tv_sec = (time_t)(ns / S);
    ret->tv_nsec = (long)(ns % S);
    return 0;
}

ssize_t __wrap_getrandom(void *buffer, size_t size, unsigned flags)
{
    char *at = buffer;

    (void)flags;
    for (size_t i = 0; i < size; i++)
        at[i] = (char)dice_next(&kernel_world()->dice);
    return (ssize_t)size;
}

pid_t __wrap_getpid(void)
{
    return forked ? 2 : 1;
}
