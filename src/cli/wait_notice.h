/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells whoever waits, for whom and for how long. On a terminal this is one
 * line that is rewritten; elsewhere one line when the waiting begins.
 */
#ifndef QL_CLI_WAIT_NOTICE_H
#define QL_CLI_WAIT_NOTICE_H

#include <stdbool.h>

#include "cli/holder.h"
#include "cli/say.h"
#include "cli/session.h"

struct wait_notice {
    const struct session *session;
    char name[SAY_NAME];
    int64_t began_ns;
    bool terminal;   /* stderr is one */
    bool line_shown; /* on the terminal, without a newline */
    bool said_held;
    bool said_down;

    /* What was learnt last. */
    int result;
    int64_t learnt_ns;
    struct holder holder;    /* nodes 0: not known */
    char label[QL_TEXT_MAX]; /* the holder's */
};

void wait_notice_begin(struct wait_notice *notice,
                       const struct session *session);

/* An attempt has ended with `result`, and another will follow. */
void wait_notice_learn(struct wait_notice *notice, const ql_lock *lock,
                       int result);

/* Brings the line on the terminal up to date. Returns when to do so next;
 * INT64_MAX: never. */
int64_t wait_notice_tick(struct wait_notice *notice);

/* Removes the line from the terminal. */
void wait_notice_end(struct wait_notice *notice);

#endif
