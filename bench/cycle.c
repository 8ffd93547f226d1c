/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One client, one lock, nobody else: acquires and releases, over and over.
 *
 *     cycle LEVEL SERVERS CYCLES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quorlock/quorlock.h>

#include "measure.h"

static enum ql_level level_of(const char *word)
{
    if (strcmp(word, "plain") == 0)
        return QL_LEVEL_PLAIN;
    return strcmp(word, "strict") == 0 ? QL_LEVEL_STRICT : QL_LEVEL_GUARDED;
}

static int cycle(ql_lock *lock)
{
    int result = ql_lock_acquire(lock);

    return result == QL_OK ? ql_lock_release(lock) : result;
}

int main(int argc, char **argv)
{
    ql_client_options options = QL_CLIENT_OPTIONS_INIT;
    unsigned cycles = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    struct measure *measure;
    ql_client *client;
    ql_lock *lock;

    if (cycles == 0) {
        fprintf(stderr, "usage: cycle plain|guarded|strict SERVERS CYCLES\n");
        return 64;
    }
    options.level = level_of(argv[1]);
    if (ql_client_open(&client, argv[2], &options) != QL_OK ||
        ql_client_connect(client) != QL_OK ||
        ql_lock_new(&lock, client, "bench", NULL) != QL_OK) {
        fprintf(stderr, "cycle: cannot use the servers\n");
        return 69;
    }
    measure = measure_new(cycles);
    for (unsigned i = 0; i < cycles + measure_warm_up(cycles); i++) {
        int result;

        measure_begin(measure);
        result = cycle(lock);
        measure_end(measure);
        if (result != QL_OK) {
            fprintf(stderr, "cycle: %s\n", ql_lock_error(lock));
            return 1;
        }
    }
    measure_print(measure);
    printf("\n");
    free(measure);
    ql_lock_free(lock);
    ql_client_close(client);
    return 0;
}
