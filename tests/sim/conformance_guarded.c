/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same for the guarded level: its scripts, and the commands that they are
 * made of, on records of all kinds, spoiled ones among them. The model is asked
 * at the very microsecond that the server answers with, so whether a lease has
 * ended is the same for both, and so is every number.
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

#define STEPS 30000

#define CFG  "0123456789abcdef.1.3"
#define NEXT "0123456789abcdef.2.3"
#define NODE "quorlock:node"

static uint64_t largest; /* number that was answered */

/* --- Words ---------------------------------------------------------------- */

static bool mostly(struct pair *p)
{
    return dice_chance(&p->dice, 900000);
}

static void add_count(struct pair *p, uint64_t often)
{
    static const char *const odd[] = {
        "0",  "",    "x",    "1.5",
        "-1", "1e3", "0x10", "9007199254740991",
        " 1", "inf", "nan",  "99999999999999999999"};

    if (dice_chance(&p->dice, 970000))
        add_number(p, (long long)often);
    else
        add_one_of(p, odd, 12);
}

/* About the present, in microseconds. */
static void add_time(struct pair *p, int64_t off_us)
{
    if (dice_chance(&p->dice, 30000))
        off_us = -off_us;
    add_count(p, (uint64_t)(now_ms() * 1000 + off_us));
}

static void add_name(struct pair *p)
{
    static const char *const names[] = {"a", "b", "c"};

    add_one_of(p, names, 3);
}

static void add_record_name(struct pair *p)
{
    static const char *const names[] = {
        "quorlock:lock:{a}", "quorlock:lock:{b}", "quorlock:lock:{c}"};

    add_one_of(p, names, 3);
}

static const char *const tokens[] = {"token", "token2", "other"};

static void add_token(struct pair *p)
{
    add_one_of(p, tokens, 3);
}

static void add_cfg(struct pair *p)
{
    static const char *const other[] = {NEXT, "", "fedcba9876543210.1.3"};

    if (mostly(p))
        add(p, CFG);
    else
        add_one_of(p, other, 3);
}

static void add_run(struct pair *p)
{
    static const char *const other[] = {
        "", "x", "0123456789012345678901234567890123456789"};

    if (mostly(p))
        add(p, p->model.run_id);
    else
        add_one_of(p, other, 3);
}

/* Long ones: nothing here expires by itself. */
static void add_ttl(struct pair *p)
{
    add_count(p, 1000000 + dice_below(&p->dice, 1000000));
}

static void add_seen(struct pair *p)
{
    add_count(p, mostly(p) ? 0 : largest + dice_below(&p->dice, 2));
}

/* One that was answered, or one beside it. */
static void add_fence(struct pair *p)
{
    if (mostly(p))
        add_count(p, largest + dice_below(&p->dice, 3) - 1);
    else
        add_time(p, 0);
}

static void add_strict(struct pair *p)
{
    add(p, dice_chance(&p->dice, 300000) ? "1" : "0");
}

static void add_band(struct pair *p)
{
    add_time(p, -20000000);
    add_time(p, 20000000);
    add_count(p, dice_below(&p->dice, 5000));           /* linger */
    add_count(p, 1000000 + dice_below(&p->dice, 1000)); /* keep */
}

/* --- Scripts --------------------------------------------------------------
 */

static void add_value(struct pair *p)
{
    char value[64];

    snprintf(value, sizeof value, "%s%s", tokens[dice_below(&p->dice, 3)],
             dice_chance(&p->dice, 700000) ? " label" : "");
    add(p, value);
}

static void make_acquire(struct pair *p)
{
    add(p, "3");
    add_name(p);
    add_record_name(p);
    add(p, NODE);
    add_cfg(p);
    add_run(p);
    add_token(p);
    add_value(p);
    add_ttl(p);
    if (dice_chance(&p->dice, 700000))
        /* Not near the slack: an error does not tell when it was. */
        add_time(p, (int64_t)dice_below(&p->dice, 400000) +
                        (mostly(p) ? 0 : 600000));
    else
        add_fence(p);
    add_band(p);
    add_seen(p);
    add_strict(p);
}

static void make_extend(struct pair *p)
{
    add(p, "3");
    add_name(p);
    add_record_name(p);
    add(p, NODE);
    add_cfg(p);
    add_run(p);
    add_token(p);
    add_value(p);
    add_ttl(p);
    add_fence(p);
    add_band(p);
    add_seen(p);
    add_strict(p);
}

static void make_release(struct pair *p)
{
    add(p, "2");
    add_name(p);
    add_record_name(p);
    add_token(p);
    add_number(p, 1000000);
}

static void make_inspect(struct pair *p)
{
    add(p, "3");
    add_name(p);
    add_record_name(p);
    add(p, NODE);
}

static void make_confirm(struct pair *p)
{
    add(p, "2");
    add_record_name(p);
    add(p, NODE);
    add_cfg(p);
    add_run(p);
    add_token(p);
    add_fence(p);
    add_seen(p);
    add_strict(p);
}

/* What each verb takes, a letter for each argument: Config, Run, Number, Time,
 * the others' text. */
static const char *const verbs[][2] = {
    {"look", ""},        {"form", "CNNRxN"},        {"activate", "CRR"},
    {"activate", "CRR"}, {"quarantine", "CCNNxRT"}, {"ready", "CRTN0R"},
    {"ready", "CRTN0R"}, {"ready", "CRTNNR"},       {"durable", "RR"},
    {"verified", "RR"},  {"next", "CCxN"},          {"plan", "Cx"},
    {"abandon", "Cx"},   {"join", "CCNNRxN"},       {"settle", "C"},
    {"remove", "C"},     {"nonsense", ""},
};

static void make_node(struct pair *p)
{
    const char *const *verb =
        verbs[dice_below(&p->dice, sizeof verbs / sizeof verbs[0])];

    add(p, "1");
    add(p, NODE);
    add(p, verb[0]);
    for (const char *at = verb[1]; *at; at++) {
        if (*at == 'C')
            add_cfg(p);
        else if (*at == 'R')
            add_run(p);
        else if (*at == 'N')
            add_count(p, 500 * dice_below(&p->dice, 10000));
        else if (*at == 'T')
            add_time(p, (int64_t)dice_below(&p->dice, 1000000000));
        else
            add(p, *at == '0' ? "0" : "n1 n2 n3");
    }
    if (dice_chance(&p->dice, 10000))
        add(p, "more");
}

static void make_script(struct pair *p)
{
    static void (*const make[])(struct pair * p) = {
        make_acquire, make_extend,  make_release,
        make_inspect, make_confirm, make_node,
    };
    unsigned which = (unsigned)dice_below(&p->dice, QL_SCRIPTS);
    int script;

    if (which < QL_SCRIPTS_PLAIN)
        which = QL_SCRIPTS_PLAIN;
    script = (int)which;
    add(p, "EVALSHA");
    add(p, ql_script_at((unsigned)script)->sha1);
    make[which - QL_SCRIPTS_PLAIN](p);
}

/* --- Commands -------------------------------------------------------------
 */

static void add_lease(struct pair *p)
{
    char text[160];
    int64_t end_us = now_ms() * 1000;
    uint64_t fence = largest + dice_below(&p->dice, 5) - 2;

    end_us += dice_chance(&p->dice, 500000) ? 3600000000 : -3600000000;
    /* What comes behind the state is a number, or a token that looks so. */
    snprintf(text, sizeof text, "%s %lld %llu %s%s",
             tokens[dice_below(&p->dice, 3)], (long long)end_us,
             (unsigned long long)fence,
             dice_chance(&p->dice, 700000) ? "held" : "released",
             mostly(p) ? " 0" : "");
    if (!mostly(p))
        text[dice_below(&p->dice, strlen(text))] =
            "x 9\0"[dice_below(&p->dice, 4)];
    add(p, text);
}

static void make_set(struct pair *p)
{
    add(p, "SET");
    if (dice_chance(&p->dice, 500000)) {
        add_record_name(p);
        add_lease(p);
    } else {
        add_name(p);
        add_value(p);
    }
    if (dice_chance(&p->dice, 300000)) {
        add(p, "KEEPTTL");
    } else if (mostly(p)) {
        add(p, "PX");
        add_ttl(p);
    }
}

/* A record that somebody has had his hands in. */
static void make_field(struct pair *p)
{
    static const char *const fields[] = {
        "state", "cfg",      "prev", "run",   "hw",   "max_ttl_ms",
        "at",    "slack_ms", "ref",  "q_run", "sync", "nonsense"};
    static const char *const states[] = {"ready", "quarantine", "forming",
                                         "removed", ""};
    unsigned which = (unsigned)dice_below(&p->dice, 3);

    add(p, which == 0 ? "HDEL" : which == 1 ? "HMGET" : "HSET");
    add(p, mostly(p) ? NODE : "quorlock:lock:{a}");
    if (which == 2 && dice_chance(&p->dice, 500000)) {
        add(p, "state");
        add_one_of(p, states, 5);
        return;
    }
    add_one_of(p, fields, 12);
    if (which == 1)
        add_one_of(p, fields, 12);
    else if (which == 2)
        add_count(p, largest);
    if (which == 2 && dice_chance(&p->dice, 50000))
        add(p, "state");
}

static void make_other(struct pair *p)
{
    static const char *const commands[] = {"GET", "DEL", "EXISTS", "PTTL"};

    add_one_of(p, commands, 4);
    if (dice_chance(&p->dice, 100000))
        add(p, NODE);
    else if (dice_chance(&p->dice, 500000))
        add_name(p);
    else
        add_record_name(p);
}

/* A node that is ready again, or little would ever be granted. */
static void make_ready(struct pair *p, unsigned step)
{
    add(p, "EVALSHA");
    add(p, ql_script_at(QL_SCRIPTS - 1)->sha1);
    add(p, "1");
    add(p, NODE);
    if (step == 0) {
        add(p, "join");
        add(p, CFG);
        add(p, NEXT);
        add(p, "3000000");
        add(p, "500");
    } else {
        add(p, "durable");
    }
    add(p, p->model.run_id);
    add(p, step == 0 ? "n1 n2 n3" : p->model.run_id);
    if (step == 0)
        add_number(p, (long long)largest);
}

/* GET of a record would show the end of the lease, by each one's own clock:
 * it is the same, since the model was asked at the server's time. */
static void make_command(struct pair *p)
{
    uint64_t chance = dice_below(&p->dice, 1000);

    pair_begin(p);
    if (chance < 700)
        make_script(p);
    else if (chance < 850)
        make_set(p);
    else if (chance < 860)
        make_field(p);
    else if (chance < 950)
        make_other(p);
    else
        make_ready(p, chance % 2);
}

static void note_fence(const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements >= 3 &&
        reply->element[2]->type == REDIS_REPLY_INTEGER &&
        (uint64_t)reply->element[2]->integer > largest &&
        reply->element[2]->integer < INT64_C(9000000000000000))
        largest = (uint64_t)reply->element[2]->integer;
}

static void start_again(struct pair *p)
{
    pair_begin(p);
    add(p, "FLUSHALL");
    freeReplyObject(ask_both(p));
    largest = 1000;
}

static void the_model_answers_as_a_server(void **state)
{
    static struct pair p;
    unsigned granted[QL_SCRIPTS] = {0};

    pair_open(&p, state);
    for (unsigned i = 0; i < STEPS; i++) {
        redisReply *reply;

        if (i % 500 == 0)
            start_again(&p);
        make_command(&p);
        reply = ask_both(&p);
        note_fence(reply);
        if (reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 &&
            reply->element[0]->integer > 0)
            for (unsigned k = 0; k < QL_SCRIPTS; k++)
                granted[k] +=
                    memcmp(p.word[1].bytes, ql_script_at(k)->sha1, 40) == 0;
        freeReplyObject(reply);
    }
    /* Not only refusals were compared. */
    for (unsigned k = QL_SCRIPTS_PLAIN; k < QL_SCRIPTS - 1; k++)
        assert_true(granted[k] > STEPS / 500);
    pair_close(&p);
}

/* What the greeting asks, word by word of what quorlock reads of it. */
static void what_a_server_says_of_itself(void **state)
{
    static const char *const fields[] = {"run_id:",
                                         "redis_mode:",
                                         "role:",
                                         "maxmemory_policy:",
                                         "maxmemory:",
                                         "loading:",
                                         "second_repl_offset:",
                                         "aof_last_write_status:",
                                         "uptime_in_seconds:",
                                         "aof_enabled:"};
    static struct pair p;
    redisReply *real, *model;

    pair_open(&p, state);
    pair_begin(&p);
    add(&p, "INFO");
    real = ask_real(&p);
    model = ask_model(&p, real);
    for (unsigned i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *a = strstr(real->str, fields[i]);
        const char *b = strstr(model->str, fields[i]);

        assert_non_null(a);
        assert_non_null(b);
        /* The last two are this server's own business. */
        if (i < 8)
            assert_memory_equal(a, b, strcspn(a, "\n"));
    }
    freeReplyObject(real);
    freeReplyObject(model);
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_answers_as_a_server),
        cmocka_unit_test(what_a_server_says_of_itself),
    };

    return cmocka_run_group_tests(tests, servers_setup_1, servers_teardown);
}
