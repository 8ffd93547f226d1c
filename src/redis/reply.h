/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One reply, in memory of fixed size. Nothing that a server can send makes us
 * hold more than this and QL_READ_MAX unparsed bytes twice over.
 */
#ifndef QL_REDIS_REPLY_H
#define QL_REDIS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#define QL_REPLY_BYTES 16384 /* of all strings of a reply: INFO fits */
#define QL_REPLY_ITEMS 16    /* of an array; none of them is an array */
#define QL_READ_MAX    16384 /* fed at once */
/* An unfinished reply may hold so much back, before the next is fed. */
#define QL_HELD_MAX (QL_REPLY_BYTES + 64)

enum ql_value_type {
    QL_VALUE_NIL,
    QL_VALUE_INTEGER,
    QL_VALUE_STRING, /* with a length in front: may hold any bytes */
    QL_VALUE_STATUS,
    QL_VALUE_ERROR,
    QL_VALUE_ARRAY,
};

struct ql_value {
    enum ql_value_type type;
    long long integer;
    const char *string; /* with a NUL behind it */
    size_t len;
};

struct ql_reply {
    struct ql_value root;
    unsigned count; /* of items, if the root is an array */
    struct ql_value item[QL_REPLY_ITEMS];
    const char *refused; /* why a reply was not built; NULL: it was */
    size_t used;
    char bytes[QL_REPLY_BYTES + QL_REPLY_ITEMS + 1];
};

/* A parser that builds each reply in `reply`. NULL: out of memory. */
redisReader *ql_reply_reader(struct ql_reply *reply);

enum ql_reply_result {
    QL_REPLY_DONE, /* there is one in `reply` */
    QL_REPLY_MORE, /* not without more bytes */
    QL_REPLY_BAD,  /* no valid reply: ql_reply_fault() */
    QL_REPLY_NOMEM,
};

/* Hands over at most QL_READ_MAX bytes, when all replies were taken. */
enum ql_reply_result ql_reply_feed(redisReader *reader, struct ql_reply *reply,
                                   const char *bytes, size_t len);

enum ql_reply_result ql_reply_next(redisReader *reader, struct ql_reply *reply);

/* What was wrong with the bytes. */
const char *ql_reply_fault(const redisReader *reader,
                           const struct ql_reply *reply);

/* Whether the key's value is "<token>" or "<token> <label>". */
bool ql_value_is_ours(const struct ql_value *value, const char *token);

#endif
