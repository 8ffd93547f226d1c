/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for standings: what is wrong, and what to do. They are short, because
 * a report's text is. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "guard/judging.h"

#define MINUTES_FROM_S UINT64_C(1000)

void ql_say(struct ql_judging *j, unsigned i, ql_verdict verdict,
            const char *format, ...)
{
    struct ql_standing *standing = &j->group->node[i];
    va_list words;

    standing->verdict = verdict;
    va_start(words, format);
    vsnprintf(standing->text, sizeof(standing->text), format, words);
    va_end(words);
}

/* Rounded up, so that it is over when it says so. */
void ql_say_duration(char *out, size_t size, uint64_t us)
{
    uint64_t s = us / QL_US_PER_S + (us % QL_US_PER_S != 0);

    if (s < MINUTES_FROM_S)
        snprintf(out, size, "%" PRIu64 " s", s);
    else
        snprintf(out, size, "%" PRIu64 " min", s / 60 + (s % 60 != 0));
}

/* What was said before, and as much of `text` as fits. */
static bool append(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);

    return (size_t)snprintf(out + used, size - used, "%s", text) < size - used;
}

void ql_say_init(const struct ql_judging *j, char out[QL_TEXT_MAX],
                 const char *words, size_t room)
{
    size_t size = room < QL_TEXT_MAX ? room + 1 : QL_TEXT_MAX;
    bool fits;

    snprintf(out, QL_TEXT_MAX, "quorlock init %s-S ", words);
    fits = strlen(out) < size;
    for (unsigned i = 0; i < j->view->nodes && fits; i++)
        fits = append(out, size, i ? "," : "") &&
               append(out, size, j->view->address[i]);
    if (!fits)
        snprintf(out, QL_TEXT_MAX, "quorlock init %s-S URL,... of all %u nodes",
                 words, j->view->nodes);
}

/* Copies what fits, and shows where something is missing. */
static void shorten(char *out, size_t size, const char *text)
{
    static const char more[] = "...";
    size_t len = ql_text_clean(out, size, text, strlen(text));

    if (len < strlen(text) && size > sizeof(more)) {
        len = ql_text_clean(out, size - (sizeof(more) - 1), text, strlen(text));
        memcpy(out + len, more, sizeof(more));
    }
}

void ql_say_members(char *out, size_t size, const struct ql_record *record)
{
    shorten(out, size, record->members[0] ? record->members : "unknown");
}

void ql_say_address(char *out, size_t size, const struct ql_judging *j,
                    unsigned i)
{
    shorten(out, size, j->view->address[i]);
}
