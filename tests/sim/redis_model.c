/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that a connection may send, beside those on keys. */
#include "redis_model.h"

#include <stdio.h>

#include "redis/script.h"

bool redis_writes(const char *command)
{
    static const char *const those[] = {"set",  "del",  "pexpire",
                                        "hset", "hdel", "lpush"};

    for (unsigned i = 0; i < sizeof those / sizeof those[0]; i++)
        if (strcmp(command, those[i]) == 0)
            return true;
    return false;
}

static bool needs_memory(const char *command)
{
    return strcmp(command, "set") == 0 || strcmp(command, "hset") == 0;
}

/* A script that has begun to write is let through to its end. */
const char *redis_refuses(const struct redis *redis, const char *command)
{
    switch (redis->refusal) {
    case REFUSES_OOM:
        return needs_memory(command) && !redis->dirty
                   ? "OOM command not allowed when used memory > 'maxmemory'."
                   : NULL;
    case REFUSES_MISCONF:
        return redis_writes(command) && !redis->dirty
                   ? "MISCONF Errors writing to the AOF file: No space left"
                   : NULL;
    case REFUSES_LOADING:
        return strcmp(command, "info") == 0
                   ? NULL
                   : "LOADING Redis is loading the dataset in memory";
    default:
        return NULL;
    }
}

static int script_of_source(const struct word *source)
{
    for (unsigned i = 0; i < QL_SCRIPTS; i++) {
        const char *ours = ql_script_at(i)->source;

        if (source->len == strlen(ours) &&
            memcmp(source->bytes, ours, source->len) == 0)
            return (int)i;
    }
    return -1;
}

/* SCRIPT LOAD source, SCRIPT FLUSH */
static void run_script(struct redis *redis, unsigned argc,
                       const struct word *argv, struct bytes *reply)
{
    int index;

    if (argc == 2 && word_is(&argv[1], "FLUSH")) {
        redis->scripts = 0;
        reply_status(reply, "OK");
        return;
    }
    index = argc == 3 && word_is(&argv[1], "LOAD") ? script_of_source(&argv[2])
                                                   : -1;
    if (index < 0) {
        reply_error(reply, "ERR the model only knows quorlock's scripts");
        return;
    }
    redis->scripts |= UINT32_C(1) << index;
    reply_string(reply, ql_script_at((unsigned)index)->sha1, 40);
}

/* EVALSHA sha1 numkeys key... arg... */
static void run_evalsha(struct redis *redis, unsigned argc,
                        const struct word *argv, struct bytes *reply)
{
    long long keys;

    if (argc < 3 || !word_number(&argv[2], &keys) || keys < 0 ||
        keys > argc - 3) {
        reply_error(reply, "ERR Number of keys can't be greater than number "
                           "of args");
        return;
    }
    for (unsigned i = 0; i < QL_SCRIPTS; i++)
        if (argv[1].len == 40 &&
            memcmp(argv[1].bytes, ql_script_at(i)->sha1, 40) == 0 &&
            (redis->scripts & UINT32_C(1) << i)) {
            redis_run_script(redis, i, (unsigned)keys, argc - 3, argv + 3,
                             reply);
            return;
        }
    reply_error(reply, "NOSCRIPT No matching script. Please use EVAL.");
}

static void run_info(struct redis *redis, struct bytes *reply)
{
    char text[512];
    int len = snprintf(
        text, sizeof text,
        "# Info\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n"
        "run_id:%s\r\nuptime_in_seconds:%lld\r\nloading:%d\r\n"
        "aof_enabled:1\r\naof_last_write_status:ok\r\nrole:master\r\n"
        "second_repl_offset:%d\r\nmaxmemory:0\r\n"
        "maxmemory_policy:noeviction\r\n",
        redis->run_id, (long long)((redis->now_us - redis->began_us) / 1000000),
        redis->refusal == REFUSES_LOADING, redis->promoted ? 4711 : -1);

    reply_string(reply, text, (size_t)len);
}

/* Seconds, and microseconds, as strings. */
static void run_time(struct redis *redis, struct bytes *reply)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%lld",
                       (long long)(redis->now_us / 1000000));

    reply_array(reply, 2);
    reply_string(reply, text, (size_t)len);
    len = snprintf(text, sizeof text, "%lld",
                   (long long)(redis->now_us % 1000000));
    reply_string(reply, text, (size_t)len);
    redis->now_us++; /* it moves, also within a script */
}

/* CONFIG GET name... */
static void run_config(struct redis *redis, unsigned argc,
                       const struct word *argv, struct bytes *reply)
{
    const struct {
        const char *name, *value;
    } settings[] = {
        {"appendonly", "yes"},
        {"appendfsync", redis->syncs ? "always" : "everysec"},
        {"no-appendfsync-on-rewrite", "no"},
        {"maxmemory", "0"},
        {"maxmemory-policy", "noeviction"},
    };
    struct bytes found = {0};
    size_t count = 0;

    for (unsigned i = 2; i < argc; i++)
        for (unsigned k = 0; k < sizeof settings / sizeof settings[0]; k++) {
            if (!word_is(&argv[i], settings[k].name))
                continue;
            reply_string(&found, settings[k].name, strlen(settings[k].name));
            reply_string(&found, settings[k].value, strlen(settings[k].value));
            count += 2;
        }
    reply_array(reply, count);
    if (count > 0)
        bytes_put(reply, bytes_first(&found), bytes_count(&found));
    bytes_free(&found);
}

bool redis_run_server_command(struct redis *redis, unsigned argc,
                              const struct word *argv, struct bytes *reply)
{
    if (word_is(&argv[0], "INFO"))
        run_info(redis, reply);
    else if (word_is(&argv[0], "TIME") && argc == 1)
        run_time(redis, reply);
    else if (word_is(&argv[0], "CONFIG") && argc > 2 &&
             word_is(&argv[1], "GET"))
        run_config(redis, argc, argv, reply);
    else
        return false;
    return true;
}

void redis_run(struct redis *redis, unsigned argc, const struct word *argv,
               struct bytes *reply)
{
    redis->dirty = false;
    if (redis_refuses(redis, "any") && !word_is(&argv[0], "INFO")) {
        reply_error(reply, redis_refuses(redis, "any"));
    } else if (redis_run_key_command(redis, argc, argv, reply) ||
               redis_run_server_command(redis, argc, argv, reply)) {
        return;
    } else if (word_is(&argv[0], "EVALSHA")) {
        run_evalsha(redis, argc, argv, reply);
    } else if (word_is(&argv[0], "SCRIPT")) {
        run_script(redis, argc, argv, reply);
    } else if (word_is(&argv[0], "CLIENT")) {
        reply_status(reply, "OK");
    } else if (word_is(&argv[0], "FLUSHALL")) {
        keyspace_clear(&redis->keys);
        reply_status(reply, "OK");
    } else {
        reply_error(reply, "ERR unknown command");
    }
}
