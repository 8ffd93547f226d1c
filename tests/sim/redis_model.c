/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that a connection may send, beside those on keys. */
#include "redis_model.h"

#include <stdio.h>

#include "redis/script.h"

const char *redis_refuses(const struct redis *redis, const char *command)
{
    bool writes = strcmp(command, "set") == 0 || strcmp(command, "del") == 0 ||
                  strcmp(command, "pexpire") == 0;

    switch (redis->refusal) {
    case REFUSES_OOM:
        return strcmp(command, "set") == 0
                   ? "OOM command not allowed when used memory > 'maxmemory'."
                   : NULL;
    case REFUSES_MISCONF:
        return writes ? "MISCONF Errors writing to the AOF file: No space left"
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
    char text[256];
    int len = snprintf(text, sizeof text,
                       "# Info\r\nredis_version:7.0.15\r\nrun_id:%s\r\n"
                       "role:master\r\nmaxmemory_policy:noeviction\r\n",
                       redis->run_id);

    reply_string(reply, text, (size_t)len);
}

void redis_run(struct redis *redis, unsigned argc, const struct word *argv,
               struct bytes *reply)
{
    if (word_is(&argv[0], "INFO")) {
        run_info(redis, reply);
    } else if (redis_refuses(redis, "any")) {
        reply_error(reply, redis_refuses(redis, "any"));
    } else if (redis_run_key_command(redis, argc, argv, reply)) {
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
