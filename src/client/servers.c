/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of servers that a client is opened with. */
#include <stdio.h>

#include "client/client.h"

static int listed_twice(const struct ql_address *address, unsigned count,
                        char *error, size_t size)
{
    for (unsigned i = 0; i + 1 < count; i++)
        if (strcmp(address[i].display, address[count - 1].display) == 0) {
            snprintf(error, size,
                     "%s is listed twice: each node must be a server of its "
                     "own",
                     address[i].display);
            return QL_E_INVALID;
        }
    return QL_OK;
}

/* The number of addresses put into `address`, or a negative result. */
int ql_servers_parse(struct ql_address *address, const ql_allocator *mem,
                     const char *servers, char *error, size_t size)
{
    const char *text;
    size_t len;
    unsigned count = 0;
    int rc = QL_OK;

    while (rc == QL_OK && (text = ql_address_next(&servers, &len))) {
        if (count == QL_NODES_MAX) {
            snprintf(error, size, "more than %d servers are listed",
                     QL_NODES_MAX);
            rc = QL_E_INVALID;
            break;
        }
        rc = ql_address_parse(&address[count], mem, text, len, error, size);
        if (rc == QL_OK)
            rc = listed_twice(address, ++count, error, size);
    }
    if (rc == QL_OK && count == 0) {
        snprintf(error, size, "no server is listed");
        rc = QL_E_INVALID;
    }
    if (rc == QL_OK)
        return (int)count;
    for (unsigned i = 0; i < count; i++)
        ql_address_free(&address[i], mem);
    return rc;
}

int ql_servers_check(const char *servers, char *error, size_t size)
{
    struct ql_address address[QL_NODES_MAX];
    int count;

    if (size)
        error[0] = '\0';
    count = ql_servers_parse(address, &ql_default_allocator,
                             servers ? servers : "", error, size);
    for (int i = 0; i < count; i++)
        ql_address_free(&address[i], &ql_default_allocator);
    return count;
}
