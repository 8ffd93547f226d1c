/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands to requests: the plain level's here, the others in guarded.c. */
#include "redis/command.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "redis/guarded.h"
#include "redis/script.h"

#define ARGS_MAX 6

/* Clocks that disagree must not make us forget a debt before its key is gone:
 * a tenth of the ttl and a second are allowed for. */
#define DEBT_MARGIN_MS 1000

static bool encode_set(struct ql_request *request,
                       const struct ql_command *command)
{
    char value[QL_TOKEN_MAX + 1 + QL_LABEL_MAX + 1];
    char ttl[24];
    const char *argv[ARGS_MAX] = {"SET", command->name, value, "NX", "PX", ttl};
    size_t len[ARGS_MAX] = {3, command->name_len, 0, 2, 2, 0};

    ql_request_value(value, command);
    snprintf(ttl, sizeof ttl, "%" PRIu64, command->ttl_ms);
    len[2] = strlen(value);
    len[5] = strlen(ttl);
    return ql_request_encode(request, 6, argv, len);
}

static bool encode_script(struct ql_request *request,
                          const struct ql_command *command,
                          const struct ql_script *script)
{
    char ttl[24];
    const char *argv[ARGS_MAX] = {"EVALSHA",     script->sha1,   "1",
                                  command->name, command->token, ttl};
    size_t len[ARGS_MAX] = {7, strlen(script->sha1), 1, command->name_len};
    int argc = 4;

    if (command->kind != QL_CMD_INSPECT)
        len[argc++] = strlen(command->token);
    if (command->kind == QL_CMD_EXTEND) {
        snprintf(ttl, sizeof ttl, "%" PRIu64, command->ttl_ms);
        len[argc++] = strlen(ttl);
    }
    return ql_request_encode(request, argc, argv, len);
}

static uint64_t expiry(uint64_t now, uint64_t ttl_ms)
{
    uint64_t left_ms = UINT64_MAX / 4000000;

    if (ttl_ms < left_ms)
        left_ms = ttl_ms + ttl_ms / 10 + DEBT_MARGIN_MS;
    left_ms *= 1000000;
    return left_ms > UINT64_MAX - now ? UINT64_MAX : now + left_ms;
}

static bool encode(struct ql_request *request, const struct ql_command *command,
                   const ql_allocator *mem)
{
    if (request->guarded)
        return ql_guarded_encode(request, command, mem);
    if (request->script < 0)
        return encode_set(request, command);
    return encode_script(request, command,
                         ql_script_at((unsigned)request->script));
}

bool ql_command_encode(struct ql_request *ret_request,
                       const struct ql_command *command,
                       const ql_allocator *mem, uint64_t now)
{
    bool guarded = command->guard || command->kind == QL_CMD_RECORD;
    /* The record counts for longer than the key. */
    uint64_t linger_ms = command->guard ? command->guard->linger_ms : 0;
    struct ql_request request = {
        .owner = command->owner,
        .sent_at = now,
        .expires_at = expiry(now, command->ttl_ms + linger_ms),
        .round = command->round,
        .job = QL_JOB_COMMAND,
        .kind = (uint8_t)command->kind,
        .script = (int8_t)ql_script_of(command->kind, guarded),
        .guarded = guarded,
    };
    size_t token_len = command->token ? strlen(command->token) : 0;

    if (command->kind != QL_CMD_RECORD) {
        assert(command->name_len > 0 && token_len <= QL_TOKEN_MAX);
        assert(command->kind == QL_CMD_INSPECT || token_len > 0);
        assert(command->kind != QL_CMD_CONFIRM || command->guard);
        memcpy(request.token, command->token, token_len + 1);
    }
    if (!encode(&request, command, mem))
        return false;
    *ret_request = request;
    return true;
}
