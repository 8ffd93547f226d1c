/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands on keys that locks are made of. */
#include <errno.h>
#include <strings.h>

#include "redis_model.h"

static const char syntax_error[] = "ERR syntax error";
static const char not_a_number[] =
    "ERR value is not an integer or out of range";
static const char wrong_type[] =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

bool word_is(const struct word *word, const char *text)
{
    return word->len == strlen(text) &&
           strncasecmp(word->bytes, text, word->len) == 0;
}

bool word_number(const struct word *word, long long *ret)
{
    char text[24];
    char *end;

    if (word->len == 0 || word->len >= sizeof text)
        return false;
    memcpy(text, word->bytes, word->len);
    text[word->len] = '\0';
    errno = 0;
    *ret = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' && end == text + word->len &&
           text[0] != '+' && text[0] != ' ';
}

static struct key *find(const struct redis *redis, const struct word *name)
{
    return keyspace_find(&redis->keys, redis->now_ms, name->bytes, name->len);
}

/* SET name value [NX] [PX milliseconds | KEEPTTL] */
static void run_set(struct redis *redis, unsigned argc, const struct word *argv,
                    struct bytes *reply)
{
    bool only_new = false, keeps = false;
    const struct word *ttl = NULL;
    int64_t expires_ms = KEY_FOR_EVER;
    long long ttl_ms;
    struct key *key = find(redis, &argv[1]);

    for (unsigned i = 3; i < argc; i++) {
        if (word_is(&argv[i], "NX")) {
            only_new = true;
        } else if (word_is(&argv[i], "PX") && i + 1 < argc && !ttl && !keeps) {
            ttl = &argv[++i];
        } else if (word_is(&argv[i], "KEEPTTL") && !ttl) {
            keeps = true;
        } else {
            reply_error(reply, syntax_error);
            return;
        }
    }
    if (ttl) {
        if (!word_number(ttl, &ttl_ms)) {
            reply_error(reply, not_a_number);
            return;
        }
        if (ttl_ms <= 0 || ttl_ms > INT64_MAX - redis->now_ms) {
            reply_error(reply, "ERR invalid expire time in 'set' command");
            return;
        }
        expires_ms = redis->now_ms + ttl_ms;
    }
    if (only_new && key) {
        reply_nil(reply);
        return;
    }
    if (keeps && key)
        expires_ms = key->expires_ms;
    keyspace_set(&redis->keys, argv[1].bytes, argv[1].len, argv[2].bytes,
                 argv[2].len, expires_ms)
        ->stray = redis->stray;
    reply_status(reply, "OK");
}

static void run_get(struct redis *redis, const struct word *argv,
                    struct bytes *reply)
{
    const struct key *key = find(redis, &argv[1]);

    if (!key)
        reply_nil(reply);
    else if (!key->value)
        reply_error(reply, wrong_type);
    else
        reply_string(reply, key->value, key->len);
}

static void run_getrange(struct redis *redis, const struct word *argv,
                         struct bytes *reply)
{
    struct key *key = find(redis, &argv[1]);
    long long first, last, len;

    if (!word_number(&argv[2], &first) || !word_number(&argv[3], &last)) {
        reply_error(reply, not_a_number);
        return;
    }
    if (key && !key->value) {
        reply_error(reply, wrong_type);
        return;
    }
    len = key ? (long long)key->len : 0;
    if (first < 0 && last < 0 && first > last)
        len = 0;
    if (first < 0)
        first = first + len > 0 ? first + len : 0;
    if (last < 0)
        last = last + len > 0 ? last + len : 0;
    if (last >= len)
        last = len - 1;
    if (len == 0 || first > last)
        reply_string(reply, "", 0);
    else
        reply_string(reply, key->value + first, (size_t)(last - first + 1));
}

static void run_del(struct redis *redis, unsigned argc, const struct word *argv,
                    struct bytes *reply)
{
    unsigned count = 0;

    for (unsigned i = 1; i < argc; i++) {
        struct key *key = find(redis, &argv[i]);

        if (!key)
            continue;
        keyspace_delete(&redis->keys, key);
        count++;
    }
    reply_number(reply, count);
}

static void run_exists(struct redis *redis, unsigned argc,
                       const struct word *argv, struct bytes *reply)
{
    unsigned count = 0;

    for (unsigned i = 1; i < argc; i++)
        count += find(redis, &argv[i]) != NULL;
    reply_number(reply, count);
}

static void run_pexpire(struct redis *redis, const struct word *argv,
                        struct bytes *reply)
{
    struct key *key = find(redis, &argv[1]);
    long long ttl_ms;

    if (!word_number(&argv[2], &ttl_ms)) {
        reply_error(reply, not_a_number);
        return;
    }
    if (ttl_ms > INT64_MAX - redis->now_ms) {
        reply_error(reply, "ERR invalid expire time in 'pexpire' command");
        return;
    }
    if (key && ttl_ms <= 0)
        keyspace_delete(&redis->keys, key);
    else if (key)
        key->expires_ms = redis->now_ms + ttl_ms;
    reply_number(reply, key != NULL);
}

static void run_pttl(struct redis *redis, const struct word *argv,
                     struct bytes *reply)
{
    struct key *key = find(redis, &argv[1]);

    if (!key)
        reply_number(reply, -2);
    else if (key->expires_ms == KEY_FOR_EVER)
        reply_number(reply, -1);
    else
        reply_number(reply, key->expires_ms - redis->now_ms);
}

/* Makes a list, of which only its being one is kept. */
static void run_lpush(struct redis *redis, const struct word *argv,
                      struct bytes *reply)
{
    struct key *key = find(redis, &argv[1]);

    if (key && (key->value || key->fields > 0)) {
        reply_error(reply, wrong_type);
        return;
    }
    if (!key)
        key = keyspace_set(&redis->keys, argv[1].bytes, argv[1].len, NULL, 0,
                           KEY_FOR_EVER);
    reply_number(reply, (long long)++key->len);
}

/* --- Hashes ---------------------------------------------------------------
 */

/* Whether the key is something else than a hash; then that is the answer. */
static bool is_no_hash(const struct key *key, struct bytes *reply)
{
    if (!key || key->fields > 0)
        return false;
    reply_error(reply, wrong_type);
    return true;
}

static void run_hset(struct redis *redis, unsigned argc,
                     const struct word *argv, struct bytes *reply)
{
    struct key *key = find(redis, &argv[1]);
    unsigned added = 0;

    if (argc % 2) {
        reply_error(reply, "ERR wrong number of arguments");
        return;
    }
    if (is_no_hash(key, reply))
        return;
    if (!key)
        key = keyspace_set(&redis->keys, argv[1].bytes, argv[1].len, NULL, 0,
                           KEY_FOR_EVER);
    for (unsigned i = 2; i < argc; i += 2)
        added += key_set_field(key, argv[i].bytes, argv[i].len,
                               argv[i + 1].bytes, argv[i + 1].len);
    reply_number(reply, added);
}

static void run_hmget(struct redis *redis, unsigned argc,
                      const struct word *argv, struct bytes *reply)
{
    const struct key *key = find(redis, &argv[1]);

    if (is_no_hash(key, reply))
        return;
    reply_array(reply, argc - 2);
    for (unsigned i = 2; i < argc; i++) {
        const struct field *field =
            key ? key_field(key, argv[i].bytes, argv[i].len) : NULL;

        if (field)
            reply_string(reply, field->value, field->len);
        else
            reply_nil(reply);
    }
}

static void run_hdel(struct redis *redis, unsigned argc,
                     const struct word *argv, struct bytes *reply)
{
    struct key *key = find(redis, &argv[1]);
    unsigned count = 0;

    if (is_no_hash(key, reply))
        return;
    for (unsigned i = 2; key && i < argc; i++) {
        struct field *field = key_field(key, argv[i].bytes, argv[i].len);

        if (!field)
            continue;
        key_delete_field(key, field);
        count++;
        if (key->fields == 0) {
            keyspace_delete(&redis->keys, key);
            key = NULL;
        }
    }
    reply_number(reply, count);
}

/* --- All of them ----------------------------------------------------------
 */

#define WORDS_MAX 40

struct command {
    const char *name;
    unsigned min, max; /* words */
    /* One of them; the first if the number of words is fixed. */
    void (*fixed)(struct redis *redis, const struct word *argv,
                  struct bytes *reply);
    void (*run)(struct redis *redis, unsigned argc, const struct word *argv,
                struct bytes *reply);
};

static const struct command *find_command(const struct word *name)
{
    static const struct command commands[] = {
        {"get", 2, 2, run_get, NULL},
        {"set", 3, 7, NULL, run_set},
        {"getrange", 4, 4, run_getrange, NULL},
        {"exists", 2, WORDS_MAX, NULL, run_exists},
        {"del", 2, WORDS_MAX, NULL, run_del},
        {"pexpire", 3, 3, run_pexpire, NULL},
        {"pttl", 2, 2, run_pttl, NULL},
        {"hset", 4, WORDS_MAX, NULL, run_hset},
        {"hmget", 3, WORDS_MAX, NULL, run_hmget},
        {"hdel", 3, WORDS_MAX, NULL, run_hdel},
        {"lpush", 3, 3, run_lpush, NULL},
    };

    for (unsigned i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (word_is(name, commands[i].name))
            return &commands[i];
    return NULL;
}

bool redis_run_key_command(struct redis *redis, unsigned argc,
                           const struct word *argv, struct bytes *reply)
{
    const struct command *command = find_command(&argv[0]);
    const char *refused;

    if (!command)
        return false;
    refused = redis_refuses(redis, command->name);
    if (argc < command->min || argc > command->max) {
        reply_error(reply, "ERR wrong number of arguments");
    } else if (refused) {
        reply_error(reply, refused);
    } else {
        redis->dirty |= redis_writes(command->name);
        if (command->fixed)
            command->fixed(redis, argv, reply);
        else
            command->run(redis, argc, argv, reply);
    }
    return true;
}
