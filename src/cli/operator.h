/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the operators' verbs share: the nodes of the list, questions to the
 * person, and waiting where he can see it.
 */
#ifndef QL_CLI_OPERATOR_H
#define QL_CLI_OPERATOR_H

#include "admin/group.h"
#include "cli/credentials.h"
#include "cli/options.h"

struct operator
{
    const struct options *options;
    struct admin admin;
    struct ql_group group; /* as judged last */
    struct credentials credentials;
};

/* Reads the list; connects to nothing. Returns 0, or the exit status after
 * saying why. operator_close() is for both. */
int operator_open(struct operator* operator, const struct options * options);
void operator_close(struct operator* operator);

/* How a node is called. */
const char *operator_address(const struct operator* operator, unsigned index);

/*
 * Says of every node that cannot be part of a group why not, `except` (an
 * index, or -1) aside. Returns 0, or the exit status.
 */
int operator_refuse_unfit(const struct operator* operator, int except);

/* A node could not be asked: says so. Returns the exit status. */
int operator_say_failed(const struct operator* operator, unsigned index,
                        const char *what);

/* The exit status that goes with a node's verdict. */
int operator_code(ql_verdict verdict);

/* Whether to go on: asks at a terminal; elsewhere --yes must have been given.
 * Returns 0, or the exit status after saying so. */
int operator_confirm(const struct operator* operator, const char * question);

/*
 * Waits until it is `until_ns`, and shows how long it will take: "waiting 42 s
 * for WHAT".
 */
void operator_wait(const struct operator* operator, int64_t until_ns,
                   const char *what);

#endif
