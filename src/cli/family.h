/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All processes that descend from us. Together with
 * prctl(PR_SET_CHILD_SUBREAPER) nothing that the child starts gets away: what
 * loses its parent becomes our child, whatever group or session it is in.
 */
#ifndef QL_CLI_FAMILY_H
#define QL_CLI_FAMILY_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Descendants that were there before us: a shell that became us by `exec` may
 * have had children, such as the tee in `exec > >(tee log)`. They are none of
 * our business.
 */
struct family {
    struct stranger *strangers;
    size_t stranger_count;
};

/* Notes the strangers. Returns 0, or -1 with errno. */
int family_open(struct family *family);
void family_close(struct family *family);

/*
 * Sends `signal` to every descendant that is not in process group `except` (0:
 * none is excepted), zombies and strangers aside. 0 sends nothing and only
 * counts. Returns how many there are, or -1 with errno.
 */
int family_signal(const struct family *family, int signal, pid_t except);

#endif
