/* SPDX-License-Identifier: BSD-2-Clause */
/* Names to socket addresses, by the system's resolver. */
#include "redis/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/un.h>

static ql_verdict resolve_path(struct ql_places *places,
                               const ql_allocator *mem, const char *path)
{
    struct sockaddr_un *address;

    places->list = ql_mem_zalloc(mem, sizeof *places->list);
    if (!places->list)
        return QL_V_NOMEM;
    places->count = 1;
    places->list->len = sizeof *address;
    address = (struct sockaddr_un *)&places->list->address;
    address->sun_family = AF_UNIX;
    /* The parser has seen to it that the path fits. */
    memcpy(address->sun_path, path, strlen(path) + 1);
    return QL_V_NONE;
}

static ql_verdict copy_list(struct ql_places *places, const ql_allocator *mem,
                            const struct addrinfo *list)
{
    unsigned count = 0;

    for (const struct addrinfo *one = list; one; one = one->ai_next)
        count++;
    places->list = ql_mem_zalloc(mem, count * sizeof *places->list);
    if (!places->list)
        return QL_V_NOMEM;
    for (const struct addrinfo *one = list; one; one = one->ai_next) {
        struct ql_place *place = &places->list[places->count++];

        memcpy(&place->address, one->ai_addr, one->ai_addrlen);
        place->len = one->ai_addrlen;
    }
    return QL_V_NONE;
}

ql_verdict ql_resolve(struct ql_places *ret_places, const ql_allocator *mem,
                      const struct ql_address *address, char *text, size_t size)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list;
    char port[8];
    ql_verdict verdict;
    int error;

    *ret_places = (struct ql_places){0};
    if (address->path)
        return resolve_path(ret_places, mem, address->path);
    snprintf(port, sizeof port, "%u", address->port);
    error = getaddrinfo(address->host, port, &hints, &list);
    if (error) {
        snprintf(text, size, "%s",
                 error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
        return error == EAI_MEMORY ? QL_V_NOMEM : QL_V_RESOLVE;
    }
    verdict = copy_list(ret_places, mem, list);
    freeaddrinfo(list);
    return verdict;
}

void ql_places_free(struct ql_places *places, const ql_allocator *mem)
{
    ql_mem_free(mem, places->list);
    *places = (struct ql_places){0};
}
