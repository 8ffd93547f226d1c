/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where one server is, and how to log in: parsed from a URL, a host with a
 * port, or a path. Text in, structure out; nothing is resolved here.
 */
#ifndef QL_REDIS_ADDRESS_H
#define QL_REDIS_ADDRESS_H

#include "base/mem.h"

#define QL_DEFAULT_PORT 6379

struct ql_address {
    char *display; /* as listed, but without user and password */
    char *host;    /* NULL: a unix socket */
    char *path;    /* of the unix socket; NULL: TCP */
    char *user;    /* NULL: none given */
    char *password;
    unsigned port;
    unsigned db;
};

/*
 * Parses `len` bytes of `text`. Returns QL_OK, QL_E_NOMEM, or QL_E_INVALID and
 * in `error` a sentence that shows the address without its password.
 */
int ql_address_parse(struct ql_address *ret_address, const ql_allocator *mem,
                     const char *text, size_t len, char *error, size_t size);

void ql_address_free(struct ql_address *address, const ql_allocator *mem);

/*
 * The next address in a list separated by commas or white space, from
 * `*cursor` on: its start, its length in `*ret_len`; NULL at the end. Empty
 * elements are passed over.
 */
const char *ql_address_next(const char **cursor, size_t *ret_len);

#endif
