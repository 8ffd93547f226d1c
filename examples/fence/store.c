/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stores what comes on its standard input in a file, unless the writer is late.
 *
 *     quorlock run --level guarded prices -- sh -c 'fetch | store prices.txt'
 *
 *     store FILE [TOKEN]     the fencing token; $QUORLOCK_FENCE
 *
 * Exit codes: 0 stored; 1 refused, a later holder was here; 2 anything else.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fenced_file.h"

static char *read_all(FILE *from, size_t *ret_size)
{
    size_t size = 0, room = 0, got;
    char *data = NULL;

    do {
        if (size == room) {
            char *larger = realloc(data, room = room ? 2 * room : 4096);

            if (!larger) {
                free(data);
                return NULL;
            }
            data = larger;
        }
        got = fread(data + size, 1, room - size, from);
        size += got;
    } while (got > 0);
    if (ferror(from)) {
        free(data);
        return NULL;
    }
    *ret_size = size;
    return data;
}

static int store(const char *path, uint64_t token)
{
    uint64_t seen;
    size_t size;
    char *data = read_all(stdin, &size);
    enum fenced result = FENCED_FAILED;

    if (data)
        result = fenced_file_write(path, token, data, size, &seen);
    free(data);
    if (result == FENCED_FAILED)
        perror(path);
    if (result == FENCED_REFUSED)
        fprintf(stderr,
                "%s: refused: token %" PRIu64 " is late, %" PRIu64
                " was here\n",
                path, token, seen);
    return result == FENCED_DONE ? 0 : result == FENCED_REFUSED ? 1 : 2;
}

int main(int argc, char **argv)
{
    const char *text = argc > 2 ? argv[2] : getenv("QUORLOCK_FENCE");
    uint64_t token = text ? fenced_token(text) : 0;

    if (argc < 2 || argc > 3 || !token) {
        fprintf(stderr, "usage: store FILE [TOKEN] <data\n"
                        "The fencing token is that of a lock that is held, "
                        "$QUORLOCK_FENCE\n");
        return 2;
    }
    return store(argv[1], token);
}
