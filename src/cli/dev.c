/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock dev: runs a command, or a shell, with servers of its own. For
 * trying, for demonstrations and for tests.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/child.h"
#include "cli/dev_servers.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/init.h"
#include "cli/say.h"
#include "cli/verb.h"

#define PATIENCE_MS 5000 /* with a command that was asked to end */

enum { SET_SERVERS, SET_PIDS, SET_DIRECTORY, SET_COUNT };

struct dev {
    const struct options *options;
    struct signals signals;
    struct terminal terminal;
    struct dev_servers servers;
    pid_t child;
    bool child_gone;
    int status;
    int64_t kill_at_ns; /* INT64_MAX: nobody has asked it to end */
};

/* A server that ends is not our concern: perhaps somebody tries that out. But
 * its number is free then, and must not be killed. */
static void note_end(struct dev *dev, pid_t pid, int status)
{
    if (pid == dev->child) {
        dev->child_gone = true;
        dev->status = status;
        terminal_take(&dev->terminal);
    }
    if (pid == dev->servers.sweeper)
        dev->servers.sweeper = 0;
    for (unsigned i = 0; i < dev->servers.count; i++)
        if (dev->servers.pids[i] == pid)
            dev->servers.pids[i] = 0;
}

static void reap(struct dev *dev)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (!WIFSTOPPED(status))
            note_end(dev, pid, status);
        else if (pid == dev->child)
            terminal_stopped(&dev->terminal, pid, WSTOPSIG(status));
    }
}

/* An interactive shell ignores TERM, so patience ends; at once when asked
 * twice. */
static void forward(struct dev *dev, int signal)
{
    bool again = dev->kill_at_ns != INT64_MAX;

    kill(-dev->child, signal);
    if (signal != SIGTERM && signal != SIGHUP)
        return;
    dev->kill_at_ns = now_ns() + (again ? 0 : PATIENCE_MS * NS_PER_MS);
}

static void take_signals(struct dev *dev)
{
    int signal;

    while ((signal = signals_next(&dev->signals))) {
        if (signal == SIGCHLD)
            reap(dev);
        else if (dev->child_gone || signal == SIGTTOU || signal == SIGTSTP)
            continue;
        else if (signal != SIGWINCH || !dev->terminal.lent)
            forward(dev, signal);
    }
}

static int time_to_sleep(const struct dev *dev)
{
    int64_t left_ms = (dev->kill_at_ns - now_ns()) / NS_PER_MS + 1;

    if (dev->terminal.wanted_by && left_ms > TERMINAL_RETRY_MS)
        return TERMINAL_RETRY_MS;
    if (dev->kill_at_ns == INT64_MAX)
        return -1;
    return left_ms > 0 ? (int)left_ms : 0;
}

static void watch(struct dev *dev)
{
    struct pollfd signals = {.fd = dev->signals.fd, .events = POLLIN};

    reap(dev);
    while (!dev->child_gone) {
        poll(&signals, 1, time_to_sleep(dev));
        take_signals(dev);
        terminal_retry(&dev->terminal);
        if (!dev->child_gone && now_ns() >= dev->kill_at_ns) {
            kill(-dev->child, SIGKILL);
            dev->kill_at_ns = now_ns() + PATIENCE_MS * NS_PER_MS;
        }
    }
}

/* QUORLOCK_DEV_PIDS lets a script kill or freeze servers. */
static int make_variables(const struct dev *dev, char *set[SET_COUNT])
{
    char *urls = dev_servers_urls(&dev->servers);
    char *pids = dev_servers_pids(&dev->servers);
    int failed = !urls || !pids;

    memset(set, 0, SET_COUNT * sizeof(set[0]));
    failed = failed ||
             asprintf(&set[SET_SERVERS], "QUORLOCK_SERVERS=%s", urls) < 0 ||
             asprintf(&set[SET_PIDS], "QUORLOCK_DEV_PIDS=%s", pids) < 0 ||
             asprintf(&set[SET_DIRECTORY], "QUORLOCK_DEV_DIR=%s",
                      dev->servers.directory) < 0;
    free(urls);
    free(pids);
    return failed ? -1 : 0;
}

static int start_failed(const char *command, int failure, int error)
{
    if (failure == CHILD_EXEC) {
        say("%s: %s", command, strerror(error));
        return child_exec_code(error);
    }
    say("cannot start a process: %s", strerror(error));
    return EXIT_OS;
}

static int start(struct dev *dev, char *const *command)
{
    char *set[SET_COUNT], **env = NULL;
    int failure = CHILD_SYSTEM, error = ENOMEM;

    if (!make_variables(dev, set))
        env = environment_with(set, SET_COUNT);
    if (env) {
        struct child_plan plan = {
            .argv = command,
            .env = env,
            .signals = &dev->signals,
            .terminal = terminal_wanted(&dev->terminal) ? &dev->terminal : NULL,
            .input = -1,
            .output = -1,
        };

        failure = child_start(&plan, &dev->child);
        error = errno;
    }
    free(env);
    for (int i = 0; i < SET_COUNT; i++)
        free(set[i]);
    return failure ? start_failed(command[0], failure, error) : 0;
}

static int run_command(struct dev *dev, char **command)
{
    char *shell[] = {getenv("SHELL"), NULL};
    char usual[] = "/bin/sh";
    int code;

    if (!shell[0] || !*shell[0])
        shell[0] = usual;
    if (!*command && !dev->options->quiet)
        say("%u servers, QUORLOCK_SERVERS names them; they end with this shell",
            dev->servers.count);
    code = start(dev, *command ? command : shell);
    if (code)
        return code;
    watch(dev);
    return child_code(dev->status);
}

/* So that every level can be tried. */
static int init_group(const struct dev *dev)
{
    struct options options;
    int code = EXIT_OS;

    options_init(&options);
    options.servers = dev_servers_urls(&dev->servers);
    if (options.servers)
        code = init_servers(&options);
    else
        say("out of memory");
    options_free(&options);
    return code;
}

int verb_dev(const struct options *options, int argc, char **argv)
{
    struct dev dev = {.options = options, .kill_at_ns = INT64_MAX};
    int code;

    (void)argc;
    if (signals_open(&dev.signals)) {
        say("cannot listen for signals: %s", strerror(errno));
        return EXIT_OS;
    }
    terminal_open(&dev.terminal);
    code =
        dev_servers_start(&dev.servers, (unsigned)options->nodes, &dev.signals);
    if (!code)
        code = init_group(&dev);
    if (!code)
        code = run_command(&dev, argv);
    dev_servers_stop(&dev.servers);
    terminal_close(&dev.terminal);
    return code;
}
