/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the nodes said, for people: one line per node, and why an operation
 * failed.
 */
#ifndef QL_CLI_REPORT_H
#define QL_CLI_REPORT_H

#include <stdbool.h>

#include "cli/session.h"

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
