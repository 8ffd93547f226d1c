/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RESP by hiredis's reader, objects by us: the reader asks for an object as
 * soon as it knows the type and the size, and a NULL stops it. So a reply that
 * is too deep or too wide is refused at its header, before anybody allocates.
 * What the reader does buffer, the bytes of a string that is not complete, is
 * bounded by what it is fed.
 */
#include "redis/reply.h"

#include <string.h>

static void *refuse(struct ql_reply *reply, const char *why)
{
    reply->refused = why;
    return NULL;
}

/* Where the object of `task` goes; a new root starts the reply afresh. */
static struct ql_value *place(struct ql_reply *reply, const redisReadTask *task)
{
    if (task->parent)
        return &reply->item[task->idx];
    reply->used = 0;
    reply->count = 0;
    reply->refused = NULL;
    return &reply->root;
}

static void *create_string(const redisReadTask *task, char *bytes, size_t len)
{
    struct ql_reply *reply = task->privdata;
    struct ql_value *value = place(reply, task);
    char *copy = reply->bytes + reply->used;

    switch (task->type) {
    case REDIS_REPLY_STRING:
        value->type = QL_VALUE_STRING;
        break;
    case REDIS_REPLY_STATUS:
        value->type = QL_VALUE_STATUS;
        break;
    case REDIS_REPLY_ERROR:
        value->type = QL_VALUE_ERROR;
        break;
    default: /* RESP3, which we never asked for */
        return refuse(reply, "a type that was not asked for");
    }
    if (len >= sizeof reply->bytes - reply->used)
        return refuse(reply, "a string that is too long");
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    reply->used += len + 1;
    value->string = copy;
    value->len = len;
    return value;
}

#if HIREDIS_MAJOR >= 1
static void *create_array(const redisReadTask *task, size_t count)
#else
static void *create_array(const redisReadTask *task, int count)
#endif
{
    struct ql_reply *reply = task->privdata;
    struct ql_value *value;

    if (task->parent)
        return refuse(reply, "an array inside an array");
    value = place(reply, task);
    if (task->type != REDIS_REPLY_ARRAY)
        return refuse(reply, "a type that was not asked for");
    if (count > QL_REPLY_ITEMS)
        return refuse(reply, "an array with too many elements");
    value->type = QL_VALUE_ARRAY;
    reply->count = (unsigned)count;
    return value;
}

static void *create_integer(const redisReadTask *task, long long integer)
{
    struct ql_value *value = place(task->privdata, task);

    value->type = QL_VALUE_INTEGER;
    value->integer = integer;
    return value;
}

static void *create_nil(const redisReadTask *task)
{
    struct ql_value *value = place(task->privdata, task);

    value->type = QL_VALUE_NIL;
    return value;
}

#if HIREDIS_MAJOR >= 1
static void *create_double(const redisReadTask *task, double number,
                           char *bytes, size_t len)
{
    (void)number;
    (void)bytes;
    (void)len;
    return refuse(task->privdata, "a type that was not asked for");
}

static void *create_bool(const redisReadTask *task, int truth)
{
    (void)truth;
    return refuse(task->privdata, "a type that was not asked for");
}
#endif

/* The objects are parts of the connection's reply. */
static void free_object(void *object)
{
    (void)object;
}

static redisReplyObjectFunctions functions = {
    .createString = create_string,
    .createArray = create_array,
    .createInteger = create_integer,
#if HIREDIS_MAJOR >= 1
    .createDouble = create_double,
    .createBool = create_bool,
#endif
    .createNil = create_nil,
    .freeObject = free_object,
};

redisReader *ql_reply_reader(struct ql_reply *reply)
{
    redisReader *reader = redisReaderCreateWithFunctions(&functions);

    if (reader)
        reader->privdata = reply;
    return reader;
}

static enum ql_reply_result failed(const redisReader *reader,
                                   const struct ql_reply *reply)
{
    /* A refusal looks like a failed allocation to the reader. */
    return reader->err == REDIS_ERR_OOM && !reply->refused ? QL_REPLY_NOMEM
                                                           : QL_REPLY_BAD;
}

enum ql_reply_result ql_reply_feed(redisReader *reader, struct ql_reply *reply,
                                   const char *bytes, size_t len)
{
    if (!reader->err)
        reply->refused = NULL;
    if (reader->len - reader->pos > QL_HELD_MAX) {
        reply->refused = "a string that is too long";
        return QL_REPLY_BAD;
    }
    if (redisReaderFeed(reader, bytes, len) != REDIS_OK)
        return failed(reader, reply);
    return QL_REPLY_DONE;
}

enum ql_reply_result ql_reply_next(redisReader *reader, struct ql_reply *reply)
{
    void *object = NULL;

    if (redisReaderGetReply(reader, &object) != REDIS_OK)
        return failed(reader, reply);
    return object ? QL_REPLY_DONE : QL_REPLY_MORE;
}

const char *ql_reply_fault(const redisReader *reader,
                           const struct ql_reply *reply)
{
    return reply->refused ? reply->refused : reader->errstr;
}

bool ql_value_is_ours(const struct ql_value *value, const char *token)
{
    size_t len = strlen(token);

    return len > 0 && value->len >= len &&
           memcmp(value->string, token, len) == 0 &&
           (value->len == len || value->string[len] == ' ');
}
