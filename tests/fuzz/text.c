/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: any bytes made fit to print. The result fits, is UTF-8, and has
 * nothing in it that a terminal would obey.
 */
#include <string.h>

#include "base/text.h"
#include "fuzz.h"

static void check_text(const char *text, size_t len, size_t size)
{
    char again[512];

    require(len < size && strlen(text) == len);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        require(c >= ' ' && c != 0x7f);
        /* U+0080 to U+009F are controls too. */
        require(c != 0xc2 || (unsigned char)text[i + 1] >= 0xa0);
    }
    /* What is clean stays as it is. */
    require(ql_text_clean(again, sizeof(again), text, len) == len);
    require(memcmp(again, text, len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char out[300];
    size_t room = size ? data[0] + 1u : 1;

    check_text(out, ql_text_clean(out, room, (const char *)data, size), room);
    check_text(out, ql_text_holder(out, room, (const char *)data, size), room);
    return 0;
}
