/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals through a signalfd. */
#include "cli/signals.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

/*
 * A signal that was ignored when we were started, as nohup(1) does it, stays
 * ignored although it is blocked: the kernel then drops it. TTOU is blocked so
 * that we can write and give the terminal away from the background; TSTP so
 * that we are not stopped while a lock wants renewal.
 */
static const struct {
    int number;
    bool ends; /* asks for our end when there is no child */
} SIGNALS[] = {
    {SIGTERM, true},  {SIGINT, true},   {SIGHUP, true},    {SIGQUIT, true},
    {SIGUSR1, true},  {SIGUSR2, true},  {SIGWINCH, false}, {SIGCHLD, false},
    {SIGCONT, false}, {SIGTSTP, false}, {SIGTTOU, false},
};

#define SIGNAL_COUNT (sizeof(SIGNALS) / sizeof(SIGNALS[0]))

int signals_open(struct signals *signals)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&set, SIGNALS[i].number);
    /* With CHLD ignored the kernel would keep the child's status to itself. */
    if (sigprocmask(SIG_BLOCK, &set, &signals->mask_before) ||
        sigaction(SIGCHLD, &usual, &signals->child_before) ||
        sigaction(SIGPIPE, &ignore, &signals->pipe_before))
        return -1;
    signals->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals->fd < 0 ? -1 : 0;
}

int signals_next(const struct signals *signals)
{
    struct signalfd_siginfo info;

    if (read(signals->fd, &info, sizeof(info)) != sizeof(info))
        return 0;
    return (int)info.ssi_signo;
}

void signals_restore(const struct signals *signals)
{
    sigaction(SIGCHLD, &signals->child_before, NULL);
    sigaction(SIGPIPE, &signals->pipe_before, NULL);
    sigprocmask(SIG_SETMASK, &signals->mask_before, NULL);
}

int signals_ends(int signal)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        if (SIGNALS[i].number == signal)
            return SIGNALS[i].ends;
    return 0;
}
