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

#include <cmocka.h>

#include "pair.h"
#include "redis/script.h"
#include "servers.h"

#define STEPS 20000

/* --- Words ---------------------------------------------------------------- */

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
    pair_begin(p);
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

static void the_model_answers_as_a_server(void **state)
{
    static struct pair p;

    pair_open(&p, state);
    for (unsigned i = 0; i < STEPS; i++) {
        make_command(&p);
        freeReplyObject(ask_both(&p));
        if (p.words == 2 && p.word[0].len == 6 && p.word[1].len == 5)
            pair_load_scripts(
                &p); /* SCRIPT FLUSH: and some NOSCRIPTs after it */
    }
    pair_close(&p);
}

/* A key with `ttl` set at `t` is there at `t + ttl`, and gone a millisecond
 * later: on both sides, as far as a clock outside the server can tell. */
static void expiry_is_the_same(void **state)
{
    static struct pair p;

    pair_open(&p, state);
    for (unsigned i = 0; i < 50; i++) {
        long long ttl_ms = (long long)dice_between(&p.dice, 1, 20);
        int64_t before, after, gone_at;
        redisReply *reply;
        long long there = 1;

        pair_begin(&p);
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
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_answers_as_a_server),
        cmocka_unit_test(expiry_is_the_same),
    };

    return cmocka_run_group_tests(tests, servers_setup_1, servers_teardown);
}
