/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs. Each gets its own arguments, options taken out, and returns the
 * exit status.
 */
#ifndef QL_CLI_VERB_H
#define QL_CLI_VERB_H

#include "cli/options.h"

typedef int verb_fn(const struct options *options, int argc, char **argv);

verb_fn verb_run;
verb_fn verb_acquire;
verb_fn verb_extend;
verb_fn verb_release;
verb_fn verb_status;
verb_fn verb_dev;
verb_fn verb_init;
verb_fn verb_members;
verb_fn verb_check;
verb_fn verb_list;
verb_fn verb_force_release;

#endif
