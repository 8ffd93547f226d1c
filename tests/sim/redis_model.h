/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One Redis server without its network: words of a command in, the bytes of the
 * reply out. It knows what quorlock sends, and no more: SET, the scripts of
 * lua/ with what they call, SCRIPT LOAD, INFO, CONFIG GET.
 * tests/sim/conformance.c holds its answers against those of a real server.
 */
#ifndef TESTS_SIM_REDIS_MODEL_H
#define TESTS_SIM_REDIS_MODEL_H

#include "bytes.h"
#include "keyspace.h"

/* Why a server refuses what it otherwise would do. */
enum refusal {
    REFUSES_NOTHING,
    REFUSES_OOM,     /* what needs memory: SET */
    REFUSES_MISCONF, /* what writes, DEL and PEXPIRE in scripts as well */
    REFUSES_LOADING, /* nearly everything */
    REFUSALS
};

struct redis {
    struct keyspace keys;
    int64_t now_us;   /* its wall clock at the running command */
    int64_t now_ms;   /* the same, by which keys expire */
    int64_t began_us; /* its wall clock when it was started */
    uint32_t scripts; /* loaded: one bit for each of quorlock's */
    enum refusal refusal;
    bool dirty;    /* the running script has written something */
    bool syncs;    /* appendfsync is always; else it is everysec */
    bool promoted; /* it was a replica in this life */
    bool stray;    /* whoever sent the running command has hung up */
    char run_id[41];
};

struct word {
    const char *bytes;
    size_t len;
};

/* Appends the reply. */
void redis_run(struct redis *redis, unsigned argc, const struct word *argv,
               struct bytes *reply);

/* NULL, or the reply with which the command is refused. */
const char *redis_refuses(const struct redis *redis, const char *command);

bool redis_writes(const char *command);

/* What a script may ask of the server itself: TIME, INFO, CONFIG GET. False:
 * there is no such command. */
bool redis_run_server_command(struct redis *redis, unsigned argc,
                              const struct word *argv, struct bytes *reply);

/* key_commands.c: what scripts may call as well. False: there is no such
 * command. */
bool redis_run_key_command(struct redis *redis, unsigned argc,
                           const struct word *argv, struct bytes *reply);
bool word_is(const struct word *word, const char *text);
bool word_number(const struct word *word, long long *ret);

/* lua.c: runs script `index` with its KEYS and ARGV. */
void redis_run_script(struct redis *redis, unsigned index, unsigned keys,
                      unsigned argc, const struct word *argv,
                      struct bytes *reply);
void redis_close_lua(void);

/* reply.c */
void reply_error(struct bytes *reply, const char *text);
void reply_status(struct bytes *reply, const char *text);
void reply_number(struct bytes *reply, long long number);
void reply_string(struct bytes *reply, const char *bytes, size_t len);
void reply_nil(struct bytes *reply);
void reply_array(struct bytes *reply, size_t count);

#endif
