/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal, lent to the child while it runs.
 */
#ifndef QL_CLI_TERMINAL_H
#define QL_CLI_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

struct terminal {
    int fd;        /* of /dev/tty; -1: there is none */
    bool lent;     /* now */
    bool was_lent; /* ever */
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

/* Takes it back, if it was lent. */
void terminal_take(struct terminal *terminal);

#endif
