/* SPDX-License-Identifier: BSD-2-Clause */
/* Scripts by EVAL, and their answers as text. */
#include "script_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "redis/script.h"

#define WORDS_MAX   32
#define MINUTE_US   UINT64_C(60000000)
#define DIGEST_SIZE 4096

static char digest[DIGEST_SIZE];

/* --- Commands ------------------------------------------------------------ */

static redisReply *ask(struct bench *bench, int argc, const char **argv)
{
    redisReply *reply = redisCommandArgv(bench->redis, argc, argv, NULL);

    if (!reply)
        fail_msg("%s: %s", argv[0], bench->redis->errstr);
    return reply;
}

static void append(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *out, size_t size, const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;

    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

static void put(struct bench *bench, const redisReply *reply, char *out,
                size_t size)
{
    switch (reply->type) {
    case REDIS_REPLY_INTEGER:
        append(out, size, "%lld", reply->integer);
        break;
    case REDIS_REPLY_STRING:
        append(out, size, "'%s'", reply->str);
        break;
    case REDIS_REPLY_STATUS:
        append(out, size, "%s", reply->str);
        break;
    case REDIS_REPLY_ERROR:
        append(out, size, "-%s", reply->str);
        break;
    case REDIS_REPLY_NIL:
        append(out, size, "nil");
        break;
    default:
        append(out, size, "[");
        for (size_t i = 0; i < reply->elements; i++) {
            append(out, size, i ? ", " : "");
            put(bench, reply->element[i], out, size);
        }
        append(out, size, "]");
        break;
    }
}

static const char *say(struct bench *bench, redisReply *reply)
{
    bench->said[0] = '\0';
    put(bench, reply, bench->said, sizeof(bench->said));
    freeReplyObject(reply);
    return bench->said;
}

const char *bench_do(struct bench *bench, ...)
{
    const char *argv[WORDS_MAX];
    int argc = 0;
    va_list args;

    va_start(args, bench);
    while ((argv[argc] = va_arg(args, const char *)) != NULL)
        argc++;
    va_end(args);
    return say(bench, ask(bench, argc, argv));
}

/* --- Scripts ---------------------------------------------------------------
 */

uint64_t bench_now_us(struct bench *bench)
{
    const char *words[] = {"TIME"};
    redisReply *reply = ask(bench, 1, words);
    uint64_t now = strtoull(reply->element[0]->str, NULL, 10) * 1000000 +
                   strtoull(reply->element[1]->str, NULL, 10);

    freeReplyObject(reply);
    return now;
}

/* {code, TIME, ...}: what changes from run to run gets a name. */
static const char *say_script(struct bench *bench, redisReply *reply)
{
    char text[sizeof(bench->said)] = "";

    if (reply->type != REDIS_REPLY_ARRAY)
        return say(bench, reply);
    assert_true(reply->elements >= 2);
    assert_int_equal(reply->element[1]->type, REDIS_REPLY_INTEGER);
    bench->time_us = (uint64_t)reply->element[1]->integer;
    assert_in_range(bench_now_us(bench) - bench->time_us, 0, MINUTE_US);
    append(text, sizeof(text), "[%lld, T", reply->element[0]->integer);
    for (size_t i = 2; i < reply->elements; i++) {
        const redisReply *item = reply->element[i];

        append(text, sizeof(text), ", ");
        if (i == 3 && reply->elements > 3 &&
            reply->element[2]->type == REDIS_REPLY_STRING) {
            bench->remaining = item->integer;
            append(text, sizeof(text),
                   item->integer > 0   ? "ms"
                   : item->integer < 0 ? "-1"
                                       : "0");
        } else {
            put(bench, item, text, sizeof(text));
        }
    }
    append(text, sizeof(text), "]");
    freeReplyObject(reply);
    strcpy(bench->said, text);
    return bench->said;
}

static redisReply *eval(struct bench *bench, enum ql_command_kind kind,
                        const char *keys, int count, const char **words)
{
    const struct ql_script *script =
        ql_script_at((unsigned)ql_script_of(kind, true));
    const char *argv[WORDS_MAX] = {"EVAL", script->source, keys};

    for (int i = 0; i < count; i++)
        argv[3 + i] = words[i];
    return ask(bench, 3 + count, argv);
}

static const char *lease(struct bench *bench, enum ql_command_kind kind,
                         const struct terms *t)
{
    const char *words[] = {"lock",   LEASE,     NODE,    t->cfg,   t->run,
                           t->token, t->value,  t->ttl,  t->fence, t->lo,
                           t->hi,    t->linger, t->keep, t->seen,  t->strict};

    return say_script(bench, eval(bench, kind, "3", 15, words));
}

const char *bench_acquire(struct bench *bench, const struct terms *terms)
{
    return lease(bench, QL_CMD_SET, terms);
}

const char *bench_extend(struct bench *bench, const struct terms *terms)
{
    return lease(bench, QL_CMD_EXTEND, terms);
}

const char *bench_confirm(struct bench *bench, const struct terms *t)
{
    const char *words[] = {LEASE,    NODE,     t->cfg,  t->run,
                           t->token, t->fence, t->seen, t->strict};

    return say_script(bench, eval(bench, QL_CMD_CONFIRM, "2", 8, words));
}

const char *bench_release(struct bench *bench, const struct terms *t)
{
    const char *words[] = {"lock", LEASE, t->token, t->keep, t->held};

    return say_script(bench, eval(bench, QL_CMD_RELEASE, "2", 5, words));
}

const char *bench_inspect(struct bench *bench)
{
    const char *words[] = {"lock", LEASE};

    return say_script(bench, eval(bench, QL_CMD_INSPECT, "2", 2, words));
}

/* {TIME, 'present', ...}: the TIME is a string, and apart. */
const char *bench_node(struct bench *bench, ...)
{
    const char *words[WORDS_MAX] = {NODE};
    int count = 1;
    redisReply *reply;
    va_list args;

    va_start(args, bench);
    while ((words[count] = va_arg(args, const char *)) != NULL)
        count++;
    va_end(args);
    reply = eval(bench, QL_CMD_RECORD, "1", count, words);
    if (reply->type == REDIS_REPLY_ARRAY) {
        bench->time_us = strtoull(reply->element[0]->str, NULL, 10);
        assert_in_range(bench_now_us(bench) - bench->time_us, 0, MINUTE_US);
        assert_true(reply->elements == 2 || reply->elements == 15);
        strcpy(bench->said, reply->elements == 2 ? reply->element[1]->str
                                                 : reply->element[5]->str);
        freeReplyObject(reply);
        return bench->said;
    }
    return say(bench, reply);
}

struct terms bench_terms(const struct bench *bench)
{
    return (struct terms){.cfg = CFG,
                          .run = bench->run,
                          .token = "tok",
                          .value = "tok label",
                          .ttl = "10000",
                          .fence = "1000",
                          .lo = "0",
                          .hi = "9000000000000000",
                          .linger = "2500",
                          .keep = "60000",
                          .seen = "0",
                          .strict = "0",
                          .held = "1"};
}

/* --- State -----------------------------------------------------------------
 */

const char *bench_field(struct bench *bench, const char *field)
{
    const char *words[] = {"HGET", NODE, field};
    redisReply *reply = ask(bench, 3, words);

    snprintf(bench->said, sizeof(bench->said), "%s",
             reply->type == REDIS_REPLY_STRING ? reply->str : "");
    freeReplyObject(reply);
    return bench->said;
}

void bench_put_lease(struct bench *bench, const char *token, int64_t ms,
                     const char *f, const char *state)
{
    int word = (int)strcspn(state, " ");
    char text[256];

    snprintf(text, sizeof(text), "%s %lld %s %.*s 0%s", token,
             (long long)bench_now_us(bench) + ms * 1000, f, word, state,
             state + word);
    bench_do(bench, "SET", LEASE, text, "PX", "900000", NULL);
}

void bench_put_lock(struct bench *bench, const char *value)
{
    bench_do(bench, "SET", "lock", value, "PX", "900000", NULL);
}

const char *bench_lease(struct bench *bench)
{
    static char out[256];
    char owner[64], f[24], how[16], earlier[80] = "";
    unsigned long long ends, until;

    bench_do(bench, "GET", LEASE, NULL);
    if (sscanf(bench->said, "'%63s %llu %23s %15s %llu%79[a-z ]", owner, &ends,
               f, how, &until, earlier) < 5)
        return "none";
    snprintf(out, sizeof(out), "%s %s %s%s", owner, f, how, earlier);
    return out;
}

void bench_put_held(struct bench *bench, const char *f)
{
    bench_put_lock(bench, "tok other-label");
    bench_put_lease(bench, "tok", 500000, f, "held");
    bench_do(bench, "HSET", NODE, "hw", f, NULL);
}

/* An expiry counts as changed if it passes ten minutes: tests put theirs on
 * the far side, scripts on the near one. */
static void take_digest(struct bench *bench, char *out)
{
    static const char script[] =
        "local out = {redis.call('DBSIZE')} "
        "for i, key in ipairs(KEYS) do "
        "  local kind = redis.call('TYPE', key).ok "
        "  local ttl = redis.call('PTTL', key) "
        "  local value = kind "
        "  if kind == 'string' then value = redis.call('GET', key) end "
        "  if kind == 'hash' then "
        "    value = table.concat(redis.call('HGETALL', key), ' ') end "
        "  out[#out + 1] = value .. (ttl > 600000 and ' far' or "
        "    ttl < 0 and ' never' or ' near') "
        "end "
        "return table.concat(out, '; ')";

    snprintf(out, DIGEST_SIZE, "%s",
             bench_do(bench, "EVAL", script, "3", "lock", LEASE, NODE, NULL));
}

void bench_remember(struct bench *bench)
{
    take_digest(bench, digest);
}

void assert_unchanged(struct bench *bench)
{
    char now[DIGEST_SIZE], said[sizeof(bench->said)];

    strcpy(said, bench->said);
    take_digest(bench, now);
    strcpy(bench->said, said);
    assert_string_equal(now, digest);
}

int bench_setup(void **state)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    redisReply *info;
    const char *words[] = {"INFO", "server"};

    bench->servers = servers_start(1);
    bench->server = servers_at(bench->servers, 0);
    bench->redis = redisConnectUnix(server_socket(bench->server));
    assert_true(bench->redis && !bench->redis->err);
    info = ask(bench, 2, words);
    memcpy(bench->run, strstr(info->str, "run_id:") + 7, 40);
    freeReplyObject(info);
    bench_do(bench, "HSET", NODE, "state", "ready", "cfg", CFG, "prev", "",
             "run", bench->run, "hw", "0", "max_ttl_ms", "60000", "slack_ms",
             "500", "at", "1", "ref", "", "q_run", "", "sync", "", "members",
             "a b c", NULL);
    *state = bench;
    return 0;
}

int bench_teardown(void **state)
{
    struct bench *bench = *state;

    redisFree(bench->redis);
    servers_stop(bench->servers);
    free(bench);
    return 0;
}
