/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes that were put in at one end and are taken out at the other. */
#ifndef TESTS_SIM_BYTES_H
#define TESTS_SIM_BYTES_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    char *at; /* start of the memory */
    size_t room;
    size_t head; /* taken out so far */
    size_t tail; /* put in so far */
};

static inline size_t bytes_count(const struct bytes *bytes)
{
    return bytes->tail - bytes->head;
}

static inline char *bytes_first(const struct bytes *bytes)
{
    return bytes->at + bytes->head;
}

static inline void bytes_put(struct bytes *bytes, const void *from, size_t n)
{
    if (bytes->tail + n > bytes->room) {
        bytes->room = 2 * (bytes->tail + n) + 256;
        bytes->at = realloc(bytes->at, bytes->room);
        assert(bytes->at);
    }
    memcpy(bytes->at + bytes->tail, from, n);
    bytes->tail += n;
}

static inline void bytes_take(struct bytes *bytes, size_t n)
{
    bytes->head += n;
    if (bytes->head == bytes->tail)
        bytes->head = bytes->tail = 0;
}

static inline void bytes_free(struct bytes *bytes)
{
    free(bytes->at);
    *bytes = (struct bytes){0};
}

#endif
