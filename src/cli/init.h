/* SPDX-License-Identifier: BSD-2-Clause */
/* Making servers a group, without a word if all goes well. */
#ifndef QL_CLI_INIT_H
#define QL_CLI_INIT_H

#include "cli/options.h"

/* Servers that need no password, and are not given any. Returns 0, or the exit
 * status after saying why. */
int init_servers(const struct options *options);

#endif
