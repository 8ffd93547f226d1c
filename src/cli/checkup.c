/* SPDX-License-Identifier: BSD-2-Clause */
/* What quorlock check has found so far. */
#include "cli/checkup.h"

#include <stdarg.h>
#include <stdio.h>

void check_add(struct check *check, enum check_level level, int node,
               const char *format, ...)
{
    struct check_finding *finding;
    va_list words;

    if (check->findings == CHECK_FINDINGS)
        return;
    finding = &check->finding[check->findings++];
    finding->level = level;
    finding->node = node;
    va_start(words, format);
    vsnprintf(finding->text, sizeof(finding->text), format, words);
    va_end(words);
}

enum check_level check_verdict(const struct check *check)
{
    enum check_level worst = CHECK_NOTE;

    for (unsigned i = 0; i < check->findings; i++)
        if (check->finding[i].level > worst)
            worst = check->finding[i].level;
    return worst;
}
