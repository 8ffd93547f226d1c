/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal, lent to the child while it runs.
 */
#ifndef QL_CLI_TERMINAL_H
#define QL_CLI_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

struct terminal {
    int fd;          /* of /dev/tty; -1: there is none */
    bool lent;       /* now */
    bool was_lent;   /* ever */
    pid_t wanted_by; /* a group that is stopped for want of it; 0: none */
};

void terminal_open(struct terminal *terminal);
void terminal_close(struct terminal *terminal);

/*
 * Whether the child gets the terminal from the start: stdin is one, it is ours
 * to give, and stdout is no pipe, because a pager at its other end may want the
 * terminal too.
 */
bool terminal_wanted(const struct terminal *terminal);

/* Gives it to process group `group`, if it is ours to give. */
bool terminal_lend(struct terminal *terminal, pid_t group);

/*
 * The leader of `group` was stopped by `signal`. If that was for want of the
 * terminal, it gets it, at once or when it is ours to give. If it was for ^Z it
 * goes on: true then. We cannot be suspended with it, and it alone would leave
 * the terminal to nobody.
 */
bool terminal_stopped(struct terminal *terminal, pid_t group, int signal);

/* Tries again for a group that wants it. Nobody tells us when the shell has
 * moved us to the foreground, so call it every TERMINAL_RETRY_MS as long as
 * wanted_by is not 0. */
void terminal_retry(struct terminal *terminal);

#define TERMINAL_RETRY_MS 200

/* Takes it back, if it was lent. */
void terminal_take(struct terminal *terminal);

#endif
