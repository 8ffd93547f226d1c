/* SPDX-License-Identifier: BSD-2-Clause */
/* The keys that the guarded level keeps beside the lock. */
#ifndef QL_REDIS_KEYS_H
#define QL_REDIS_KEYS_H

#include <stddef.h>

/* All keys of ours begin so; no lock's name may. */
#define QL_KEY_PREFIX "quorlock:"
/* The node's own record, one in each database. */
#define QL_KEY_NODE "quorlock:node"

/* The key of a lock's lease record is longer than its name by at most this. */
#define QL_KEY_MORE 16

/*
 * Writes the key of the lease record of the lock `name`, without a NUL, into
 * room for len + QL_KEY_MORE bytes. Returns its length. Different names have
 * different keys.
 */
size_t ql_key_lease(char *out, const char *name, size_t len);

#endif
