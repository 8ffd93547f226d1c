/* SPDX-License-Identifier: BSD-2-Clause */
/* A forked child can neither use nor harm its parent's locks. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live.h"

#define NAME "the name"
#define LONG 3600000

/* Runs `work` in a child; it returns the number of what went wrong. */
static int in_child(int (*work)(struct live *live, ql_lock *lock),
                    struct live *live, ql_lock *lock)
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0)
        _exit(work(live, lock));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("the child was killed by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

/* The parent's lock is as it was, and its connections are in order. */
static void assert_undisturbed(struct live *live, ql_lock *lock)
{
    assert_int_equal(servers_with_key(live->servers, NAME), 3);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_no_key_soon(live->servers, NAME);
    ql_lock_free(lock);
}

static ql_lock *held_lock(struct live *live)
{
    ql_lock *lock = live_lock(live->client, NAME, LONG);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_keys_soon(live->servers, NAME, 3);
    return lock;
}

static void ignore(ql_lock *lock, int result, void *arg)
{
    (void)lock;
    (void)result;
    (void)arg;
}

static int call_everything(struct live *live, ql_lock *lock)
{
    ql_node_info info;
    ql_lock *other;
    int line = 0;

#define REFUSED(call)                                                          \
    line++;                                                                    \
    if ((call) != QL_E_FORKED)                                                 \
    return line
    REFUSED(ql_lock_new(&other, live->client, "other", NULL));
    REFUSED(ql_lock_acquire(lock));
    REFUSED(ql_lock_try(lock));
    REFUSED(ql_lock_timed(lock, 1));
    REFUSED(ql_lock_adopt(lock, "a"));
    REFUSED(ql_lock_extend(lock, 0));
    REFUSED(ql_lock_release(lock));
    REFUSED(ql_lock_verify(lock));
    REFUSED(ql_lock_inspect(lock));
    REFUSED(ql_lock_lost(lock));
    REFUSED(ql_lock_acquire_start(lock, ignore, NULL));
    REFUSED(ql_lock_acquire_start_timed(lock, 1, ignore, NULL));
    REFUSED(ql_lock_extend_start(lock, 0, ignore, NULL));
    REFUSED(ql_lock_release_start(lock, ignore, NULL));
    REFUSED(ql_lock_verify_start(lock, ignore, NULL));
    REFUSED(ql_lock_inspect_start(lock, ignore, NULL));
    REFUSED(ql_client_connect(live->client));
    REFUSED(ql_client_process(live->client));
    REFUSED(ql_client_node(live->client, 0, &info));
#undef REFUSED
    return 0;
}

static int ask_everything(struct live *live, ql_lock *lock)
{
    if (ql_lock_valid_ms(lock) != 0 || ql_lock_expires_ms(lock) != 0)
        return 1;
    if (ql_client_fd(live->client) != -1 || ql_lock_lost_fd(lock) != -1)
        return 2;
    if (ql_lock_report(lock))
        return 3;
    if (strcmp(ql_lock_error(lock), ql_result_text(QL_E_FORKED)) != 0)
        return 4;
    if (ql_client_nodes(live->client) != 3 ||
        ql_client_quorum(live->client) != 2)
        return 5;
    ql_lock_cancel(lock);
    return 0;
}

static int free_and_close(struct live *live, ql_lock *lock)
{
    ql_lock_free(lock);
    ql_client_close(live->client);
    return 0;
}

static int leave_and_close(struct live *live, ql_lock *lock)
{
    ql_lock_leave(lock);
    ql_client_close(live->client);
    return 0;
}

static int exit_at_once(struct live *live, ql_lock *lock)
{
    (void)live;
    (void)lock;
    return 0;
}

static int use_a_client_of_its_own(struct live *live, ql_lock *lock)
{
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_client *client;
    ql_lock *own, *same;
    int result;

    options.node_timeout_ms = PATIENT_MS;
    ql_lock_free(lock);
    ql_client_close(live->client);
    if (ql_client_open(&client, servers_list(live->servers), &options) != QL_OK)
        return 1;
    if (ql_lock_new(&own, client, "own", NULL) != QL_OK ||
        ql_lock_new(&same, client, NAME, NULL) != QL_OK)
        return 2;
    result = ql_lock_acquire(own);
    if (result == QL_OK)
        result = ql_lock_try(same) == QL_HELD ? QL_OK : 3;
    if (result == QL_OK)
        result = ql_lock_release(own);
    ql_lock_free(own);
    ql_lock_free(same);
    ql_client_close(client);
    return result == QL_OK ? 0 : 4;
}

static void everything_is_refused_in_a_child(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    assert_int_equal(in_child(call_everything, live, lock), 0);
    assert_undisturbed(live, lock);
}

static void questions_have_harmless_answers_in_a_child(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    assert_int_equal(in_child(ask_everything, live, lock), 0);
    assert_undisturbed(live, lock);
}

static void a_child_that_frees_and_closes_releases_nothing(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    assert_int_equal(in_child(free_and_close, live, lock), 0);
    assert_int_equal(in_child(leave_and_close, live, lock), 0);
    assert_undisturbed(live, lock);
}

static void a_child_that_exits_releases_nothing(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    assert_int_equal(in_child(exit_at_once, live, lock), 0);
    assert_undisturbed(live, lock);
}

static void a_child_opens_a_client_of_its_own(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);

    assert_int_equal(in_child(use_a_client_of_its_own, live, lock), 0);
    assert_undisturbed(live, lock);
}

/* The keeper is a thread of the parent's: the child has none of it. */
static void a_lock_that_is_being_renewed_survives_children(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock;

    options.ttl_ms = 1500;
    options.renew = true;
    lock = live_lock_with(live->client, NAME, &options);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(in_child(ask_everything, live, lock), 0);
        assert_int_equal(in_child(free_and_close, live, lock), 0);
        clock_sleep_ms(100);
        assert_true(ql_lock_valid_ms(lock) > 0);
    }
    assert_undisturbed(live, lock);
}

/* The child holds descriptors of ours; the connection must die all the same. */
static void
a_node_that_restarts_while_a_child_has_its_socket_comes_back(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, NAME, LONG);
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        char byte;

        close(ends[1]);
        _exit(read(ends[0], &byte, 1) != 0);
    }
    close(ends[0]);
    for (int i = 0; i < 3; i++) {
        for (unsigned j = 0; j < 3; j++)
            server_restart(servers_at(live->servers, j));
        assert_result(QL_OK, ql_lock_timed(lock, HANG_MS), lock);
        assert_result(QL_OK, ql_lock_release(lock), lock);
    }
    close(ends[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    ql_lock_free(lock);
    assert_keys_soon_by(live->client, live->servers, NAME, 0);
}

/* --- exec ----------------------------------------------------------------- */

/* The descriptors that stay open over an exec, one bit each. */
static unsigned long long inherited(void)
{
    unsigned long long found = 0;
    DIR *list = opendir("/proc/self/fd");
    struct dirent *entry;

    assert_non_null(list);
    while ((entry = readdir(list))) {
        int fd = atoi(entry->d_name);

        if (fd > 2 && fd < 64 && fd != dirfd(list) &&
            !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
            found |= 1ull << fd;
    }
    closedir(list);
    return found;
}

static void no_descriptor_is_inherited_over_exec(void **state)
{
    struct live *live = *state;
    unsigned long long before = inherited();
    ql_client *client = live_client(servers_list(live->servers), PATIENT_MS);
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock;

    options.renew = true;
    lock = live_lock_with(client, NAME, &options);
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    assert_true(ql_lock_lost_fd(lock) >= 0);
    assert_true(ql_client_fd(client) >= 0);
    assert_int_equal(inherited(), before);
    ql_lock_free(lock);
    ql_client_close(client);
}

/* Counted by the one who was executed, not by us. */
static void an_executed_child_has_none_of_our_sockets(void **state)
{
    struct live *live = *state;
    ql_lock *lock = held_lock(live);
    char counted[16] = "";
    FILE *pipe;

    pipe = popen("ls -l /proc/self/fd | grep -c socket:", "re");
    assert_non_null(pipe);
    assert_non_null(fgets(counted, sizeof(counted), pipe));
    (void)pclose(pipe);
    /* The test's own connections to the servers are not marked. */
    if (atoi(counted) > 3)
        fail_msg("%s sockets are open in the child", counted);
    ql_lock_free(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(3, everything_is_refused_in_a_child),
        ON(3, questions_have_harmless_answers_in_a_child),
        ON(3, a_child_that_frees_and_closes_releases_nothing),
        ON(3, a_child_that_exits_releases_nothing),
        ON(3, a_child_opens_a_client_of_its_own),
        ON(3, a_lock_that_is_being_renewed_survives_children),
        ON(3, a_node_that_restarts_while_a_child_has_its_socket_comes_back),
        ON(3, no_descriptor_is_inherited_over_exec),
        ON(3, an_executed_child_has_none_of_our_sockets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
