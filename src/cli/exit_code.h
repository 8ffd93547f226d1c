/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the command's exit status means. The numbers are flock(1)'s and those of
 * sysexits.h where they have one; doc/quorlock.1 lists them for users.
 */
#ifndef QL_CLI_EXIT_CODE_H
#define QL_CLI_EXIT_CODE_H

#include "quorlock/quorlock.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_HELD = 1,          /* held by another; wait over; not ours, gone */
    EXIT_BAD_USAGE = 64,    /* the command line */
    EXIT_NO_QUORUM = 69,    /* too few nodes usable; cannot tell */
    EXIT_INTERNAL = 70,     /* a bug of ours */
    EXIT_OS = 71,           /* fork, memory, descriptors */
    EXIT_SPLIT = 75,        /* answers, but no majority in time */
    EXIT_LOST = 76,         /* lost while the command ran */
    EXIT_AUTH = 77,         /* password or ACL */
    EXIT_BAD_CONFIG = 78,   /* servers, environment */
    EXIT_CANNOT_EXEC = 126, /* as shells do */
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128, /* plus the signal's number */
};

/* The exit status for a result of the library that ends the command. */
int exit_code_of(int result);

#endif
