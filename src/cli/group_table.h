/* SPDX-License-Identifier: BSD-2-Clause */
/* A group and its nodes, as init and members show them. */
#ifndef QL_CLI_GROUP_TABLE_H
#define QL_CLI_GROUP_TABLE_H

#include <jansson.h>

#include "cli/operator.h"

/*
 * Prints the group as operator->group judges it, in text or JSON. `done` holds
 * a word for each node that says what was done to it; NULL: nothing was.
 * Returns 0, or an exit status if it could not be printed.
 */
int group_table_print(const struct operator* operator,
                      const char * const * done);

/* The newest config that a node in the list has; false: none has any. */
bool group_table_cfg(const struct operator* operator,
                     struct admin_cfg * ret_cfg,
                     const struct ql_record **ret_record);

/* One word for a node's record: "ready", "quarantine". */
const char *group_table_state(const struct ql_record *record);

/* {address, verdict, text, state, ...} of one node. */
json_t *group_table_node(const struct operator* operator, unsigned index);

#endif
