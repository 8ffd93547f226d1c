/* SPDX-License-Identifier: BSD-2-Clause */
/* Lock, work, unlock. Run it under `quorlock dev -- build/.../blocking`. */
#include <quorlock/quorlock.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    ql_client *client;
    ql_lock *lock;
    int result;

    if (ql_client_open(&client, getenv("QUORLOCK_SERVERS"), NULL) != QL_OK ||
        ql_lock_new(&lock, client, "order-42", NULL) != QL_OK) {
        fprintf(stderr, "set QUORLOCK_SERVERS, to db1:6379,db2:6379,db3:6379 "
                        "for instance\n");
        return 1;
    }
    result = ql_lock_acquire(lock); /* waits */
    if (result == QL_OK) {
        printf("order-42 is ours for %lld ms\n",
               (long long)ql_lock_valid_ms(lock));
        result = ql_lock_release(lock);
    }
    if (result != QL_OK)
        fprintf(stderr, "%s\n", ql_lock_error(lock));
    ql_lock_free(lock);
    ql_client_close(client);
    return result != QL_OK;
}
