/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection for an operator's questions: each is asked and waited for, with
 * one time limit over the whole answer, however it drips.
 */
#ifndef QL_ADMIN_LINK_H
#define QL_ADMIN_LINK_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

#include "redis/address.h"

struct admin_link {
    int fd; /* -1: none */
    redisReader *reader;
    ql_verdict verdict; /* GRANTED: there is a connection; else why not */
    char text[QL_TEXT_MAX];
};

/* Before anything else. */
void admin_link_init(struct admin_link *link);

/* Whether a connection came about within `connect_ms`. */
bool admin_link_open(struct admin_link *link, const struct ql_address *address,
                     int64_t connect_ms);
void admin_link_close(struct admin_link *link);

/* A command: `len` may be NULL if the words are strings. */
struct admin_words {
    int count;
    const char *const *word;
    const size_t *len;
};

/*
 * Sends a command; the answer is taken later. Several may be on their way.
 * False: the connection is closed, and the verdict says why.
 */
bool admin_link_send(struct admin_link *link, const struct admin_words *words,
                     int64_t answer_ms);

/* The next answer, an error of the server perhaps; to be freed with
 * freeReplyObject(). NULL: as above. */
redisReply *admin_link_take(struct admin_link *link, int64_t answer_ms);

/* Nanoseconds of the clock that counts suspend. */
int64_t admin_now_ns(void);

/* malloc(3) and friends. */
extern const ql_allocator admin_memory;

#endif
