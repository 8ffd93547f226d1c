/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What extend and release share: a lock known by its token.
 */
#ifndef QL_CLI_ADOPT_H
#define QL_CLI_ADOPT_H

#include "cli/session.h"

/* Returns 0, or the exit status after saying why. */
int adopt_open(struct session *session, const struct options *options,
               const char *name, const char *token, ql_lock **ret_lock);

/*
 * Whether the lock is somebody else's, after QL_GONE: if so, says whose.
 * Otherwise it is nobody's, and that is said.
 */
void adopt_say_gone(const struct session *session, ql_lock *lock,
                    const char *what);

#endif
