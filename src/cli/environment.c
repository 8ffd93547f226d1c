/* SPDX-License-Identifier: BSD-2-Clause */
/* The child's environment. */
#include "cli/environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool same_name(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");

    return length == strcspn(b, "=") && !memcmp(a, b, length);
}

static bool is_set(char *const *set, size_t count, const char *variable)
{
    for (size_t i = 0; i < count; i++)
        if (same_name(set[i], variable))
            return true;
    return false;
}

char **environment_with(char *const *set, size_t count)
{
    size_t inherited = 0, used = 0;
    char **list;

    while (environ && environ[inherited])
        inherited++;
    list = calloc(inherited + count + 1, sizeof(char *));
    if (!list)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strchr(set[i], '='))
            list[used++] = set[i];
    for (size_t i = 0; i < inherited; i++)
        if (!is_set(set, count, environ[i]))
            list[used++] = environ[i];
    return list;
}
