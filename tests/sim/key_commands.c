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

/* SET name value [NX] [PX milliseconds] */
static void run_set(struct redis *redis, unsigned argc, const struct word *argv,
                    struct bytes *reply)
{
    bool only_new = false;
    const struct word *ttl = NULL;
    int64_t expires_ms = KEY_FOR_EVER;
    long long ttl_ms;

    for (unsigned i = 3; i < argc; i++) {
        if (word_is(&argv[i], "NX")) {
            only_new = true;
        } else if (word_is(&argv[i], "PX") && i + 1 < argc && !ttl) {
            ttl = &argv[++i];
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
    if (only_new && find(redis, &argv[1])) {
        reply_nil(reply);
        return;
    }
    keyspace_set(&redis->keys, argv[1].bytes, argv[1].len, argv[2].bytes,
                 argv[2].len, expires_ms)
        ->stray = redis->stray;
    reply_status(reply, "OK");
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

    if (key && key->value) {
        reply_error(reply, wrong_type);
        return;
    }
    if (!key)
        key = keyspace_set(&redis->keys, argv[1].bytes, argv[1].len, NULL, 0,
                           KEY_FOR_EVER);
    reply_number(reply, (long long)++key->len);
}

bool redis_run_key_command(struct redis *redis, unsigned argc,
                           const struct word *argv, struct bytes *reply)
{
    static const struct {
        const char *name;
        unsigned min, max;
    } arity[] = {{"set", 3, 6},   {"getrange", 4, 4}, {"exists", 2, 9},
                 {"del", 2, 9},   {"pexpire", 3, 3},  {"pttl", 2, 2},
                 {"lpush", 3, 3}, {NULL, 0, 0}};
    const char *refused;
    unsigned i = 0;

    while (arity[i].name && !word_is(&argv[0], arity[i].name))
        i++;
    if (!arity[i].name)
        return false;
    refused = redis_refuses(redis, arity[i].name);
    if (argc < arity[i].min || argc > arity[i].max)
        reply_error(reply, "ERR wrong number of arguments");
    else if (refused)
        reply_error(reply, refused);
    else if (i == 0)
        run_set(redis, argc, argv, reply);
    else if (i == 1)
        run_getrange(redis, argv, reply);
    else if (i == 2)
        run_exists(redis, argc, argv, reply);
    else if (i == 3)
        run_del(redis, argc, argv, reply);
    else if (i == 4)
        run_pexpire(redis, argv, reply);
    else if (i == 5)
        run_pttl(redis, argv, reply);
    else
        run_lpush(redis, argv, reply);
    return true;
}
