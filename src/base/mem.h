/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory through the caller's allocator. Every allocation may fail: callers
 * check for NULL.
 */
#ifndef QL_BASE_MEM_H
#define QL_BASE_MEM_H

#include <string.h>

#include "quorlock/quorlock.h"

static inline void *ql_mem_alloc(const ql_allocator *mem, size_t size)
{
    return mem->allocate(size, mem->arg);
}

static inline void *ql_mem_zalloc(const ql_allocator *mem, size_t size)
{
    void *memory = mem->allocate(size, mem->arg);

    return memory ? memset(memory, 0, size) : NULL;
}

static inline void *ql_mem_resize(const ql_allocator *mem, void *memory,
                                  size_t size)
{
    return mem->resize(memory, size, mem->arg);
}

static inline void ql_mem_free(const ql_allocator *mem, void *memory)
{
    if (memory)
        mem->release(memory, mem->arg);
}

/* A copy of `len` bytes with a NUL behind them. */
static inline char *ql_mem_copy(const ql_allocator *mem, const char *bytes,
                                size_t len)
{
    char *copy = ql_mem_alloc(mem, len + 1);

    if (!copy)
        return NULL;
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

#endif
