/* SPDX-License-Identifier: BSD-2-Clause */
/* Wakes the thread that waits in the loop, or the keeper, to look again. */
#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "client/client.h"

void ql_loop_wake(struct ql_client *client)
{
    uint64_t one = 1;

    if (write(client->wake_fd, &one, sizeof(one)) < 0)
        assert(errno == EAGAIN); /* it is readable already */
}

void ql_keeper_wake(struct ql_client *client)
{
    uint64_t one = 1;

    if (client->keeper_runs &&
        write(client->keeper_fd, &one, sizeof(one)) < 0) {
        /* It is readable already, and the keeper will look. */
    }
}
