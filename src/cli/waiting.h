/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waiting for the lock, with eyes open: for signals, and to say for whom.
 */
#ifndef QL_CLI_WAITING_H
#define QL_CLI_WAITING_H

#include "cli/session.h"

/*
 * Acquires the lock as the options say. A lock that has less than `useful_ms`
 * left by then is given back, and counts as a split vote. Returns the library's
 * last result, and in *ret_signal the signal that ended the waiting, or 0; the
 * lock can be held all the same then.
 */
int waiting_acquire(const struct session *session, ql_lock *lock,
                    int64_t useful_ms, int *ret_signal);

/* What an acquisition that failed means for the command: says so, and returns
 * the exit status. */
int waiting_failed(const struct session *session, const ql_lock *lock,
                   int result, int signal);

#endif
