/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for the nodes' sockets and for deadlines, and lets each do its work.
 *
 * There is no thread behind it: whoever waits for something drives it. One
 * thread at a time is in epoll_wait(2), with the mutex let go; the others sleep
 * until their own operation has ended, or the driver leaves and wakes one of
 * them to take its place. So a program with one thread never switches threads.
 */
#include <assert.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "client/client.h"
#include "core/time.h"

/* Marks in epoll's data, beyond the nodes' indices. */
#define WAKE_MARK  QL_NODES_MAX
#define TIMER_MARK (QL_NODES_MAX + 1)

/* epoll_wait's clock stands still while the machine is suspended, so that no
 * wait is longer than this before our own clock is looked at again. */
#define WAIT_MAX_NS UINT64_C(1000000000)

static int watch_fd(struct ql_client *client, int fd, unsigned mark)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = mark};

    return epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

int ql_loop_init(struct ql_client *client)
{
    client->timer_at = QL_NEVER;
    client->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    client->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    client->timer_fd =
        timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    client->keeper_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (client->epoll_fd < 0 || client->wake_fd < 0 || client->timer_fd < 0 ||
        client->keeper_fd < 0 ||
        watch_fd(client, client->wake_fd, WAKE_MARK) != 0 ||
        watch_fd(client, client->timer_fd, TIMER_MARK) != 0)
        return QL_E_SYSTEM;
    return QL_OK;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void ql_loop_free(struct ql_client *client)
{
    close_fd(&client->epoll_fd);
    close_fd(&client->wake_fd);
    close_fd(&client->timer_fd);
    close_fd(&client->keeper_fd);
}

/* --- The set of descriptors ---------------------------------------------- */

static void watch_node(struct ql_client *client, struct ql_member *member)
{
    int fd = ql_node_fd(member->node);
    uint64_t connection = ql_node_connection(member->node);
    bool writes = ql_node_wants_write(member->node);
    bool fresh = connection != member->connection;
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP |
                                          (writes ? (unsigned)EPOLLOUT : 0),
                                .data.u32 = member->index};

    if (fd < 0 || (!fresh && writes == member->writes))
        return;
    /* If the kernel has no memory for it, it is tried again at the next turn,
     * and meanwhile the node just seems silent. */
    if (epoll_ctl(client->epoll_fd, fresh ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd,
                  &event) != 0)
        return;
    member->connection = connection;
    member->writes = writes;
}

/* A descriptor must leave the set before it is closed: if a forked child still
 * has it open, closing alone would leave it in the set for ever. */
void ql_loop_closing(struct ql_member *member, int fd)
{
    (void)epoll_ctl(member->client->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* --- Deadlines ----------------------------------------------------------- */

uint64_t ql_loop_deadline(const struct ql_client *client)
{
    const struct ql_timer *first = ql_timers_first(&client->timers);
    uint64_t deadline = first ? first->deadline : QL_NEVER;

    for (unsigned i = 0; i < client->rules.nodes; i++)
        deadline =
            ql_time_min(deadline, ql_node_deadline(client->member[i].node));
    return deadline;
}

/*
 * What the timer is set to is kept as the kernel's clock has it: if ours has
 * jumped since (see clock.h), the kernel's moment for a deadline has changed.
 */
static void set_timer(struct ql_client *client, uint64_t boot_ns)
{
    struct itimerspec spec = {
        .it_value = {.tv_sec = (time_t)(boot_ns / 1000000000),
                     .tv_nsec = (long)(boot_ns % 1000000000)}};

    if (timerfd_settime(client->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0)
        client->timer_at = boot_ns;
}

/* Never nothing but zeros, which would disarm it: "now" is a moment too. */
static uint64_t timer_moment(const struct ql_client *client, uint64_t deadline)
{
    return deadline == QL_NEVER
               ? QL_NEVER
               : ql_time_max(ql_clock_boot(&client->clock, deadline), 1);
}

static void run_timers(struct ql_client *client)
{
    uint64_t now = client->clock.now;
    struct ql_timer *first;
    struct ql_lock *lock;

    for (unsigned i = 0; i < client->rules.nodes; i++)
        if (ql_node_deadline(client->member[i].node) <= now) {
            ql_node_time(client->member[i].node, now);
            client->dirty |= UINT32_C(1) << i;
        }
    /* A machine whose time was given to it wants it again later, not now; but
     * if one did not, the others must have theirs. */
    for (size_t left = client->timers.count; left > 0; left--) {
        first = ql_timers_first(&client->timers);
        if (!first || first->deadline > now)
            break;
        lock = (struct ql_lock *)first;
        if (lock->op.gated && lock->op.gate_until <= now)
            ql_op_pass_gate(lock);
        else
            ql_drive(lock, (struct ql_event){.kind = QL_EV_TIME});
    }
}

/* --- One turn ------------------------------------------------------------ */

static void flush(struct ql_client *client)
{
    /* What a flush brings about, such as the release of a lock whose node has
     * just failed, can give other nodes something to write. */
    while (client->dirty) {
        unsigned i = (unsigned)__builtin_ctz(client->dirty);

        client->dirty &= client->dirty - 1;
        ql_node_flush(client->member[i].node, client->clock.now);
        watch_node(client, &client->member[i]);
    }
}

void ql_loop_settle(struct ql_client *client)
{
    uint64_t deadline, moment;

    flush(client);
    deadline = ql_loop_deadline(client);
    moment = timer_moment(client, deadline);
    if (client->timer_used && moment < client->timer_at)
        set_timer(client, moment);
    if (client->driving && deadline < client->drives_until)
        ql_loop_wake(client);
}

static void drain(int fd)
{
    uint64_t count;

    while (read(fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

static void node_event(struct ql_client *client, unsigned index, uint32_t ready)
{
    struct ql_node *node = client->member[index].node;
    uint32_t over = EPOLLHUP | EPOLLRDHUP | EPOLLERR;
    uint64_t now = client->clock.now;

    ql_node_io(node, ready & (EPOLLIN | over),
               ready & (EPOLLOUT | EPOLLHUP | EPOLLERR), now);
    /* The end may stand behind an answer that came before it: it is to be seen
     * now, and not when something has been sent that nobody will read. */
    if (ready & over)
        ql_node_io(node, true, false, now);
    client->dirty |= UINT32_C(1) << index;
}

static void handle_event(struct ql_client *client,
                         const struct epoll_event *event)
{
    unsigned mark = event->data.u32;

    if (mark == WAKE_MARK) {
        drain(client->wake_fd);
    } else if (mark == TIMER_MARK) {
        drain(client->timer_fd);
        client->timer_at = QL_NEVER;
    } else {
        node_event(client, mark, event->events);
    }
}

static int wait_ms(const struct ql_client *client, uint64_t until)
{
    uint64_t wait_ns = ql_time_sub(until, client->clock.now);

    wait_ns = ql_time_min(wait_ns, WAIT_MAX_NS);
    return (int)((wait_ns + QL_NS_PER_MS - 1) / QL_NS_PER_MS);
}

static void wake_settlers(struct ql_client *client)
{
    if (client->settlers)
        for (struct ql_waiter *at = client->waiters; at; at = at->next)
            pthread_cond_signal(&at->woken);
}

int ql_loop_once(struct ql_client *client, uint64_t until)
{
    struct epoll_event events[QL_NODES_MAX + 2];
    int timeout_ms, count, error;

    flush(client);
    until = ql_time_min(until, ql_loop_deadline(client));
    timeout_ms = wait_ms(client, until);
    if (timeout_ms > 0) {
        client->driving = true;
        client->drives_until = until;
        pthread_mutex_unlock(&client->mutex);
    }
    count = epoll_wait(client->epoll_fd, events, QL_NODES_MAX + 2, timeout_ms);
    error = errno;
    if (timeout_ms > 0) {
        pthread_mutex_lock(&client->mutex);
        client->driving = false;
    }
    ql_clock_now(&client->clock);
    for (int i = 0; i < count; i++)
        handle_event(client, &events[i]);
    run_timers(client);
    ql_op_check_gates(client);
    ql_loop_settle(client);
    wake_settlers(client);
    return count >= 0 || error == EINTR ? QL_OK : QL_E_SYSTEM;
}

/* --- Many threads -------------------------------------------------------- */

void ql_loop_hand_over(struct ql_client *client)
{
    struct ql_waiter *at = client->waiters;

    if (client->driving)
        return;
    while (at && !at->sleeps)
        at = at->next;
    if (at)
        pthread_cond_signal(&at->woken);
    else if (client->busy)
        ql_keeper_wake(client);
}

void ql_loop_call_back(struct ql_client *client)
{
    if (!client->finished)
        return;
    ql_loop_hand_over(client);
    ql_op_call_back(client);
}

static void add_waiter(struct ql_client *client, struct ql_waiter *waiter)
{
    pthread_cond_init(&waiter->woken, NULL);
    waiter->sleeps = false;
    waiter->next = client->waiters;
    waiter->link = &client->waiters;
    if (waiter->next)
        waiter->next->link = &waiter->next;
    client->waiters = waiter;
}

static void remove_waiter(struct ql_waiter *waiter)
{
    *waiter->link = waiter->next;
    if (waiter->next)
        waiter->next->link = waiter->link;
    pthread_cond_destroy(&waiter->woken);
}

static void sleep_until_woken(struct ql_client *client,
                              struct ql_waiter *waiter)
{
    waiter->sleeps = true;
    pthread_cond_wait(&waiter->woken, &client->mutex);
    waiter->sleeps = false;
}

void ql_loop_wait(struct ql_client *client, bool (*done)(void *arg), void *arg,
                  uint64_t until, struct ql_waiter **ret_waiter)
{
    struct ql_waiter self;

    add_waiter(client, &self);
    *ret_waiter = &self;
    while (!done(arg)) {
        if (client->driving) {
            sleep_until_woken(client, &self);
            continue;
        }
        (void)ql_loop_once(client, until);
        /* What others have started is not told when we are done, but now: we
         * may have consumed what would have told their thread to come. */
        ql_loop_call_back(client);
    }
    *ret_waiter = NULL;
    remove_waiter(&self);
    ql_loop_hand_over(client);
}
