/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

#define OWN_TOKEN_LEN 40 /* hex digits, then a space and the label */

/* The length of the UTF-8 sequence at `s`; 0 if it is none, or a control. */
static size_t sequence(const unsigned char *s, size_t len)
{
    size_t n = s[0] < 0x80                    ? 1
               : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
               : s[0] >= 0xe0 && s[0] <= 0xef ? 3
               : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                              : 0;

    if (n == 0 || n > len)
        return 0;
    if (n == 1)
        return s[0] >= ' ' && s[0] != 0x7f ? 1 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if (s[0] == 0xc2 && s[1] < 0xa0) /* C1 controls */
        return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0; /* overlong, surrogate, beyond Unicode */
    /* Marks that turn the direction of writing can make one name look like
     * another: U+200B..U+200F, U+202A..U+202E, U+2060..U+206F. */
    if (n == 3 && s[0] == 0xe2 &&
        ((s[1] == 0x80 &&
          ((s[2] >= 0x8b && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
         (s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf)))
        return 0;
    return n;
}

size_t ql_text_clean(char *out, size_t size, const char *bytes, size_t len)
{
    size_t used = 0;

    for (size_t at = 0; at < len;) {
        size_t n = sequence((const unsigned char *)bytes + at, len - at);

        if (used + (n ? n : 1) >= size)
            break;
        if (n)
            memcpy(out + used, bytes + at, n);
        else
            out[used] = '?';
        used += n ? n : 1;
        at += n ? n : 1;
    }
    out[used] = '\0';
    return used;
}

static bool is_hex(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr("0123456789abcdef", bytes[i]) || !bytes[i])
            return false;
    return true;
}

size_t ql_text_holder(char *out, size_t size, const char *value, size_t len)
{
    bool own = len >= OWN_TOKEN_LEN && is_hex(value, OWN_TOKEN_LEN) &&
               (len == OWN_TOKEN_LEN || value[OWN_TOKEN_LEN] == ' ');

    if (!own)
        return ql_text_clean(out, size, value, len);
    if (len <= OWN_TOKEN_LEN + 1)
        return ql_text_clean(out, size, "", 0);
    return ql_text_clean(out, size, value + OWN_TOKEN_LEN + 1,
                         len - OWN_TOKEN_LEN - 1);
}
