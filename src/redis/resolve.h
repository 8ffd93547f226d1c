/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an address as listed to the addresses of its sockets. This may block
 * for as long as the resolver does, so it is done when a node is made and
 * never while an attempt for a lock runs.
 */
#ifndef QL_REDIS_RESOLVE_H
#define QL_REDIS_RESOLVE_H

#include <sys/socket.h>

#include "redis/address.h"

struct ql_place {
    struct sockaddr_storage address;
    socklen_t len;
};

/* All of them, IPv4 and IPv6, in the resolver's order. */
struct ql_places {
    unsigned count;
    struct ql_place *list;
};

/*
 * Fills in `ret_places`. QL_V_NONE; QL_V_NOMEM; or QL_V_RESOLVE and, in
 * `text`, the resolver's words. To resolve anew, put the new places where the
 * old ones were and free those.
 */
ql_verdict ql_resolve(struct ql_places *ret_places, const ql_allocator *mem,
                      const struct ql_address *address, char *text,
                      size_t size);

void ql_places_free(struct ql_places *places, const ql_allocator *mem);

#endif
