/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets are those of src/redis; the replies are hiredis's, whose tree
 * has no fixed size, because SCAN's answers have none. What a server can make
 * us hold is bounded here.
 */
#include "admin/link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "redis/resolve.h"
#include "redis/socket.h"
#include "redis/verdict.h"

#define NS_PER_MS  ((int64_t)1000000)
#define ITEMS_MAX  (1 << 20)
#define BYTES_MAX  ((size_t)64 << 20)
#define READ_BYTES 16384

static void *allocate(size_t size, void *arg)
{
    (void)arg;
    return malloc(size);
}

static void *resize(void *memory, size_t size, void *arg)
{
    (void)arg;
    return realloc(memory, size);
}

static void release(void *memory, void *arg)
{
    (void)arg;
    free(memory);
}

const ql_allocator admin_memory = {allocate, resize, release, NULL};

int64_t admin_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- Replies of bounded size ---------------------------------------------- */

static redisReplyObjectFunctions bounded;

#if HIREDIS_MAJOR >= 1
static void *(*create_any_array)(const redisReadTask *, size_t);

static void *create_array(const redisReadTask *task, size_t count)
{
    return count > ITEMS_MAX ? NULL : create_any_array(task, count);
}
#else
static void *(*create_any_array)(const redisReadTask *, int);

static void *create_array(const redisReadTask *task, int count)
{
    return count > ITEMS_MAX ? NULL : create_any_array(task, count);
}
#endif

static redisReader *make_reader(void)
{
    redisReader *reader = redisReaderCreate();

    if (!reader)
        return NULL;
    if (!create_any_array) {
        bounded = *reader->fn;
        create_any_array = bounded.createArray;
        bounded.createArray = create_array;
    }
    reader->fn = &bounded;
    return reader;
}

/* --- The connection --------------------------------------------------------
 */

void admin_link_init(struct admin_link *link)
{
    *link = (struct admin_link){.fd = -1, .verdict = QL_V_CONNECTING};
}

void admin_link_close(struct admin_link *link)
{
    if (link->fd >= 0)
        ql_socket_close(link->fd, QL_END_ORDERLY);
    if (link->reader)
        redisReaderFree(link->reader);
    link->fd = -1;
    link->reader = NULL;
}

static bool fail(struct admin_link *link, ql_verdict verdict, const char *text)
{
    admin_link_close(link);
    link->verdict = verdict;
    snprintf(link->text, sizeof(link->text), "%s", text);
    return false;
}

static bool fail_errno(struct admin_link *link, int error, bool connecting)
{
    return fail(link, ql_verdict_of_errno(error, connecting), strerror(error));
}

/* Whether the socket became ready in time. */
static bool await(int fd, short events, int64_t until_ns)
{
    struct pollfd socket = {.fd = fd, .events = events};
    int count;

    do {
        int64_t left_ms =
            (until_ns - admin_now_ns() + NS_PER_MS - 1) / NS_PER_MS;

        if (left_ms < 0)
            left_ms = 0;
        count = poll(&socket, 1, left_ms > 1000000 ? 1000000 : (int)left_ms);
    } while (count < 0 && errno == EINTR);
    return count > 0;
}

static bool connect_to(struct admin_link *link, const struct ql_place *place,
                       int64_t until_ns)
{
    bool done;
    int fd = ql_socket_open(place, &done), error;

    if (fd < 0)
        return fail_errno(link, -fd, true);
    link->fd = fd;
    if (!done && !await(fd, POLLOUT, until_ns))
        return fail(link, QL_V_CONNECTING, "no connection in time");
    error = ql_socket_status(fd);
    if (error)
        return fail_errno(link, error, true);
    link->reader = make_reader();
    if (!link->reader)
        return fail(link, QL_V_NOMEM, "out of memory");
    link->verdict = QL_V_GRANTED;
    link->text[0] = '\0';
    return true;
}

bool admin_link_open(struct admin_link *link, const struct ql_address *address,
                     int64_t connect_ms)
{
    int64_t until_ns = admin_now_ns() + connect_ms * NS_PER_MS;
    struct ql_places places;
    char text[QL_TEXT_MAX] = "";
    ql_verdict verdict;
    bool done = false;

    admin_link_close(link);
    verdict = ql_resolve(&places, &admin_memory, address, text, sizeof(text));
    if (verdict != QL_V_NONE)
        return fail(link, verdict, text);
    for (unsigned i = 0; !done && i < places.count; i++)
        done = connect_to(link, &places.list[i], until_ns);
    ql_places_free(&places, &admin_memory);
    return done;
}

/* --- Questions and answers -------------------------------------------------
 */

static bool send_bytes(struct admin_link *link, char *bytes, size_t len,
                       int64_t until_ns)
{
    while (len > 0) {
        struct iovec piece = {bytes, len};
        ssize_t n = ql_socket_write(link->fd, &piece, 1);

        if (n == -EAGAIN) {
            if (!await(link->fd, POLLOUT, until_ns))
                return fail(link, QL_V_TIMEOUT, "it takes no more bytes");
            continue;
        }
        if (n < 0)
            return fail_errno(link, (int)-n, false);
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

bool admin_link_send(struct admin_link *link, const struct admin_words *words,
                     int64_t answer_ms)
{
    const char **word = (const char **)(uintptr_t)words->word;
    char *bytes = NULL;
    long long len;
    bool sent;

    if (link->fd < 0)
        return false;
    len = redisFormatCommandArgv(&bytes, words->count, word, words->len);
    if (len < 0)
        return fail(link, QL_V_NOMEM, "out of memory");
    sent = send_bytes(link, bytes, (size_t)len,
                      admin_now_ns() + answer_ms * NS_PER_MS);
    explicit_bzero(bytes, (size_t)len); /* it may hold a password */
    redisFreeCommand(bytes);
    return sent;
}

/* Feeds the reader with what has come. False: the link is closed. */
static bool feed(struct admin_link *link, size_t *taken)
{
    char bytes[READ_BYTES];
    ssize_t n = ql_socket_read(link->fd, bytes, sizeof(bytes));

    if (n == -EAGAIN)
        return true;
    if (n < 0)
        return fail_errno(link, (int)-n, false);
    if (n == 0)
        return fail(link, QL_V_CONNECTION, "closed by the server");
    *taken += (size_t)n;
    if (*taken > BYTES_MAX)
        return fail(link, QL_V_PROTOCOL, "an answer without end");
    if (redisReaderFeed(link->reader, bytes, (size_t)n) != REDIS_OK)
        return fail(link, QL_V_NOMEM, "out of memory");
    return true;
}

redisReply *admin_link_take(struct admin_link *link, int64_t answer_ms)
{
    int64_t until_ns = admin_now_ns() + answer_ms * NS_PER_MS;
    void *reply = NULL;
    size_t taken = 0;

    while (link->fd >= 0) {
        if (redisReaderGetReply(link->reader, &reply) != REDIS_OK)
            fail(link, QL_V_PROTOCOL, "no valid answer: is it a Redis server?");
        else if (reply)
            return reply;
        else if (!await(link->fd, POLLIN, until_ns))
            fail(link, QL_V_TIMEOUT, "no answer in time");
        else
            feed(link, &taken);
    }
    return NULL;
}
