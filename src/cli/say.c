/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines on stderr, and the clock. */
#include "cli/say.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static size_t compose(char line[SAY_MAX], const char *format, va_list arguments)
{
    size_t used = (size_t)snprintf(line, SAY_MAX, "quorlock: ");
    int more = vsnprintf(line + used, SAY_MAX - used, format, arguments);

    if (more > 0)
        used += (size_t)more;
    if (used > SAY_MAX - 2)
        used = SAY_MAX - 2;
    line[used++] = '\n';
    return used;
}

/* There is nobody to tell when stderr fails. */
static void put(const char *line, size_t size)
{
    if (write(STDERR_FILENO, line, size) < 0)
        return;
}

void say(const char *format, ...)
{
    char line[SAY_MAX];
    va_list arguments;

    va_start(arguments, format);
    put(line, compose(line, format, arguments));
    va_end(arguments);
}

void say_soon(const char *format, ...)
{
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    char line[SAY_MAX];
    va_list arguments;

    if (poll(&room, 1, 0) != 1 || !(room.revents & POLLOUT))
        return;
    va_start(arguments, format);
    put(line, compose(line, format, arguments));
    va_end(arguments);
}

const char *say_name(char text[SAY_NAME], const char *name)
{
    size_t i;

    for (i = 0; name[i] && i < SAY_NAME - 1; i++) {
        unsigned char c = (unsigned char)name[i];

        text[i] = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    if (name[i])
        memcpy(text + SAY_NAME - 4, "...", 3);
    text[i] = '\0';
    return text;
}

int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
