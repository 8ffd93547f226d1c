/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells whoever waits, for whom and for how long. On a terminal this is one
 * line that is rewritten; elsewhere one line when the waiting begins.
 */
#ifndef QL_CLI_WAIT_NOTICE_H
#define QL_CLI_WAIT_NOTICE_H

#include <stdbool.h>

#include "cli/session.h"

struct wait_notice {
    const struct session *session;
    int64_t began_ns;
    bool terminal;   /* stderr is one */
    bool line_shown; /* on the terminal, without a newline */
    bool said_held;
    bool said_down;
};

void wait_notice_begin(struct wait_notice *notice,
                       const struct session *session);

/* An attempt has ended with `result`, and another will follow. */
void wait_notice_show(struct wait_notice *notice, const ql_lock *lock,
                      int result);

/* Removes the line from the terminal. */
void wait_notice_end(struct wait_notice *notice);

#endif
