/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request's bytes stay with it until it is answered: they are written from
 * there, written again after NOSCRIPT, and a release's are all that is needed
 * to pay it as a debt.
 */
#include "redis/request.h"

#include <stdio.h>

#include <hiredis/hiredis.h>

#include "redis/script.h"

bool ql_request_encode(struct ql_request *request, int argc, const char **argv,
                       const size_t *len)
{
    char *bytes = NULL;
    long long size = redisFormatCommandArgv(&bytes, argc, argv, len);

    if (size < 0)
        return false;
    request->bytes = bytes;
    request->size = (size_t)size;
    return true;
}

bool ql_request_words(struct ql_request *request, int argc, const char **argv)
{
    return ql_request_encode(request, argc, argv, NULL);
}

bool ql_request_load(struct ql_request *request, unsigned script)
{
    const char *argv[] = {"SCRIPT", "LOAD", ql_script_at(script)->source};

    request->script = (int8_t)script;
    return ql_request_words(request, 3, argv);
}

void ql_request_value(char value[QL_TOKEN_MAX + 1 + QL_LABEL_MAX + 1],
                      const struct ql_command *command)
{
    bool labelled = command->label && command->label[0];

    snprintf(value, QL_TOKEN_MAX + 1 + QL_LABEL_MAX + 1, "%s%s%s",
             command->token, labelled ? " " : "",
             labelled ? command->label : "");
}

void ql_request_free(struct ql_request *request)
{
    if (request->secret && request->bytes)
        explicit_bzero(request->bytes, request->size);
    redisFreeCommand(request->bytes);
    request->bytes = NULL;
}
