/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A real server and the model of one, which are asked the same.
 */
#ifndef TESTS_SIM_PAIR_H
#define TESTS_SIM_PAIR_H

#include <hiredis/hiredis.h>

#include "dice.h"
#include "redis_model.h"

#define PAIR_WORDS 32
#define PAIR_BYTES 400 /* of one word */

struct pair {
    struct dice dice;
    struct redis model;
    redisContext *real;
    struct bytes answer;
    char space[PAIR_WORDS][PAIR_BYTES]; /* of the words of one command */
    struct word word[PAIR_WORDS];
    unsigned words;
};

/* For cmocka; `state` is that of servers_setup_1(). */
void pair_open(struct pair *p, void **state);
void pair_close(struct pair *p);
void pair_load_scripts(struct pair *p);

/* The words of the next command. */
void pair_begin(struct pair *p);
void add_bytes(struct pair *p, const void *bytes, size_t len);
void add(struct pair *p, const char *text);
void add_number(struct pair *p, long long number);
void add_one_of(struct pair *p, const char *const *texts, unsigned count);

int64_t now_ms(void);
redisReply *ask_real(struct pair *p);
/* Asks the model at the time that the server's answer tells, if it does. */
redisReply *ask_model(struct pair *p, const redisReply *real);
/* The test fails if they do not answer the same; the server's answer. */
redisReply *ask_both(struct pair *p);

#endif
