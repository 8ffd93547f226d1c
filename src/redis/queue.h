/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests in the order in which they are sent and answered: a ring that
 * knows how far it has been written. Debts wait in one of their own.
 */
#ifndef QL_REDIS_QUEUE_H
#define QL_REDIS_QUEUE_H

#include <sys/uio.h>

#include "redis/request.h"

/* What an owner may have unanswered; releases may take as much again, so that
 * there is room for the release of whatever was taken. */
#define QL_QUEUE_REQUESTS 16384
#define QL_QUEUE_BYTES    ((size_t)8 << 20)
#define QL_DEBT_REQUESTS  1024
#define QL_DEBT_BYTES     ((size_t)8 << 20)

struct ql_queue {
    struct ql_request *ring;
    unsigned capacity; /* a power of two, or 0 */
    unsigned head;
    unsigned count;
    unsigned written; /* so many from the head have left wholly */
    size_t offset;    /* and so many bytes of the next one */
    size_t bytes;     /* of all */
    unsigned releases;
};

static inline struct ql_request *ql_queue_at(const struct ql_queue *queue,
                                             unsigned index)
{
    return &queue->ring[(queue->head + index) & (queue->capacity - 1)];
}

/* Has room for `more` requests from now on. False: out of memory. */
bool ql_queue_reserve(struct ql_queue *queue, const ql_allocator *mem,
                      unsigned more);

/* Takes the request over, into room that was reserved. */
void ql_queue_push(struct ql_queue *queue, const struct ql_request *request);

/* Gives the first request, or the one at `index`, to the caller. */
struct ql_request ql_queue_pop(struct ql_queue *queue);
struct ql_request ql_queue_remove(struct ql_queue *queue, unsigned index);

/* Whether any byte, or every byte, of it has left this process. */
bool ql_queue_begun(const struct ql_queue *queue, unsigned index);
bool ql_queue_written(const struct ql_queue *queue, unsigned index);

/* What is to be written next: as many pieces as fit, none but the greeting's
 * if `greeting`. */
int ql_queue_pieces(const struct ql_queue *queue, struct iovec *pieces, int max,
                    bool greeting);
void ql_queue_wrote(struct ql_queue *queue, size_t bytes);

/* Whether a release of this token is among those from `index` on. */
bool ql_queue_releases(const struct ql_queue *queue, unsigned index,
                       const char *token);

void ql_queue_free(struct ql_queue *queue, const ql_allocator *mem);

#endif
