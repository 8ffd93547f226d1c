/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model of a server that the simulator uses against a real one: the same
 * commands and scripts on the same inputs, by chance, give the same answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>
#include <hiredis/hiredis.h>

#include "dice.h"
#include "redis/script.h"
#include "redis_model.h"
#include "servers.h"

#define STEPS 20000
#define WORDS 8
#define SLACK_MS                                                               \
    5000 /* what a slow machine may make a remaining time differ               \
          */

struct pair {
    struct dice dice;
    struct redis model;
    redisContext *real;
    struct bytes answer;
    char space[WORDS][400]; /* of the words of one command */
    struct word word[WORDS];
    unsigned words;
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- Words ---------------------------------------------------------------- */

static void add_bytes(struct pair *p, const void *bytes, size_t len)
{
    assert_true(p->words < WORDS && len <= sizeof p->space[0]);
    memcpy(p->space[p->words], bytes, len);
    p->word[p->words] = (struct word){p->space[p->words], len};
    p->words++;
}

static void add(struct pair *p, const char *text)
{
    add_bytes(p, text, strlen(text));
}

static void add_number(struct pair *p, long long number)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", number);
    add(p, text);
}

static void add_one_of(struct pair *p, const char *const *texts, unsigned count)
{
    add(p, texts[dice_below(&p->dice, count)]);
}

static void add_name(struct pair *p)
{
    static const char *const names[] = {"a", "b", "", "a b", "a\r\nb", "c"};

    if (dice_chance(&p->dice, 50000))
        add_bytes(p, "n\0ul", 4);
    else
        add_one_of(p, names, 6);
}

/* Tokens, one of them the beginning of another. */
static const char *const tokens[] = {"t", "token", "token2", "other", " ", ""};

static void add_token(struct pair *p)
{
    add_one_of(p, tokens, 6);
}

static void add_value(struct pair *p)
{
    char value[400];
    size_t len = dice_below(&p->dice, sizeof value);
    const char *token = tokens[dice_below(&p->dice, 6)];

    if (dice_chance(&p->dice, 800000)) {
        len = (size_t)snprintf(value, sizeof value, "%s%s", token,
                               dice_chance(&p->dice, 500000) ? " label" : "");
    } else {
        for (size_t i = 0; i < len; i++)
            value[i] = (char)dice_next(&p->dice);
    }
    add_bytes(p, value, len);
}

static void add_ttl(struct pair *p)
{
    static const char *const odd[] = {"0",    "-1",
                                      "x",    "",
                                      "1.5",  "9223372036854775807",
                                      " 100", "99999999999999999999"};

    /* Long ones: nothing here expires by itself. See expiry_is_the_same. */
    if (dice_chance(&p->dice, 900000))
        add_number(p, 1000000 + (long long)dice_below(&p->dice, 1000000));
    else
        add_one_of(p, odd, 8);
}

/* --- Commands --------------------------------------------------------------
 */

static void make_script(struct pair *p)
{
    unsigned index = (unsigned)dice_below(&p->dice, QL_SCRIPTS_PLAIN);

    add(p, "EVALSHA");
    add(p, ql_script_at(index)->sha1);
    add(p, "1");
    add_name(p);
    add_token(p);
    if (strcmp(ql_script_at(index)->name, "extend") == 0)
        add_number(p, 1000000 + (long long)dice_below(&p->dice, 1000000));
}

static void make_set(struct pair *p)
{
    add(p, "SET");
    add_name(p);
    add_value(p);
    if (dice_chance(&p->dice, 800000))
        add(p, "NX");
    if (dice_chance(&p->dice, 900000)) {
        add(p, dice_chance(&p->dice, 900000) ? "PX" : "px");
        add_ttl(p);
    }
    if (dice_chance(&p->dice, 20000))
        add(p, "NONSENSE");
}

static void make_other(struct pair *p)
{
    static const char *const commands[] = {"EXISTS",  "DEL",   "PTTL",
                                           "PEXPIRE", "LPUSH", "GETRANGE"};
    unsigned which = (unsigned)dice_below(&p->dice, 6);

    add(p, commands[which]);
    add_name(p);
    if (which == 3) {
        add_ttl(p);
    } else if (which == 4) {
        add(p, "element");
    } else if (which == 5) {
        add_number(p, (long long)dice_below(&p->dice, 40) - 20);
        add_number(p, (long long)dice_below(&p->dice, 400) - 20);
    } else if (which < 2 && dice_chance(&p->dice, 300000)) {
        add_name(p);
    }
}

static void make_command(struct pair *p)
{
    p->words = 0;
    if (dice_chance(&p->dice, 1000)) {
        add(p, "SCRIPT");
        add(p, "FLUSH");
    } else if (dice_chance(&p->dice, 500000)) {
        make_script(p);
    } else if (dice_chance(&p->dice, 500000)) {
        make_set(p);
    } else {
        make_other(p);
    }
}

/* --- Answers ---------------------------------------------------------------
 */

static redisReply *ask_model(struct pair *p)
{
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;

    assert_non_null(reader);
    bytes_take(&p->answer, bytes_count(&p->answer));
    p->model.now_ms = now_ms();
    redis_run(&p->model, p->words, p->word, &p->answer);
    redisReaderFeed(reader, bytes_first(&p->answer), bytes_count(&p->answer));
    assert_int_equal(redisReaderGetReply(reader, &reply), REDIS_OK);
    assert_non_null(reply);
    redisReaderFree(reader);
    return reply;
}

static redisReply *ask_real(struct pair *p)
{
    const char *argv[WORDS];
    size_t len[WORDS];
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
        print_error("%.*s ", (int)p->word[i].len, p->word[i].bytes);
    print_error("\n");
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

static void ask_both(struct pair *p)
{
    redisReply *model = ask_model(p), *real = ask_real(p);

    if (!same(model, real)) {
        show(p);
        fail_msg("the model answers %d %lld %s, the server %d %lld %s",
                 model->type, model->integer, model->str ? model->str : "",
                 real->type, real->integer, real->str ? real->str : "");
    }
    freeReplyObject(model);
    freeReplyObject(real);
}

static void load_scripts(struct pair *p)
{
    for (unsigned i = 0; i < QL_SCRIPTS_PLAIN; i++) {
        const char *source = ql_script_at(i)->source;

        p->words = 0;
        add(p, "SCRIPT");
        add(p, "LOAD");
        p->word[p->words++] = (struct word){source, strlen(source)};
        ask_both(p);
    }
}

static void open_pair(struct pair *p, void **state)
{
    struct server *server = servers_at(*state, 0);

    *p = (struct pair){.dice = {1}};
    p->real = redisConnectUnix(server_socket(server));
    assert_non_null(p->real);
    assert_int_equal(p->real->err, 0);
    load_scripts(p);
}

static void close_pair(struct pair *p)
{
    redisFree(p->real);
    keyspace_free(&p->model.keys);
    bytes_free(&p->answer);
    redis_close_lua();
}

static void the_model_answers_as_a_server(void **state)
{
    static struct pair p;

    open_pair(&p, state);
    for (unsigned i = 0; i < STEPS; i++) {
        make_command(&p);
        ask_both(&p);
        if (p.words == 2 && p.word[0].len == 6 && p.word[1].len == 5)
            load_scripts(&p); /* SCRIPT FLUSH: and some NOSCRIPTs after it */
    }
    close_pair(&p);
}

/* A key with `ttl` set at `t` is there at `t + ttl`, and gone a millisecond
 * later: on both sides, as far as a clock outside the server can tell. */
static void expiry_is_the_same(void **state)
{
    static struct pair p;

    open_pair(&p, state);
    for (unsigned i = 0; i < 50; i++) {
        long long ttl_ms = (long long)dice_between(&p.dice, 1, 20);
        int64_t before, after, gone_at;
        redisReply *reply;
        long long there = 1;

        p.words = 0;
        add(&p, "SET");
        add(&p, "short");
        add(&p, "token");
        add(&p, "PX");
        add_number(&p, ttl_ms);
        before = now_ms();
        freeReplyObject(ask_real(&p));
        after = now_ms();
        p.model.now_ms = before;
        redis_run(&p.model, p.words, p.word, &p.answer);
        gone_at = before + ttl_ms + 1;
        while (there) {
            int64_t asked_at = now_ms();

            reply = redisCommand(p.real, "EXISTS short");
            assert_non_null(reply);
            there = reply->integer;
            freeReplyObject(reply);
            /* It was set at `after` at the latest. */
            if (there)
                assert_true(asked_at <= gone_at + (after - before));
            else
                assert_true(now_ms() >= gone_at);
        }
        assert_non_null(keyspace_find(&p.model.keys, gone_at - 1, "short", 5));
        assert_null(keyspace_find(&p.model.keys, gone_at, "short", 5));
    }
    close_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_answers_as_a_server),
        cmocka_unit_test(expiry_is_the_same),
    };

    return cmocka_run_group_tests(tests, servers_setup_1, servers_teardown);
}
