/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One child process in a process group of its own, which dies with us.
 */
#ifndef QL_CLI_CHILD_H
#define QL_CLI_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/signals.h"
#include "cli/terminal.h"

struct child_plan {
    char *const *argv; /* argv[0] is looked up in PATH */
    char *const *env;
    const struct signals *signals; /* put back in the child */
    struct terminal *terminal;     /* lent to it; NULL: not */
    int64_t not_after_ns; /* too late to start it then; 0: never too late */
    int input;            /* its stdin; -1: ours */
    int output;           /* its stdout and stderr; -1: ours */
};

/* What child_start() returns besides 0: why there is no child. */
enum child_failure {
    CHILD_EXEC = 1, /* the program cannot be run; errno says why */
    CHILD_LATE,     /* not_after_ns had come before the program began */
    CHILD_SYSTEM,   /* fork() or the like failed; errno says why */
};

/*
 * Starts it and waits until the program runs. Returns 0 and its process id,
 * which is that of its group too, or an enum child_failure.
 */
int child_start(const struct child_plan *plan, pid_t *ret_pid);

/* A wait(2) status as shells put it: the exit status, or 128 + the signal. */
int child_code(int status);

/* 127 when the program was not found, otherwise 126. */
int child_exec_code(int error);

#endif
