/* SPDX-License-Identifier: BSD-2-Clause */
/* The Lua scripts of lua/, as they were when this was built. */
#ifndef QL_REDIS_SCRIPT_H
#define QL_REDIS_SCRIPT_H

#include <stdbool.h>

#include "redis/node.h"

struct ql_script {
    const char *name;
    const char *sha1; /* 40 hex digits: what EVALSHA calls it by */
    const char *source;
};

/* The first ones are all that the plain level uses, the others all that the
 * guarded level does. */
#define QL_SCRIPTS_PLAIN 3
#define QL_SCRIPTS       9

const struct ql_script *ql_script_at(unsigned index);

/* The index of the script that carries out a command; -1: a plain command. */
int ql_script_of(enum ql_command_kind kind, bool guarded);

#endif
