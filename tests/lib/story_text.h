/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of a story: lines taken apart, written, and compared. */
#ifndef TESTS_LIB_STORY_TEXT_H
#define TESTS_LIB_STORY_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define STORY_LINES 200
#define STORY_WIDTH 320
#define STORY_WORDS 48
#define STORY_WORD  32

struct story_text {
    unsigned count;
    char line[STORY_LINES][STORY_WIDTH];
};

/* What stands left of a line's arrow. */
struct story_words {
    unsigned count; /* of those that are left */
    char (*word)[STORY_WORD];
    char all[STORY_WORDS][STORY_WORD];
};

struct story_text *story_text_new(void);

/* Without remarks, with single blanks, continued lines joined. */
struct story_text *story_text_parse(const char *text);

/* Fails the test if they differ, and shows them side by side. */
void story_text_compare(const struct story_text *wanted,
                        const struct story_text *told);

void story_split(struct story_words *words, const char *line);
char *story_next_word(struct story_words *words);

void story_write_line(struct story_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Behind what the last line has already. */
void story_write(struct story_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void story_write_word(struct story_text *text, const char *word);
void story_write_capitals(struct story_text *text, const char *words);
/* The arrow before the line's first action, a semicolon before the others. */
void story_write_action(struct story_text *text);

/* "1.234", or as many digits as it takes; "never". In one of a few buffers. */
const char *story_time(uint64_t ns);
uint64_t story_parse_time(const char *seconds);

#endif
