/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring of requests. */
#include "redis/queue.h"

#include <assert.h>

#define CAPACITY_MIN 32

bool ql_queue_reserve(struct ql_queue *queue, const ql_allocator *mem,
                      unsigned more)
{
    unsigned capacity = queue->capacity ? queue->capacity : CAPACITY_MIN;
    struct ql_request *ring;

    if (queue->count + more <= queue->capacity)
        return true;
    while (capacity < queue->count + more)
        capacity *= 2;
    ring = ql_mem_alloc(mem, capacity * sizeof *ring);
    if (!ring)
        return false;
    for (unsigned i = 0; i < queue->count; i++)
        ring[i] = *ql_queue_at(queue, i);
    ql_mem_free(mem, queue->ring);
    queue->ring = ring;
    queue->capacity = capacity;
    queue->head = 0;
    return true;
}

static bool is_release(const struct ql_request *request)
{
    return request->job == QL_JOB_COMMAND && request->kind == QL_CMD_RELEASE;
}

void ql_queue_push(struct ql_queue *queue, const struct ql_request *request)
{
    assert(queue->count < queue->capacity);
    queue->count++;
    *ql_queue_at(queue, queue->count - 1) = *request;
    queue->bytes += request->size;
    queue->releases += is_release(request);
}

struct ql_request ql_queue_pop(struct ql_queue *queue)
{
    struct ql_request request;

    assert(queue->count > 0);
    request = *ql_queue_at(queue, 0);
    queue->head = (queue->head + 1) & (queue->capacity - 1);
    queue->count--;
    queue->bytes -= request.size;
    queue->releases -= is_release(&request);
    if (queue->written > 0)
        queue->written--;
    else
        queue->offset = 0;
    return request;
}

struct ql_request ql_queue_remove(struct ql_queue *queue, unsigned index)
{
    struct ql_request request = *ql_queue_at(queue, index);

    /* Half a request cannot be taken back from the stream. */
    assert(index < queue->count && !ql_queue_begun(queue, index));
    for (unsigned i = index + 1; i < queue->count; i++)
        *ql_queue_at(queue, i - 1) = *ql_queue_at(queue, i);
    queue->count--;
    queue->bytes -= request.size;
    queue->releases -= is_release(&request);
    return request;
}

bool ql_queue_begun(const struct ql_queue *queue, unsigned index)
{
    return index < queue->written ||
           (index == queue->written && queue->offset > 0);
}

bool ql_queue_written(const struct ql_queue *queue, unsigned index)
{
    return index < queue->written;
}

bool ql_queue_releases(const struct ql_queue *queue, unsigned index,
                       const char *token)
{
    for (; queue->releases > 0 && index < queue->count; index++) {
        const struct ql_request *request = ql_queue_at(queue, index);

        if (is_release(request) && strcmp(request->token, token) == 0)
            return true;
    }
    return false;
}

int ql_queue_pieces(const struct ql_queue *queue, struct iovec *pieces, int max,
                    bool greeting)
{
    size_t offset = queue->offset;
    int n = 0;

    for (unsigned i = queue->written; i < queue->count && n < max; i++) {
        struct ql_request *request = ql_queue_at(queue, i);

        if (greeting && request->job != QL_JOB_GREET)
            break;
        pieces[n].iov_base = request->bytes + offset;
        pieces[n].iov_len = request->size - offset;
        offset = 0;
        n++;
    }
    return n;
}

void ql_queue_wrote(struct ql_queue *queue, size_t bytes)
{
    bytes += queue->offset;
    while (queue->written < queue->count) {
        size_t size = ql_queue_at(queue, queue->written)->size;

        if (bytes < size)
            break;
        bytes -= size;
        queue->written++;
    }
    queue->offset = bytes;
}

void ql_queue_free(struct ql_queue *queue, const ql_allocator *mem)
{
    while (queue->count > 0) {
        struct ql_request request = ql_queue_pop(queue);

        ql_request_free(&request);
    }
    ql_mem_free(mem, queue->ring);
    *queue = (struct ql_queue){0};
}
