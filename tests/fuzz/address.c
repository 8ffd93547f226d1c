/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: any text as a list of servers. It is refused with a sentence, or
 * yields addresses that make sense; a password shows up in neither.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "redis/address.h"

static void check_address(const struct ql_address *address)
{
    require((address->host != NULL) != (address->path != NULL));
    require(address->display && address->display[0]);
    if (address->host)
        require(address->port >= 1 && address->port <= 65535);
    if (address->password && strlen(address->password) >= 8)
        require(!strstr(address->display, address->password) ||
                (address->host && strstr(address->host, address->password)) ||
                (address->path && strstr(address->path, address->password)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *list = malloc(size + 1), error[200];
    const char *cursor = list, *text;
    size_t len;

    memcpy(list, data, size);
    list[size] = '\0';
    while ((text = ql_address_next(&cursor, &len))) {
        struct ql_address address;
        int rc;

        require(len > 0);
        memset(error, 0, sizeof(error));
        rc = ql_address_parse(&address, &fuzz_memory, text, len, error,
                              sizeof(error));
        if (rc == QL_OK) {
            check_address(&address);
            ql_address_free(&address, &fuzz_memory);
        } else {
            require(rc == QL_E_INVALID && error[0]);
            require(memchr(error, '\0', sizeof(error)));
        }
    }
    free(list);
    return 0;
}
