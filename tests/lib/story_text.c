/* SPDX-License-Identifier: BSD-2-Clause */
#include "story_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/time.h"

struct story_text *story_text_new(void)
{
    struct story_text *text = calloc(1, sizeof(*text));

    assert_non_null(text);
    return text;
}

/* One line of `text` into `line`, tidied; returns what follows it. */
static const char *tidy_line(char line[STORY_WIDTH], const char *text)
{
    unsigned length = 0, depth = 0;

    for (; *text && *text != '\n'; text++) {
        bool blank = isspace((unsigned char)*text);

        if (*text == '(') {
            depth++;
        } else if (*text == ')') {
            assert_in_range(depth, 1, 9);
            depth--;
        } else if (depth == 0 &&
                   !(blank && (length == 0 || line[length - 1] == ' '))) {
            assert_in_range(length, 0, STORY_WIDTH - 2);
            line[length++] = blank ? ' ' : *text;
        }
    }
    if (length > 0 && line[length - 1] == ' ')
        length--;
    line[length] = '\0';
    return *text ? text + 1 : text;
}

struct story_text *story_text_parse(const char *source)
{
    struct story_text *text = story_text_new();
    char line[STORY_WIDTH];

    while (*source) {
        source = tidy_line(line, source);
        if (strncmp(line, "-> ", 3) == 0) {
            bool first = !strstr(text->line[text->count - 1], " -> ");

            story_write(text, "%s%s", first ? " -> " : "; ", line + 3);
        } else if (line[0]) {
            story_write_line(text, "%s", line);
        }
    }
    return text;
}

static void write_to(struct story_text *text, const char *format, va_list args)
{
    char *line = text->line[text->count - 1];
    size_t used = strlen(line);
    int length = vsnprintf(line + used, STORY_WIDTH - used, format, args);

    assert_in_range(length, 0, STORY_WIDTH - used - 1);
}

void story_write_line(struct story_text *text, const char *format, ...)
{
    va_list args;

    assert_in_range(text->count, 0, STORY_LINES - 1);
    text->count++;
    va_start(args, format);
    write_to(text, format, args);
    va_end(args);
}

void story_write(struct story_text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_to(text, format, args);
    va_end(args);
}

void story_write_word(struct story_text *text, const char *word)
{
    story_write(text, " %s", word);
}

void story_write_capitals(struct story_text *text, const char *words)
{
    for (; *words; words++)
        story_write(text, "%c", toupper((unsigned char)*words));
}

void story_write_action(struct story_text *text)
{
    bool first = !strstr(text->line[text->count - 1], " -> ");

    story_write(text, first ? " -> " : "; ");
}

void story_split(struct story_words *words, const char *line)
{
    const char *arrow = strstr(line, " -> ");
    const char *end = arrow ? arrow : line + strlen(line);
    size_t length;

    words->count = 0;
    words->word = words->all;
    for (const char *word = line; word < end; word += length + 1) {
        length = strcspn(word, " ");
        assert_in_range(length, 1, STORY_WORD - 1);
        assert_in_range(words->count, 0, STORY_WORDS - 1);
        memcpy(words->all[words->count], word, length);
        words->all[words->count++][length] = '\0';
    }
    assert_true(words->count > 0);
}

char *story_next_word(struct story_words *words)
{
    assert_true(words->count > 0);
    words->count--;
    return *words->word++;
}

const char *story_time(uint64_t ns)
{
    static char buffers[4][40];
    static unsigned next;
    char *buffer = buffers[next++ % 4];
    size_t length;

    if (ns == QL_NEVER)
        return "never";
    length = sprintf(buffer, "%" PRIu64 ".%09" PRIu64, ns / 1000000000,
                     ns % 1000000000);
    while (length > 0 && buffer[length - 1] == '0' && buffer[length - 4] != '.')
        buffer[--length] = '\0';
    return buffer;
}

uint64_t story_parse_time(const char *seconds)
{
    char *rest;
    uint64_t ns = strtoull(seconds, &rest, 10) * UINT64_C(1000000000);
    uint64_t unit = 100000000;

    if (rest == seconds || *rest != '.')
        fail_msg("\"%s\" is not a time", seconds);
    for (rest++; isdigit((unsigned char)*rest) && unit > 0; rest++) {
        ns += (uint64_t)(*rest - '0') * unit;
        unit /= 10;
    }
    if (*rest)
        fail_msg("\"%s\" is not a time", seconds);
    return ns;
}

void story_text_compare(const struct story_text *wanted,
                        const struct story_text *told)
{
    unsigned lines = wanted->count > told->count ? wanted->count : told->count;
    unsigned different = 0;

    for (unsigned i = 0; i < lines; i++)
        different += strcmp(wanted->line[i], told->line[i]) != 0;
    if (different == 0)
        return;
    for (unsigned i = 0; i < lines; i++) {
        bool same = strcmp(wanted->line[i], told->line[i]) == 0;

        print_error("  %c %-58s | %s\n", same ? ' ' : '!', wanted->line[i],
                    told->line[i]);
    }
    fail_msg("the story went otherwise: as told | as it happened");
}
