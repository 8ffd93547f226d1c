/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An environment for a child: ours, with some variables set.
 */
#ifndef QL_CLI_ENVIRONMENT_H
#define QL_CLI_ENVIRONMENT_H

#include <stddef.h>

/*
 * A copy of the environment in which `set`, `count` strings "NAME=value", win
 * over variables of the same names. A string "NAME" takes the variable out. The
 * strings are not copied. NULL: out of memory. To be freed with free().
 */
char **environment_with(char *const *set, size_t count);

#endif
