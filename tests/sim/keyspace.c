/* SPDX-License-Identifier: BSD-2-Clause */
#include "keyspace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *bytes, size_t len)
{
    char *own = malloc(len + 1);

    assert(own);
    memcpy(own, bytes, len);
    own[len] = '\0';
    return own;
}

static struct key *look_up(const struct keyspace *keys, const char *name,
                           size_t len)
{
    for (unsigned i = 0; i < keys->count; i++)
        if (keys->key[i].name_len == len &&
            memcmp(keys->key[i].name, name, len) == 0)
            return &keys->key[i];
    return NULL;
}

struct key *keyspace_find(const struct keyspace *keys, int64_t now_ms,
                          const char *name, size_t len)
{
    struct key *key = look_up(keys, name, len);

    /* A key lives through the millisecond at which it is to expire. */
    return key && now_ms <= key->expires_ms ? key : NULL;
}

static void drop_contents(struct key *key)
{
    while (key->fields > 0)
        key_delete_field(key, &key->field[key->fields - 1]);
    free(key->field);
    free(key->value);
    key->field = NULL;
    key->value = NULL;
}

struct key *keyspace_set(struct keyspace *keys, const char *name,
                         size_t name_len, const char *value, size_t len,
                         int64_t expires_ms)
{
    struct key *key = look_up(keys, name, name_len);

    if (!key) {
        if (keys->count == keys->room) {
            keys->room = keys->room ? 2 * keys->room : 8;
            keys->key = realloc(keys->key, keys->room * sizeof *keys->key);
            assert(keys->key);
        }
        key = &keys->key[keys->count++];
        key->name = copy(name, name_len);
        key->name_len = name_len;
        key->field = NULL;
        key->fields = 0;
    } else {
        drop_contents(key);
    }
    key->value = value ? copy(value, len) : NULL;
    key->len = len;
    key->expires_ms = expires_ms;
    key->stray = false;
    return key;
}

/* --- Hashes ---------------------------------------------------------------
 */

struct field *key_field(const struct key *key, const char *name, size_t len)
{
    for (unsigned i = 0; i < key->fields; i++)
        if (key->field[i].name_len == len &&
            memcmp(key->field[i].name, name, len) == 0)
            return &key->field[i];
    return NULL;
}

bool key_set_field(struct key *key, const char *name, size_t name_len,
                   const char *value, size_t len)
{
    struct field *field = key_field(key, name, name_len);
    bool is_new = !field;

    if (is_new) {
        key->field =
            realloc(key->field, (key->fields + 1) * sizeof *key->field);
        assert(key->field);
        field = &key->field[key->fields++];
        field->name = copy(name, name_len);
        field->name_len = name_len;
    } else {
        free(field->value);
    }
    field->value = copy(value, len);
    field->len = len;
    return is_new;
}

void key_delete_field(struct key *key, struct field *field)
{
    free(field->name);
    free(field->value);
    *field = key->field[--key->fields];
}

/* --- Keys, again ----------------------------------------------------------
 */

void keyspace_delete(struct keyspace *keys, struct key *key)
{
    drop_contents(key);
    free(key->name);
    *key = keys->key[--keys->count];
}

void keyspace_clear(struct keyspace *keys)
{
    while (keys->count > 0)
        keyspace_delete(keys, &keys->key[keys->count - 1]);
}

void keyspace_copy(struct keyspace *to, const struct keyspace *from)
{
    keyspace_clear(to);
    for (unsigned i = 0; i < from->count; i++) {
        const struct key *key = &from->key[i];
        struct key *own = keyspace_set(to, key->name, key->name_len, key->value,
                                       key->len, key->expires_ms);

        own->stray = key->stray;
        for (unsigned k = 0; k < key->fields; k++)
            key_set_field(own, key->field[k].name, key->field[k].name_len,
                          key->field[k].value, key->field[k].len);
    }
}

void keyspace_free(struct keyspace *keys)
{
    keyspace_clear(keys);
    free(keys->key);
    *keys = (struct keyspace){0};
}
