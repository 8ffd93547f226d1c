/* SPDX-License-Identifier: BSD-2-Clause */
/* A lock's handle as a piece of memory in its client's list. */
#include "client/client.h"
#include "core/time.h"

/* One piece of memory: the handle, its machine, its notes, its name. */
struct ql_lock *ql_handle_new(struct ql_client *client, const char *name,
                              size_t name_len)
{
    unsigned nodes = client->rules.nodes;
    size_t machine = ql_machine_size(nodes);
    size_t notes = nodes * sizeof(struct ql_note);
    size_t head = offsetof(struct ql_lock, machine) + machine;
    struct ql_lock *lock;

    head += -head % _Alignof(struct ql_note);
    lock = ql_mem_zalloc(&client->mem, head + notes + name_len);
    if (!lock)
        return NULL;
    lock->note = (struct ql_note *)((char *)lock + head);
    lock->name = (char *)lock + head + notes;
    lock->name_len = name_len;
    memcpy(lock->name, name, name_len);
    lock->client = client;
    lock->lost_fd = -1;
    lock->timer.deadline = QL_NEVER;
    return lock;
}

void ql_handle_link(struct ql_lock *lock)
{
    struct ql_client *client = lock->client;

    lock->next = client->locks;
    lock->link = &client->locks;
    if (lock->next)
        lock->next->link = &lock->next;
    client->locks = lock;
}

/* The end of a handle that was freed, when no answer names it any more. */
void ql_handle_dispose(struct ql_lock *lock)
{
    *lock->link = lock->next;
    if (lock->next)
        lock->next->link = lock->link;
    explicit_bzero(lock->token, sizeof(lock->token));
    ql_mem_free(&lock->client->mem, lock);
}
