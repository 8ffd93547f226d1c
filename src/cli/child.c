/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts a child. Between fork() and exec() only what is safe there is called,
 * because the library may have a thread.
 */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/say.h"

/* What the child writes to its parent when it fails to become the program. */
struct complaint {
    int failure;
    int error;
};

static void complain(int pipe_end, int failure, int error)
{
    struct complaint complaint = {failure, error};

    if (write(pipe_end, &complaint, sizeof(complaint)) < 0)
        _exit(EXIT_OS);
    _exit(EXIT_CANNOT_EXEC);
}

static void redirect(const struct child_plan *plan)
{
    if (plan->input >= 0)
        dup2(plan->input, STDIN_FILENO);
    if (plan->output >= 0) {
        dup2(plan->output, STDOUT_FILENO);
        dup2(plan->output, STDERR_FILENO);
    }
}

static void become(const struct child_plan *plan, pid_t parent, int pipe_end)
{
    /* The parent may have died before the kernel was asked to tell us. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
        _exit(EXIT_OS);
    setpgid(0, 0);
    if (plan->terminal && plan->terminal->fd >= 0)
        tcsetpgrp(plan->terminal->fd, getpid());
    redirect(plan);
    signals_restore(plan->signals);
    if (plan->not_after_ns && now_ns() >= plan->not_after_ns)
        complain(pipe_end, CHILD_LATE, 0);
    execvpe(plan->argv[0], plan->argv, plan->env);
    complain(pipe_end, CHILD_EXEC, errno);
}

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Waits for word from the child, but not beyond `until_ns` (0: for ever). */
static bool word_comes(int pipe_end, int64_t until_ns)
{
    struct pollfd word = {.fd = pipe_end, .events = POLLIN};
    int count;

    do {
        int64_t left_ms = (until_ns - now_ns()) / NS_PER_MS + 1;

        if (left_ms < 0)
            left_ms = 0;
        if (left_ms > INT_MAX)
            left_ms = INT_MAX;
        count = poll(&word, 1, until_ns ? (int)left_ms : -1);
    } while (count < 0 && errno == EINTR);
    return count == 1;
}

/* The pipe closes by itself when the program runs. Loading it can hang, on a
 * file server that is down, and the lock does not wait for that. */
static int hear(const struct child_plan *plan, int pipe_end, pid_t pid)
{
    struct complaint complaint = {CHILD_LATE, 0};
    ssize_t size = sizeof(complaint);

    if (!word_comes(pipe_end, plan->not_after_ns)) {
        kill(pid, SIGKILL);
    } else {
        do
            size = read(pipe_end, &complaint, sizeof(complaint));
        while (size < 0 && errno == EINTR);
    }
    if (size != sizeof(complaint))
        return 0;
    reap(pid);
    errno = complaint.error;
    return complaint.failure;
}

int child_start(const struct child_plan *plan, pid_t *ret_pid)
{
    pid_t parent = getpid(), pid;
    int ends[2], failure, error;

    if (pipe2(ends, O_CLOEXEC))
        return CHILD_SYSTEM;
    pid = fork();
    if (pid == 0)
        become(plan, parent, ends[1]);
    error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = error;
        return CHILD_SYSTEM;
    }
    /* Both sides do this, because either may come first. */
    setpgid(pid, pid);
    if (plan->terminal)
        terminal_lend(plan->terminal, pid);
    failure = hear(plan, ends[0], pid);
    error = errno;
    close(ends[0]);
    if (failure && plan->terminal)
        terminal_take(plan->terminal);
    errno = error;
    if (!failure)
        *ret_pid = pid;
    return failure;
}

int child_code(int status)
{
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status)
                               : WEXITSTATUS(status);
}

int child_exec_code(int error)
{
    return error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND
                                               : EXIT_CANNOT_EXEC;
}
