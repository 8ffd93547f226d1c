/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All processes that descend from us. Together with
 * prctl(PR_SET_CHILD_SUBREAPER) nothing that the child starts gets away: what
 * loses its parent becomes our child, whatever group or session it is in.
 */
#ifndef QL_CLI_FAMILY_H
#define QL_CLI_FAMILY_H

#include <sys/types.h>

/*
 * Sends `signal` to every descendant that is not in process group `except` (0:
 * none is excepted), zombies aside. 0 sends nothing and only counts. Returns
 * how many there are, or -1 with errno.
 */
int family_signal(int signal, pid_t except);

#endif
