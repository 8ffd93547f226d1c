/* SPDX-License-Identifier: BSD-2-Clause */
/* Replies in the words of the Redis protocol. */
#include "redis_model.h"

static void put_line(struct bytes *reply, char type, const char *text)
{
    bytes_put(reply, &type, 1);
    bytes_put(reply, text, strlen(text));
    bytes_put(reply, "\r\n", 2);
}

static void put_number(struct bytes *reply, char type, long long number)
{
    unsigned long long rest =
        number < 0 ? -(unsigned long long)number : (unsigned long long)number;
    char text[24];
    char *at = text + sizeof text - 1;

    *at = '\0';
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (number < 0)
        *--at = '-';
    put_line(reply, type, at);
}

void reply_error(struct bytes *reply, const char *text)
{
    put_line(reply, '-', text);
}

void reply_status(struct bytes *reply, const char *text)
{
    put_line(reply, '+', text);
}

void reply_number(struct bytes *reply, long long number)
{
    put_number(reply, ':', number);
}

void reply_string(struct bytes *reply, const char *bytes, size_t len)
{
    put_number(reply, '$', (long long)len);
    bytes_put(reply, bytes, len);
    bytes_put(reply, "\r\n", 2);
}

void reply_nil(struct bytes *reply)
{
    put_line(reply, '$', "-1");
}

void reply_array(struct bytes *reply, size_t count)
{
    put_number(reply, '*', (long long)count);
}
