/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guarded scripts on a real server, without any client in between. What a
 * script answers is text, so that a test reads as a conversation:
 *
 *     struct terms terms = bench_terms(bench);
 *
 *     assert_says("[1, T, 1000, 0, 0, '', '']", bench_acquire(bench, &terms));
 *
 * T stands for the server's TIME, checked to be now; ms for a remaining time
 * above 0. The lock is called "lock".
 */
#ifndef TESTS_LIB_SCRIPT_BENCH_H
#define TESTS_LIB_SCRIPT_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hiredis/hiredis.h>

#include "servers.h"

#define LEASE "quorlock:lock:{lock}"
#define NODE  "quorlock:node"
#define CFG   "0123456789abcdef.1.3"

struct bench {
    struct servers *servers;
    struct server *server;
    redisContext *redis;
    char run[41];
    char said[2048];     /* what was answered last */
    uint64_t time_us;    /* the TIME in it */
    long long remaining; /* the remaining time in it */
};

/* What a script is told; strings, so that a test can say nonsense. */
struct terms {
    const char *cfg, *run, *token, *value, *ttl, *fence, *lo, *hi, *linger,
        *keep, *seen, *strict, *held;
};

/* A server whose node record is ready, with hw 0. */
int bench_setup(void **state);
int bench_teardown(void **state);

/* Holder "tok" of no label, 10 s, number 1000, no bounds. */
struct terms bench_terms(const struct bench *bench);

const char *bench_acquire(struct bench *bench, const struct terms *terms);
const char *bench_confirm(struct bench *bench, const struct terms *terms);
const char *bench_extend(struct bench *bench, const struct terms *terms);
const char *bench_release(struct bench *bench, const struct terms *terms);
const char *bench_inspect(struct bench *bench);
/* The verb and its words, and a NULL. */
const char *bench_node(struct bench *bench, ...) __attribute__((sentinel));

/* Any command; NULL at the end. */
const char *bench_do(struct bench *bench, ...) __attribute__((sentinel));
/* A field of the node's record, "" if it is missing. */
const char *bench_field(struct bench *bench, const char *field);
/* The lock's plain key; and its lease record: "<token> <now + ms> <f>
 * <state> 0". Both live for a quarter of an hour. */
void bench_put_lock(struct bench *bench, const char *value);
void bench_put_lease(struct bench *bench, const char *token, int64_t ms,
                     const char *f, const char *state);
/* The lock as "tok" has it, with the number f. */
void bench_put_held(struct bench *bench, const char *f);
/* What its record says, but for the times: "tok 7 held", "tok 7 held old";
 * "none". */
const char *bench_lease(struct bench *bench);
uint64_t bench_now_us(struct bench *bench);

/* Everything that the server has is as it was at the last call. */
void bench_remember(struct bench *bench);
void assert_unchanged(struct bench *bench);

#define assert_says(expected, said) assert_string_equal(said, expected)

#define ON_BENCH(test)                                                         \
    cmocka_unit_test_setup_teardown(test, bench_setup, bench_teardown)

#endif
