/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands for the servers of a test, by hiredis's blocking calls, and what
 * tests ask about keys: see servers.h. */
#include "servers_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define WORDS_MAX 64

void server_forget_connection(struct server *server)
{
    if (server->connection)
        redisFree(server->connection);
    server->connection = NULL;
}

/* NULL: nobody there, or the password is not taken. */
static redisContext *connect_to(const struct server *server, int64_t limit_ms)
{
    struct timeval limit = {limit_ms / 1000, limit_ms % 1000 * 1000};
    const char *password = server->servers->password;
    redisContext *connection;
    redisReply *reply;

    connection = server->port
                     ? redisConnectWithTimeout("127.0.0.1", server->port, limit)
                     : redisConnectUnixWithTimeout(server->socket, limit);
    if (!connection || connection->err ||
        redisSetTimeout(connection, limit) != REDIS_OK)
        goto fail;
    if (password[0]) {
        reply = redisCommand(connection, "AUTH %s", password);
        if (!reply || reply->type == REDIS_REPLY_ERROR) {
            freeReplyObject(reply);
            goto fail;
        }
        freeReplyObject(reply);
    }
    return connection;

fail:
    if (connection)
        redisFree(connection);
    return NULL;
}

bool server_answers(struct server *server)
{
    redisContext *connection = connect_to(server, 2000);
    redisReply *reply;
    const char *line;
    bool ours = false;

    if (!connection)
        return false;
    reply = redisCommand(connection, "INFO server");
    if (reply && reply->type == REDIS_REPLY_STRING) {
        line = strstr(reply->str, "process_id:");
        ours = line && atol(line + 11) == server->pid;
    }
    /* A test's own configuration may keep us out; it answers all the same. */
    if (reply && reply->type == REDIS_REPLY_ERROR)
        ours = strncmp(reply->str, "NO", 2) == 0;
    freeReplyObject(reply);
    redisFree(connection);
    return ours;
}

static void copy_text(struct server_reply *ret_reply, const redisReply *reply)
{
    size_t len = reply->len < sizeof(ret_reply->text) - 1
                     ? reply->len
                     : sizeof(ret_reply->text) - 1;

    ret_reply->len = reply->len;
    memcpy(ret_reply->text, reply->str, len);
    ret_reply->text[len] = '\0';
}

static struct server_reply convert(const redisReply *reply)
{
    struct server_reply converted = {.kind = SERVER_NIL};

    switch (reply->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
        converted.kind = SERVER_STRING;
        copy_text(&converted, reply);
        break;
    case REDIS_REPLY_ERROR:
        converted.kind = SERVER_ERROR;
        copy_text(&converted, reply);
        break;
    case REDIS_REPLY_INTEGER:
        converted.kind = SERVER_INTEGER;
        converted.integer = reply->integer;
        break;
    case REDIS_REPLY_ARRAY:
        converted.kind = SERVER_ARRAY;
        converted.integer = (long long)reply->elements;
        if (reply->elements && reply->element[0]->str)
            copy_text(&converted, reply->element[0]);
        break;
    }
    return converted;
}

struct server_reply server_command_argv(struct server *server, int argc,
                                        const char **argv, const size_t *len)
{
    struct server_reply converted;
    redisReply *reply;

    if (server->frozen)
        fail_msg("server %u is frozen: thaw it first", server->index);
    if (!server->connection)
        server->connection = connect_to(server, HANG_MS);
    if (!server->connection)
        fail_msg("server %u cannot be reached", server->index);
    reply = redisCommandArgv(server->connection, argc, argv, len);
    if (!reply) {
        char text[160];

        snprintf(text, sizeof(text), "%s", server->connection->errstr);
        server_forget_connection(server);
        fail_msg("server %u does not answer %s: %s", server->index, argv[0],
                 text);
    }
    converted = convert(reply);
    freeReplyObject(reply);
    return converted;
}

struct server_reply server_command(struct server *server, ...)
{
    const char *argv[WORDS_MAX], *word;
    int argc = 0;
    va_list words;

    va_start(words, server);
    while ((word = va_arg(words, const char *))) {
        assert_true(argc < WORDS_MAX);
        argv[argc++] = word;
    }
    va_end(words);
    return server_command_argv(server, argc, argv, NULL);
}

bool server_has_key_n(struct server *server, const char *name, size_t len)
{
    const char *argv[] = {"EXISTS", name};
    size_t lens[] = {6, len};
    struct server_reply reply = server_command_argv(server, 2, argv, lens);

    if (reply.kind != SERVER_INTEGER)
        fail_msg("server %u: EXISTS: %s", server->index, reply.text);
    return reply.integer == 1;
}

bool server_has_key(struct server *server, const char *name)
{
    return server_has_key_n(server, name, strlen(name));
}

unsigned servers_with_key(struct servers *servers, const char *name)
{
    unsigned count = 0;

    for (unsigned i = 0; i < servers->count; i++)
        if (servers->server[i].pid)
            count += server_has_key(&servers->server[i], name);
    return count;
}

static void fail_for_key(struct servers *servers, const char *name)
{
    for (unsigned i = 0; i < servers->count; i++) {
        struct server *server = &servers->server[i];

        if (server->pid && server_has_key(server, name))
            print_error("server %u (%s): %s is '%s'\n", i, server->url, name,
                        server_command(server, "GET", name, NULL).text);
    }
    fail_msg("the key %s is left on the servers above", name);
}

void assert_no_key_on_any_server(struct servers *servers, const char *name)
{
    if (servers_with_key(servers, name))
        fail_for_key(servers, name);
}

void assert_no_key_soon(struct servers *servers, const char *name)
{
    int64_t end = clock_now_ms() + HANG_MS;

    while (servers_with_key(servers, name)) {
        if (clock_now_ms() > end)
            fail_for_key(servers, name);
        clock_sleep_ms(10);
    }
}

void assert_servers_empty(struct servers *servers)
{
    for (unsigned i = 0; i < servers->count; i++) {
        struct server *server = &servers->server[i];

        if (!server->pid || server_command(server, "DBSIZE", NULL).integer == 0)
            continue;
        fail_msg("server %u still has keys, such as '%s'", i,
                 server_command(server, "RANDOMKEY", NULL).text);
    }
}
