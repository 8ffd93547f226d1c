/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "pair.h"
#include "redis/script.h"
#include "servers.h"

/* What a slow machine may make a remaining time differ. */
#define SLACK_MS 5000

int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- Words ---------------------------------------------------------------- */

void pair_begin(struct pair *p)
{
    p->words = 0;
}

void add_bytes(struct pair *p, const void *bytes, size_t len)
{
    assert_true(p->words < PAIR_WORDS && len <= sizeof p->space[0]);
    memcpy(p->space[p->words], bytes, len);
    p->word[p->words] = (struct word){p->space[p->words], len};
    p->words++;
}

void add(struct pair *p, const char *text)
{
    add_bytes(p, text, strlen(text));
}

void add_number(struct pair *p, long long number)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", number);
    add(p, text);
}

void add_one_of(struct pair *p, const char *const *texts, unsigned count)
{
    add(p, texts[dice_below(&p->dice, count)]);
}

/* --- Answers ---------------------------------------------------------------
 */

/* The guarded scripts answer {code, TIME, ...}, and lua/node.lua {TIME, ...} in
 * digits. 0: there is no TIME in the answer. */
static int64_t time_told(const redisReply *reply)
{
    long long time = 0;

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2)
        return 0;
    if (reply->element[1]->type == REDIS_REPLY_INTEGER)
        time = reply->element[1]->integer;
    else if (reply->element[0]->type == REDIS_REPLY_STRING)
        time = atoll(reply->element[0]->str);
    return time > INT64_C(1000000000000000) ? time : 0;
}

redisReply *ask_model(struct pair *p, const redisReply *real)
{
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    int64_t now_us = time_told(real);

    assert_non_null(reader);
    bytes_take(&p->answer, bytes_count(&p->answer));
    p->model.now_us = now_us ? now_us : now_ms() * 1000;
    p->model.now_ms = p->model.now_us / 1000;
    redis_run(&p->model, p->words, p->word, &p->answer);
    redisReaderFeed(reader, bytes_first(&p->answer), bytes_count(&p->answer));
    assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
    assert_non_null(reply);
    redisReaderFree(reader);
    return reply;
}

redisReply *ask_real(struct pair *p)
{
    const char *argv[PAIR_WORDS];
    size_t len[PAIR_WORDS];
    redisReply *reply;

    for (unsigned i = 0; i < p->words; i++) {
        argv[i] = p->word[i].bytes;
        len[i] = p->word[i].len;
    }
    reply = redisCommandArgv(p->real, (int)p->words, argv, len);
    assert_non_null(reply);
    return reply;
}

static void show(const struct pair *p)
{
    for (unsigned i = 0; i < p->words; i++)
        print_error("'%.*s' ", (int)p->word[i].len, p->word[i].bytes);
    print_error("\n");
}

static void show_reply(const char *whose, const redisReply *reply)
{
    print_error("%s: type %d, %lld %s\n", whose, reply->type, reply->integer,
                reply->str ? reply->str : "");
    for (size_t i = 0; i < reply->elements; i++)
        show_reply("  of it", reply->element[i]);
}

/* Of an error only the first word: the rest differs between versions. */
static bool same_error(const redisReply *a, const redisReply *b)
{
    size_t len = strcspn(a->str, " ");

    return strcspn(b->str, " ") == len && memcmp(a->str, b->str, len) == 0;
}

static bool same(const redisReply *a, const redisReply *b)
{
    long long apart = a->integer - b->integer;

    if (a->type != b->type)
        return false;
    switch (a->type) {
    case REDIS_REPLY_INTEGER:
        /* Remaining times are large here, and no other number is. */
        return apart == 0 || (a->integer > 100000 && b->integer > 100000 &&
                              apart < SLACK_MS && apart > -SLACK_MS);
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
        return a->len == b->len && memcmp(a->str, b->str, (size_t)a->len) == 0;
    case REDIS_REPLY_ERROR:
        return same_error(a, b);
    case REDIS_REPLY_ARRAY:
        if (a->elements != b->elements)
            return false;
        for (size_t i = 0; i < a->elements; i++)
            if (!same(a->element[i], b->element[i]))
                return false;
        return true;
    default:
        return true;
    }
}

redisReply *ask_both(struct pair *p)
{
    redisReply *real = ask_real(p), *model = ask_model(p, real);

    if (!same(model, real)) {
        show(p);
        show_reply("the model answers", model);
        show_reply("the server answers", real);
        fail();
    }
    freeReplyObject(model);
    return real;
}

void pair_load_scripts(struct pair *p)
{
    for (unsigned i = 0; i < QL_SCRIPTS; i++) {
        const char *source = ql_script_at(i)->source;

        pair_begin(p);
        add(p, "SCRIPT");
        add(p, "LOAD");
        p->word[p->words++] = (struct word){source, strlen(source)};
        freeReplyObject(ask_both(p));
    }
}

/* What only the server can know of itself. */
static void take_run_id(struct pair *p)
{
    redisReply *info = redisCommand(p->real, "INFO server");
    const char *at;

    assert_non_null(info);
    at = strstr(info->str, "run_id:");
    assert_non_null(at);
    memcpy(p->model.run_id, at + 7, 40);
    freeReplyObject(info);
}

void pair_open(struct pair *p, void **state)
{
    struct server *server = servers_at(*state, 0);

    *p = (struct pair){.dice = {1}};
    p->real = redisConnectUnix(server_socket(server));
    assert_non_null(p->real);
    assert_int_equal(p->real->err, 0);
    freeReplyObject(redisCommand(p->real, "FLUSHALL"));
    freeReplyObject(redisCommand(p->real, "SCRIPT FLUSH"));
    take_run_id(p);
    pair_load_scripts(p);
}

void pair_close(struct pair *p)
{
    redisFree(p->real);
    keyspace_free(&p->model.keys);
    bytes_free(&p->answer);
    redis_close_lua();
}
