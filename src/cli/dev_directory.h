/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The private directory of `quorlock dev`, which is removed whatever becomes of
 * us: by a process that does nothing but wait for our end.
 */
#ifndef QL_CLI_DEV_DIRECTORY_H
#define QL_CLI_DEV_DIRECTORY_H

#include "cli/dev_servers.h"

/* Makes directory and sweeper. Returns 0, or -1 with errno. */
int dev_directory_make(struct dev_servers *servers);

/* Has it removed, and waits until it is. */
void dev_directory_remove(struct dev_servers *servers);

#endif
