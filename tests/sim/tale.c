/* SPDX-License-Identifier: BSD-2-Clause */
#include "tale.h"

#include <inttypes.h>
#include <string.h>

#include "world.h"

static void print_line(const struct tale_line *line, FILE *file)
{
    const uint64_t *value = line->value;

    fprintf(file, "%14.6f  ", (double)line->at / 1e9);
    for (const char *at = line->words; *at; at++) {
        if (*at != '%') {
            fputc(*at, file);
            continue;
        }
        switch (*++at) {
        case 'c':
            fprintf(file, "client %" PRIu64, *value++);
            break;
        case 'n':
            fprintf(file, "node %" PRIu64, *value++);
            break;
        case 'k':
            fprintf(file, "lock %" PRIu64, *value++);
            break;
        case 't':
            fprintf(file, "%.3f ms", (double)(int64_t)*value++ / 1e6);
            break;
        case 'd':
            fprintf(file, "%" PRId64, (int64_t)*value++);
            break;
        default:
            fputs(line->text, file);
        }
    }
    fputc('\n', file);
}

void tell(struct world *w, const char *words, uint64_t a, uint64_t b,
          uint64_t c, const char *text)
{
    struct tale *tale = &w->tale;
    struct tale_line *line = &tale->line[tale->count++ % TALE_LINES];
    size_t len = text ? strnlen(text, sizeof line->text - 1) : 0;

    line->at = w->now;
    line->words = words;
    line->value[0] = a;
    line->value[1] = b;
    line->value[2] = c;
    if (len > 0)
        memcpy(line->text, text, len);
    line->text[len] = '\0';
    w->hash = dice_mix(w->hash ^ w->now) + a + (b << 16) + (c << 32) + len;
    if (tale->aloud)
        print_line(line, stdout);
}

void tale_print(const struct tale *tale, FILE *file)
{
    uint64_t first = tale->count > TALE_LINES ? tale->count - TALE_LINES : 0;

    for (uint64_t i = first; i < tale->count; i++)
        print_line(&tale->line[i % TALE_LINES], file);
}
