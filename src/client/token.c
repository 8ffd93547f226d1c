/* SPDX-License-Identifier: BSD-2-Clause */
#include "client/token.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define TOKEN_BYTES 20 /* as the Redlock page proposes */

int ql_random_bytes(void *bytes, size_t size)
{
    unsigned char *at = bytes;

    /* Asked for anew each time: bytes kept in store would come twice in a
     * forked child or a cloned virtual machine. */
    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        at += got;
        size -= (size_t)got;
    }
    return 0;
}

int ql_token_random(char token[QL_TOKEN_MAX + 1], void *arg)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[TOKEN_BYTES];

    (void)arg;
    if (ql_random_bytes(bytes, sizeof(bytes)) != 0)
        return -1;
    for (unsigned i = 0; i < TOKEN_BYTES; i++) {
        token[2 * i] = digits[bytes[i] >> 4];
        token[2 * i + 1] = digits[bytes[i] & 15];
    }
    token[2 * TOKEN_BYTES] = '\0';
    return 0;
}

bool ql_token_valid(const char *token)
{
    size_t len = strnlen(token, QL_TOKEN_MAX + 1);

    if (len == 0 || len > QL_TOKEN_MAX)
        return false;
    for (size_t i = 0; i < len; i++)
        if (token[i] <= ' ' || token[i] > '~')
            return false;
    return true;
}
