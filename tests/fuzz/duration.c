/* SPDX-License-Identifier: BSD-2-Clause */
/* Fuzz target: any text as a length of time, and back into words. */
#include <string.h>

#include "cli/duration.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), words[DURATION_TEXT];
    int64_t ms = -1;
    const char *wrong;

    memcpy(text, data, size);
    text[size] = '\0';
    wrong = duration_parse(text, &ms);
    if (wrong) {
        require(wrong[0] && ms == -1);
    } else {
        require(ms >= 0 && ms <= DURATION_MAX_MS);
        require(strlen(duration_text(words, ms)) < DURATION_TEXT);
    }
    free(text);
    return 0;
}
