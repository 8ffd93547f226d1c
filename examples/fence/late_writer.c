/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A careful holder that is stopped at the worst moment: it has the lock, it has
 * asked whether that is still valid, and it is stopped before it writes. When
 * it goes on, another holder has come and gone. late_writer.sh runs it.
 *
 *     late_writer FILE TEXT [pause] [unfenced]
 *
 * pause: stops itself, by SIGSTOP, between the question and the write; it could
 * as well have been the scheduler, swapping, or the move of a virtual machine.
 * unfenced: writes without a check, to see what comes of that.
 *
 * Exit codes: 0 written; 1 refused, a later holder was here; 2 anything else.
 */
#include <inttypes.h>
#include <quorlock/quorlock.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fenced_file.h"

#define TTL_MS 2000

static bool write_anyway(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool written = file && fputs(text, file) >= 0;

    return file && fclose(file) == 0 && written;
}

static int change(ql_lock *lock, const char *path, const char *text, bool check)
{
    uint64_t token = ql_lock_fence(lock), seen;
    enum fenced result;

    if (!check) {
        result = write_anyway(path, text) ? FENCED_DONE : FENCED_FAILED;
    } else {
        result = fenced_file_write(path, token, text, strlen(text), &seen);
    }
    if (result == FENCED_FAILED)
        perror(path);
    if (result == FENCED_REFUSED)
        printf("%s: refused: token %" PRIu64 " is late, %" PRIu64 " was here\n",
               text, token, seen);
    if (result == FENCED_DONE)
        printf("%s: written with token %" PRIu64 "\n", text, token);
    return result == FENCED_DONE ? 0 : result == FENCED_REFUSED ? 1 : 2;
}

static bool is_given(int argc, char **argv, const char *word)
{
    for (int i = 3; i < argc; i++)
        if (!strcmp(argv[i], word))
            return true;
    return false;
}

static int work(ql_lock *lock, int argc, char **argv)
{
    if (ql_lock_valid_ms(lock) <= 0)
        return 2;
    printf("%s: the lock is ours for %lld ms, and we write\n", argv[2],
           (long long)ql_lock_valid_ms(lock));
    fflush(stdout);
    if (is_given(argc, argv, "pause"))
        raise(SIGSTOP);
    return change(lock, argv[1], argv[2], !is_given(argc, argv, "unfenced"));
}

int main(int argc, char **argv)
{
    ql_client_options client_options = QL_CLIENT_OPTIONS_INIT;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_client *client;
    ql_lock *lock;
    int status = 2;

    if (argc < 3) {
        fprintf(stderr, "usage: late_writer FILE TEXT [pause] [unfenced]\n");
        return 2;
    }
    client_options.level = QL_LEVEL_GUARDED;
    options.ttl_ms = TTL_MS;
    if (ql_client_open(&client, getenv("QUORLOCK_SERVERS"), &client_options) !=
            QL_OK ||
        ql_lock_new(&lock, client, argv[1], &options) != QL_OK)
        return 2;
    if (ql_lock_acquire(lock) == QL_OK)
        status = work(lock, argc, argv);
    else
        fprintf(stderr, "%s\n", ql_lock_error(lock));
    /* QL_GONE would be no surprise to a holder that was paused. */
    ql_lock_release(lock);
    ql_lock_free(lock);
    ql_client_close(client);
    return status;
}
