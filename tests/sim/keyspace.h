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

/* A field of a hash. */
struct field {
    char *name, *value;
    size_t name_len, len;
};

struct key {
    char *name;
    size_t name_len;
    char *value; /* NULL: a hash, or a list, of which nothing else is kept */
    size_t len;  /* of the value, or of the list */
    struct field *field;
    unsigned fields;    /* a hash has some */
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
/* The field of a hash; NULL: it has none of that name. */
struct field *key_field(const struct key *key, const char *name, size_t len);
/* Returns true if the field is new. */
bool key_set_field(struct key *key, const char *name, size_t name_len,
                   const char *value, size_t len);
void key_delete_field(struct key *key, struct field *field);

void keyspace_delete(struct keyspace *keys, struct key *key);
void keyspace_clear(struct keyspace *keys);
void keyspace_copy(struct keyspace *to, const struct keyspace *from);
void keyspace_free(struct keyspace *keys);

#endif
