/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who we are, for those who wait: "host:pid:program".
 */
#ifndef QL_CLI_LABEL_H
#define QL_CLI_LABEL_H

#include <sys/types.h>

#include "quorlock/quorlock.h"

#define LABEL_SIZE (QL_LABEL_MAX + 1)

/* `program` may be a path. Cut to what fits. Returns `label`. */
const char *label_make(char label[LABEL_SIZE], pid_t pid, const char *program);

/* The same for the process that has started us, because we are gone before
 * anybody reads it. */
const char *label_of_parent(char label[LABEL_SIZE]);

/* Whether a label from the command line will do; says what is wrong. */
int label_check(const char *label);

#endif
