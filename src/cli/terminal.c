/* SPDX-License-Identifier: BSD-2-Clause */
/* Job control for one child. TTOU is blocked (signals.c), so that we may do
 * this from the background. */
#include "cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

void terminal_open(struct terminal *terminal)
{
    terminal->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    terminal->lent = terminal->was_lent = false;
    terminal->wanted_by = 0;
}

void terminal_close(struct terminal *terminal)
{
    if (terminal->fd >= 0)
        close(terminal->fd);
    terminal->fd = -1;
}

static bool is_ours(const struct terminal *terminal)
{
    return terminal->fd >= 0 && tcgetpgrp(terminal->fd) == getpgrp();
}

bool terminal_wanted(const struct terminal *terminal)
{
    struct stat out;

    return is_ours(terminal) && isatty(STDIN_FILENO) &&
           !(fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode));
}

bool terminal_lend(struct terminal *terminal, pid_t group)
{
    if (terminal->lent)
        return true;
    if (is_ours(terminal))
        terminal->lent = tcsetpgrp(terminal->fd, group) == 0;
    else /* the child may have been quicker to take it */
        terminal->lent = terminal->fd >= 0 && tcgetpgrp(terminal->fd) == group;
    terminal->was_lent = terminal->was_lent || terminal->lent;
    return terminal->lent;
}

void terminal_retry(struct terminal *terminal)
{
    pid_t group = terminal->wanted_by;

    if (!group || !terminal_lend(terminal, group))
        return;
    terminal->wanted_by = 0;
    kill(-group, SIGCONT);
}

bool terminal_stopped(struct terminal *terminal, pid_t group, int signal)
{
    if (signal == SIGTSTP && terminal->lent) {
        kill(-group, SIGCONT);
        return true;
    }
    if (signal == SIGTTIN || signal == SIGTTOU) {
        terminal->wanted_by = group;
        terminal_retry(terminal);
    }
    return false;
}

void terminal_take(struct terminal *terminal)
{
    if (terminal->lent)
        tcsetpgrp(terminal->fd, getpgrp());
    terminal->lent = false;
    terminal->wanted_by = 0;
}
