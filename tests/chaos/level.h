/* SPDX-License-Identifier: BSD-2-Clause */
/* The levels' names on a command line. */
#ifndef TESTS_CHAOS_LEVEL_H
#define TESTS_CHAOS_LEVEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quorlock/quorlock.h>

static inline enum ql_level level_of(const char *name)
{
    if (!strcmp(name, "plain"))
        return QL_LEVEL_PLAIN;
    if (!strcmp(name, "guarded"))
        return QL_LEVEL_GUARDED;
    if (!strcmp(name, "strict"))
        return QL_LEVEL_STRICT;
    fprintf(stderr, "no such level: %s\n", name);
    exit(64);
}

#endif
