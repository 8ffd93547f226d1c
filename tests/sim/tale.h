/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has happened lately, for people who read a failure. Written down cheaply
 * as it happens; put into words only when somebody asks.
 */
#ifndef TESTS_SIM_TALE_H
#define TESTS_SIM_TALE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TALE_LINES 400

struct tale_line {
    uint64_t at;
    const char *words;
    uint64_t value[4];
    char text[48];
};

struct tale {
    struct tale_line line[TALE_LINES];
    uint64_t count;
    bool aloud; /* printed as it happens */
};

struct world;

/*
 * Words with values in them, in this order: %c a client, %n a node, %k a lock
 * ("key"), %t a span of time, %d a number, %s `text` (once). The words must
 * live on; the text is copied.
 */
void tell(struct world *w, const char *words, uint64_t a, uint64_t b,
          uint64_t c, const char *text);
void tale_print(const struct tale *tale, FILE *file);

#endif
