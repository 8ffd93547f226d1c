/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches over a child that runs under a lock: it is stopped before the lock
 * can be somebody else's, with or without a network.
 */
#ifndef QL_CLI_SUPERVISE_H
#define QL_CLI_SUPERVISE_H

#include "cli/family.h"
#include "cli/session.h"
#include "cli/terminal.h"

/* How a lock's end is met; made once from the options. */
struct stop_plan {
    enum on_lost on_lost;
    int64_t kill_after_ms; /* between TERM and KILL */
    int64_t margin_ms;     /* KILL comes so long before the validity ends */
    int64_t notice_ms;     /* loss is acted upon so long before it */
    int64_t useful_ms;     /* no child is started with less validity */
};

/* Returns 0, or the exit status after saying what does not go together. */
int stop_plan_make(struct stop_plan *ret_plan, const struct options *options);

/* When it must all be over, for a lock that is valid as long as it says now. */
int64_t stop_plan_deadline_ns(const struct stop_plan *plan,
                              const ql_lock *lock);

struct supervision {
    struct session *session;
    ql_lock *lock;
    const struct stop_plan *plan;
    struct terminal *terminal;
    const struct family *family;
    pid_t child;           /* leads its process group */
    int64_t hold_until_ns; /* --hold-min */

    /* What has come of it. */
    int status; /* of the child, as wait(2) has it */
    int lost;   /* 0, or the result with which the lock was lost */

    /* Where we are. */
    bool child_gone;
    bool family_gone; /* and all its descendants */
    bool said_kept;   /* that the lock outlives the child */
    enum { STOP_NOT, STOP_TERM, STOP_KILL } stop;
    int64_t valid_until_ns;
    int64_t kill_at_ns;
    int64_t kill_again_ms;
};

/* Returns when the child and all its descendants are gone, and the lock need
 * not be held any longer. The caller fills in the first part. */
void supervise(struct supervision *supervision);

#endif
