/* SPDX-License-Identifier: BSD-2-Clause */
/* Somebody's program, in C11, that knows nothing but the installed package. */
#include <quorlock/quorlock.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const char *servers = getenv("QUORLOCK_SERVERS");
    ql_client *client;
    ql_lock *lock;
    int result;

    result = ql_client_open(&client, servers ? servers : "", NULL);
    if (result != QL_OK) {
        printf("open: %s\n", ql_result_text(result));
        return 1;
    }
    result = ql_lock_new(&lock, client, "outside", NULL);
    if (result == QL_OK)
        result = ql_lock_acquire(lock);
    if (result == QL_OK && ql_lock_valid_ms(lock) <= 0)
        result = QL_E_LOST;
    if (result == QL_OK)
        result = ql_lock_release(lock);
    printf("%s\n",
           result == QL_OK ? "locked and released" : ql_lock_error(lock));
    ql_lock_free(lock);
    ql_client_close(client);
    return result != QL_OK;
}
