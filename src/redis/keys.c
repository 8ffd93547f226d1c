/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A lease record's key has the lock's hash tag, so that a cluster keeps both in
 * one slot: the name's own tag if it has one, else the name is made the tag.
 */
#include "redis/keys.h"

#include <stdbool.h>
#include <string.h>

static const char untagged[] = QL_KEY_PREFIX "lock:{";
static const char tagged[] = QL_KEY_PREFIX "tagged:";

_Static_assert(sizeof untagged - 1 + 1 <= QL_KEY_MORE, "with the brace");
_Static_assert(sizeof tagged - 1 <= QL_KEY_MORE, "");

/* Redis hashes what stands between the first '{' and the next '}', if anything
 * does. */
static bool has_tag(const char *name, size_t len)
{
    const char *open = memchr(name, '{', len);
    const char *close;

    if (!open)
        return false;
    close = memchr(open, '}', len - (size_t)(open - name));
    return close && close > open + 1;
}

size_t ql_key_lease(char *out, const char *name, size_t len)
{
    bool own = has_tag(name, len);
    const char *prefix = own ? tagged : untagged;
    size_t at = strlen(prefix);

    memcpy(out, prefix, at);
    memcpy(out + at, name, len);
    at += len;
    if (!own)
        out[at++] = '}';
    return at;
}
