/* SPDX-License-Identifier: BSD-2-Clause */
/* One lock as the nodes have it, with its fencing number and lease record. */
#ifndef QL_CLI_LOCK_VIEW_H
#define QL_CLI_LOCK_VIEW_H

#include <jansson.h>

#include "admin/lock.h"
#include "cli/operator.h"

struct lock_view {
    struct admin_name name;
    struct admin_lock lock[QL_NODES_MAX];
    struct admin_holder holder;
    int result; /* as ql_lock_inspect() would say */
};

/* Asks all nodes. */
void lock_view_look(struct lock_view *view, struct operator* operator,
                    const struct admin_name * name);

/* From `lock` to `holder` and `result`. */
void lock_view_count(struct lock_view *view, const struct operator* operator);

/* "held by web3:4121:make for another 8.4 s, fence 12 (3 of 3 nodes)" */
#define LOCK_VIEW_TEXT 512
const char *lock_view_text(char text[LOCK_VIEW_TEXT],
                           const struct lock_view *view,
                           const struct operator* operator);

/* Headline and nodes on stdout; with a line that says if the nodes disagree. */
void lock_view_print(const struct lock_view *view,
                     const struct operator* operator);

/* {name, result, message, exit_code, quorum, state, fence, holder, nodes} */
json_t *lock_view_json(const struct lock_view *view,
                       const struct operator* operator);

/* "free", "held", "split", "unknown" */
const char *lock_view_state(const struct lock_view *view);

#endif
