/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fuzz targets share: libFuzzer's entry, memory, and a check. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define require(condition)                                                     \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,         \
                    #condition);                                               \
            abort();                                                           \
        }                                                                      \
    } while (0)

static inline void *fuzz_allocate(size_t size, void *arg)
{
    (void)arg;
    return malloc(size);
}

static inline void *fuzz_resize(void *memory, size_t size, void *arg)
{
    (void)arg;
    return realloc(memory, size);
}

static inline void fuzz_release(void *memory, void *arg)
{
    (void)arg;
    free(memory);
}

static const ql_allocator fuzz_memory = {fuzz_allocate, fuzz_resize,
                                         fuzz_release, NULL};

#endif
