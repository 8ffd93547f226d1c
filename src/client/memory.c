/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory, unless the caller brings his own. */
#include <stdlib.h>

#include "client/client.h"

static void *default_allocate(size_t size, void *arg)
{
    (void)arg;
    return malloc(size);
}

static void *default_resize(void *memory, size_t size, void *arg)
{
    (void)arg;
    return realloc(memory, size);
}

static void default_release(void *memory, void *arg)
{
    (void)arg;
    free(memory);
}

const ql_allocator ql_default_allocator = {default_allocate, default_resize,
                                           default_release, NULL};
