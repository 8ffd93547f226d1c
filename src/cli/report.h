/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the nodes said, for people: who holds the lock, and one line per node.
 */
#ifndef QL_CLI_REPORT_H
#define QL_CLI_REPORT_H

#include <stdbool.h>

#include "cli/session.h"

/* Who holds the lock on most of the nodes that named a holder. */
struct holder {
    const char *label;    /* "" if the holder has none */
    int64_t remaining_ms; /* the longest that a node told; -1: none did */
    unsigned nodes;       /* that name this holder */
};

bool report_holder(const ql_lock *lock, unsigned nodes,
                   struct holder *ret_holder);

/* "held by web3:4121:report.sh for another 12.4 s": at most 160 bytes. */
#define HOLDER_TEXT 192
const char *report_holder_text(char text[HOLDER_TEXT],
                               const struct holder *holder);

/* Whether the node took part: it answered the question. */
bool report_usable(ql_verdict verdict);

/* One node in one line, the address padded to `width`. */
#define NODE_TEXT 512
const char *report_node_text(char text[NODE_TEXT], const ql_node_report *node,
                             int width);

/* How wide the addresses are. */
int report_width(const ql_lock *lock, unsigned nodes);

/* Says on stderr how the last operation failed, and what each node said if it
 * was the nodes' fault. In JSON if asked for. */
void report_failure(const struct session *session, const ql_lock *lock,
                    int result, int exit_code);

#endif
