/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as the reports, for programs: one JSON object in one line.
 */
#ifndef QL_CLI_JSON_H
#define QL_CLI_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "cli/session.h"

/* A string of any bytes: what is no UTF-8 becomes '?'. */
json_t *json_text(const char *bytes);

/* {name, result, message, exit_code, quorum, holder, nodes: [...]} */
json_t *json_outcome(const struct session *session, const ql_lock *lock,
                     int result, int exit_code);

/* Adds `fence`: the fencing token, or null at the plain level. */
void json_set_fence(json_t *object, const ql_lock *lock);

/* Prints it with a newline and lets go of it. NULL: memory ran out, which is
 * said. Returns 0, or -1 if it was not printed. */
int json_print(json_t *object, FILE *out);

#endif
