/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of INFO. The value may hold any bytes, and need not be INFO's. */
#include "redis/info.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void ql_info_field(const struct ql_value *info, const char *field, char *out,
                   size_t size)
{
    const char *line = info->string;
    const char *end = line + info->len;
    size_t len = strlen(field);

    out[0] = '\0';
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const char *value = line + len + 1;

        if (!stop)
            stop = end;
        if (value <= stop && memcmp(line, field, len) == 0 &&
            line[len] == ':') {
            const char *last = stop;

            while (last > value && last[-1] == '\r')
                last--;
            ql_text_clean(out, size, value, (size_t)(last - value));
            return;
        }
        line = stop + 1;
    }
}

bool ql_info_is(const struct ql_value *info, const char *field,
                const char *value)
{
    char text[64];

    ql_info_field(info, field, text, sizeof(text));
    return strcmp(text, value) == 0;
}

int64_t ql_info_number(const struct ql_value *info, const char *field)
{
    char text[24], *end;
    long long number;

    ql_info_field(info, field, text, sizeof(text));
    if (text[0] < '0' || text[0] > '9')
        return -1;
    number = strtoll(text, &end, 10);
    return *end == '\0' ? number : -1;
}
