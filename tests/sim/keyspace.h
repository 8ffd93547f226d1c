/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys of one Redis server, as far as a lock touches them. Few keys, so
 * they are looked for one by one. Time is the server's wall clock, passed in.
 */
#ifndef TESTS_SIM_KEYSPACE_H
#define TESTS_SIM_KEYSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_FOR_EVER INT64_MAX

struct key {
    char *name;
    size_t name_len;
    char *value; /* NULL: a list, of which nothing else is kept */
    size_t len;
    int64_t expires_ms; /* KEY_FOR_EVER: it does not expire */
    bool stray;         /* set by a command whose sender had hung up already */
};

struct keyspace {
    struct key *key;
    unsigned count, room;
};

/* NULL: there is none, or not any more at `now_ms`. */
struct key *keyspace_find(const struct keyspace *keys, int64_t now_ms,
                          const char *name, size_t len);

/* The key with its value; whatever was there is gone. `value` may be NULL. */
struct key *keyspace_set(struct keyspace *keys, const char *name,
                         size_t name_len, const char *value, size_t len,
                         int64_t expires_ms);
void keyspace_delete(struct keyspace *keys, struct key *key);
void keyspace_clear(struct keyspace *keys);
void keyspace_copy(struct keyspace *to, const struct keyspace *from);
void keyspace_free(struct keyspace *keys);

#endif
