/* SPDX-License-Identifier: BSD-2-Clause */
/* A process's memory: it ends with the process, whatever that left behind. */
#include <assert.h>
#include <stdlib.h>

#include "client.h"

struct block {
    struct block *next, **link;
    _Alignas(max_align_t) char bytes[];
};

static struct block *block_of(void *memory)
{
    return (struct block *)((char *)memory - offsetof(struct block, bytes));
}

static void *link_block(struct sim_client *c, struct block *block)
{
    assert(block);
    block->next = c->blocks;
    block->link = &c->blocks;
    if (block->next)
        block->next->link = &block->next;
    c->blocks = block;
    return block->bytes;
}

static void unlink_block(struct block *block)
{
    *block->link = block->next;
    if (block->next)
        block->next->link = block->link;
}

static void *allocate(size_t size, void *arg)
{
    return link_block(arg, malloc(sizeof(struct block) + size));
}

static void release(void *memory, void *arg)
{
    (void)arg;
    if (!memory)
        return;
    unlink_block(block_of(memory));
    free(block_of(memory));
}

static void *resize(void *memory, size_t size, void *arg)
{
    struct block *block;

    if (!memory)
        return allocate(size, arg);
    block = block_of(memory);
    unlink_block(block);
    return link_block(arg, realloc(block, sizeof *block + size));
}

void client_memory_open(struct sim_client *c)
{
    c->memory = (ql_allocator){allocate, resize, release, c};
}

void client_memory_free(struct sim_client *c)
{
    while (c->blocks)
        release(c->blocks->bytes, c);
}
