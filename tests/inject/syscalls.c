/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every system call of the library fails: the first one alone, the second one
 * alone, and so on until a whole scenario runs through; then the same from
 * that call on for ever. The linker puts our own functions in their place
 * (CMakeLists.txt lists them), and each run is a process of its own.
 *
 * Must hold: no crash, no hang, no descriptor left open, no error that is
 * called a success; and after a single failure no key on any server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "group.h"

#define NAME      "injected"
#define LEASE     "quorlock:lock:{injected}"
#define TTL_MS    3600000
#define HANG_S    60
#define CALLS_MAX 5000

/* --- The calls that fail ------------------------------------------------- */

static atomic_int calls;   /* made since armed */
static int fails_at;       /* this one fails; 0: none */
static bool fails_from_on; /* and all that follow */

static bool fails(void)
{
    int call;

    if (fails_at == 0)
        return false;
    call = atomic_fetch_add(&calls, 1) + 1;
    return call == fails_at || (fails_from_on && call > fails_at);
}

#define WRAP(type, name, error, parameters, arguments)                         \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters                                              \
    {                                                                          \
        if (!fails())                                                          \
            return __real_##name arguments;                                    \
        errno = (error);                                                       \
        return -1;                                                             \
    }

#define WRAP_CODE(type, name, code, parameters, arguments)                     \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters                                              \
    {                                                                          \
        return fails() ? (code) : __real_##name arguments;                     \
    }

/* clang-format off */
WRAP(int, socket, EMFILE, (int a, int b, int c), (a, b, c))
WRAP(int, connect, ENETUNREACH, (int a, const struct sockaddr *b, socklen_t c),
     (a, b, c))
WRAP(int, getsockopt, ENOBUFS,
     (int a, int b, int c, void *d, socklen_t *e), (a, b, c, d, e))
WRAP(int, setsockopt, ENOBUFS,
     (int a, int b, int c, const void *d, socklen_t e), (a, b, c, d, e))
WRAP(ssize_t, sendmsg, ECONNRESET, (int a, const struct msghdr *b, int c),
     (a, b, c))
WRAP(ssize_t, recv, ECONNRESET, (int a, void *b, size_t c, int d),
     (a, b, c, d))
WRAP(int, epoll_create1, EMFILE, (int a), (a))
WRAP(int, epoll_ctl, ENOMEM, (int a, int b, int c, struct epoll_event *d),
     (a, b, c, d))
WRAP(int, epoll_wait, EINTR, (int a, struct epoll_event *b, int c, int d),
     (a, b, c, d))
WRAP(int, eventfd, EMFILE, (unsigned a, int b), (a, b))
WRAP(int, timerfd_create, EMFILE, (int a, int b), (a, b))
WRAP(int, timerfd_settime, ENOMEM,
     (int a, int b, const struct itimerspec *c, struct itimerspec *d),
     (a, b, c, d))
WRAP(ssize_t, getrandom, ENOSYS, (void *a, size_t b, unsigned c), (a, b, c))
WRAP(int, clock_gettime, EINVAL, (clockid_t a, struct timespec *b), (a, b))
WRAP_CODE(int, pthread_create, EAGAIN,
          (pthread_t *a, const pthread_attr_t *b, void *(*c)(void *), void *d),
          (a, b, c, d))
WRAP_CODE(int, getaddrinfo, EAI_AGAIN,
          (const char *a, const char *b, const struct addrinfo *c,
           struct addrinfo **d), (a, b, c, d))
/* clang-format on */

/* --- The scenario --------------------------------------------------------- */

static unsigned open_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    if (!directory)
        return 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void lock_and_release(ql_client *client, bool renew)
{
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock, *other;
    int rc;

    options.ttl_ms = TTL_MS;
    options.renew = renew;
    if (ql_lock_new(&lock, client, NAME, &options) != QL_OK)
        return;
    rc = ql_lock_try(lock);
    if (rc == QL_OK) {
        (void)ql_lock_extend(lock, 0);
        (void)ql_lock_verify(lock);
        if (ql_lock_new(&other, client, NAME, &options) == QL_OK) {
            if (ql_lock_valid_ms(lock) > 0 && ql_lock_try(other) == QL_OK &&
                ql_lock_valid_ms(lock) > 0 && ql_lock_valid_ms(other) > 0)
                abort(); /* two holders */
            ql_lock_free(other);
        }
        (void)ql_lock_release(lock);
    } else if (ql_lock_valid_ms(lock) != 0) {
        abort(); /* not held, and valid */
    }
    ql_lock_free(lock);
}

static void scenario(const char *servers, enum ql_level level)
{
    ql_client_options options = QL_CLIENT_OPTIONS_INIT;
    ql_client *client;
    int rc;

    options.level = level;
    options.node_timeout_ms = 300;
    options.connect_timeout_ms = 1000;
    rc = ql_client_open(&client, servers, &options);
    if (rc != QL_OK) {
        if (rc > 0)
            abort();
        return;
    }
    lock_and_release(client, false);
    lock_and_release(client, true);
    ql_client_close(client);
}

/* --- One run ---------------------------------------------------------------
 */

enum { RAN_TO_THE_END = 10, FAILED_ONCE = 11, LEAKED = 12 };

static void run_child(const char *servers, enum ql_level level, int call,
                      bool from_on)
{
    unsigned before = open_descriptors();

    alarm(HANG_S);
    fails_from_on = from_on;
    atomic_store(&calls, 0);
    fails_at = call;
    scenario(servers, level);
    fails_at = 0;
    if (open_descriptors() != before)
        _exit(LEAKED);
    /* exit(), so that a leak checker has its say. */
    exit(atomic_load(&calls) < call ? RAN_TO_THE_END : FAILED_ONCE);
}

/* Whether call number `call` was made at all. */
static bool run(struct servers *servers, enum ql_level level, int call,
                bool from_on)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        run_child(servers_list(servers), level, call, from_on);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != RAN_TO_THE_END &&
                               WEXITSTATUS(status) != FAILED_ONCE))
        fail_msg("call %d%s: status %#x", call, from_on ? " and all after" : "",
                 (unsigned)status);
    return WEXITSTATUS(status) == FAILED_ONCE;
}

static void forget_key(struct servers *servers)
{
    for (unsigned i = 0; i < servers_count(servers); i++)
        (void)server_command(servers_at(servers, i), "DEL", NAME, LEASE, NULL);
}

static void fail_once(struct servers *servers, enum ql_level level)
{
    int call;

    for (call = 1; call < CALLS_MAX && run(servers, level, call, false); call++)
        assert_no_key_on_any_server(servers, NAME);
    assert_true(call > 50);
    assert_true(call < CALLS_MAX);
}

static void fail_from_then_on(struct servers *servers, enum ql_level level)
{
    int call;

    /* Every third: a later start repeats most of what an earlier one met. */
    for (call = 1; call < CALLS_MAX && run(servers, level, call, true);
         call += 3)
        forget_key(servers);
    assert_true(call > 50);
    assert_true(call < CALLS_MAX);
}

static void each_call_fails_once(void **state)
{
    fail_once(*state, QL_LEVEL_PLAIN);
}

static void each_call_fails_from_then_on(void **state)
{
    fail_from_then_on(*state, QL_LEVEL_PLAIN);
}

static void each_call_of_the_guarded_level_fails_once(void **state)
{
    group_form(*state, TTL_MS, GROUP_SLACK_MS);
    fail_once(*state, QL_LEVEL_GUARDED);
}

static void each_call_of_the_guarded_level_fails_from_then_on(void **state)
{
    fail_from_then_on(*state, QL_LEVEL_GUARDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_fails_once),
        cmocka_unit_test(each_call_fails_from_then_on),
        cmocka_unit_test(each_call_of_the_guarded_level_fails_once),
        cmocka_unit_test(each_call_of_the_guarded_level_fails_from_then_on),
    };

    return cmocka_run_group_tests(tests, servers_setup_3, servers_teardown);
}
