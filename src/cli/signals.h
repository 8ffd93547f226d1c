/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals as something to read. They are blocked from the start, before the
 * library makes its thread, and what was there before is put back in the child.
 */
#ifndef QL_CLI_SIGNALS_H
#define QL_CLI_SIGNALS_H

#include <signal.h>

struct signals {
    int fd; /* signalfd */
    sigset_t mask_before;
    struct sigaction child_before; /* SIGCHLD */
    struct sigaction pipe_before;  /* SIGPIPE */
};

/* Returns 0, or -1 with errno. */
int signals_open(struct signals *signals);

/* The next signal that has come, or 0. */
int signals_next(const struct signals *signals);

/*
 * As it was before signals_open(). For the child, before it becomes somebody
 * else; safe after fork().
 */
void signals_restore(const struct signals *signals);

/* Whether the signal asks us to end, while there is no child to ask. */
int signals_ends(int signal);

#endif
