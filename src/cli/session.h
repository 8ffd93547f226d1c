/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every verb that talks to servers needs: the client made from the
 * options, and one place to wait for all that can happen.
 */
#ifndef QL_CLI_SESSION_H
#define QL_CLI_SESSION_H

#include "cli/options.h"
#include "cli/signals.h"
#include "quorlock/quorlock.h"

struct session {
    const struct options *options;
    const char *name; /* of the lock */
    ql_client *client;
    struct signals signals; /* fd -1: nobody listens */
    int timer;              /* -1 likewise */
    int lost_fd;            /* readable when the lock is lost; -1: none */
};

/* Either of these returns 0, or the exit status after saying why. */
int session_open(struct session *session, const struct options *options,
                 const char *name, const char *label);

/* Signals and time become events; before session_open(), so that the library's
 * thread has them blocked. */
int session_listen(struct session *session);

/* Lets go of all of it; a session that is all zero bytes aside, at any stage.
 */
void session_close(struct session *session);

/* The options that both ways of acquiring share. */
void session_lock_options(const struct session *session,
                          ql_lock_options *ret_lock_options);

/* Makes the handle; says why it cannot. */
int session_lock(struct session *session, ql_lock **ret_lock,
                 const ql_lock_options *lock_options);

/* Returns when a signal has come, the client wants to be processed, or it is
 * `until_ns` by now_ns(). INT64_MAX: never. */
void session_sleep(const struct session *session, int64_t until_ns);

/* Says so if the holder before us ended without releasing. */
void session_say_died(const struct session *session, const ql_lock *lock);

/* Says once what is wrong with nodes that work, but forget. */
void session_warn(const struct session *session);

#endif
