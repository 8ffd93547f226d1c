/* SPDX-License-Identifier: BSD-2-Clause */
/* What a node is, as INFO and CONFIG GET tell it, and its record. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/node.h"
#include "base/text.h"

/* The value of a line "field:value"; "" if there is none. */
static void info_field(const redisReply *info, const char *field, char *out,
                       size_t size)
{
    const char *line = info->str;
    size_t len = strlen(field);

    out[0] = '\0';
    while (line && *line) {
        size_t whole = strcspn(line, "\r\n");

        if (whole > len && line[len] == ':' && !memcmp(line, field, len)) {
            ql_text_clean(out, size, line + len + 1, whole - len - 1);
            return;
        }
        line += whole;
        line += strspn(line, "\r\n");
    }
}

static bool info_is(const redisReply *info, const char *field,
                    const char *value)
{
    char text[64];

    info_field(info, field, text, sizeof(text));
    return !strcmp(text, value);
}

static int64_t info_number(const redisReply *info, const char *field)
{
    char text[32], *end;
    long long number;

    info_field(info, field, text, sizeof(text));
    number = strtoll(text, &end, 10);
    return text[0] && !*end ? number : -1;
}

static void read_info(struct admin_node *node, const redisReply *info)
{
    struct ql_sight *sight = &node->sight;

    info_field(info, "run_id", sight->run_id, sizeof(sight->run_id));
    sight->uptime_s = info_number(info, "uptime_in_seconds");
    sight->replica =
        info_is(info, "role", "slave") || info_is(info, "role", "replica");
    sight->cluster = info_is(info, "redis_mode", "cluster") ||
                     info_is(info, "server_mode", "cluster");
    info_field(info, "maxmemory_policy", sight->eviction,
               sizeof(sight->eviction));
    node->maxmemory = info_number(info, "maxmemory");
    sight->evicts = sight->eviction[0] && node->maxmemory != 0 &&
                    strcmp(sight->eviction, "noeviction") != 0;
    info_field(info, "valkey_version", node->version, sizeof(node->version));
    node->valkey = node->version[0] != '\0';
    if (!node->valkey)
        info_field(info, "redis_version", node->version, sizeof(node->version));
    node->promoted = info_number(info, "second_repl_offset") >= 0;
    if (info_is(info, "aof_enabled", "1"))
        node->keeps = ADMIN_KEEPS_MOST;
}

static const char *config_of(const redisReply *config, const char *name)
{
    for (size_t i = 0; i + 1 < config->elements; i += 2)
        if (config->element[i]->type == REDIS_REPLY_STRING &&
            config->element[i + 1]->type == REDIS_REPLY_STRING &&
            !strcmp(config->element[i]->str, name))
            return config->element[i + 1]->str;
    return "";
}

static redisReply *config_get(const struct admin *admin,
                              struct admin_node *node, const char *pattern)
{
    const char *words[] = {"CONFIG", "GET", pattern, NULL};
    redisReply *reply = admin_ask(admin, node, words);

    if (!reply || reply->type == REDIS_REPLY_ARRAY)
        return reply;
    freeReplyObject(reply); /* not allowed, or not known: so be it */
    return NULL;
}

/* INFO knows that there is an AOF, but not how often it is fsynced; and of
 * snapshots, not whether any are made. */
static void read_config(const struct admin *admin, struct admin_node *node)
{
    redisReply *aof = config_get(admin, node, "*append*");
    redisReply *save = config_get(admin, node, "save");

    if (aof && !strcmp(config_of(aof, "appendonly"), "yes")) {
        bool all = !strcmp(config_of(aof, "appendfsync"), "always") &&
                   !strcmp(config_of(aof, "no-appendfsync-on-rewrite"), "no");

        /* As a replica it may have missed what its master had saved. */
        node->sight.durable = all && !node->promoted;
        node->keeps = all ? ADMIN_KEEPS_ALL : ADMIN_KEEPS_MOST;
    } else if (aof && save) {
        node->keeps = *config_of(save, "save") ? ADMIN_KEEPS_SNAPSHOTS
                                               : ADMIN_KEEPS_NOTHING;
    }
    if (aof)
        freeReplyObject(aof);
    if (save)
        freeReplyObject(save);
}

static void forget(struct admin_node *node)
{
    memset(&node->sight, 0, sizeof(node->sight));
    node->sight.uptime_s = -1;
    node->version[0] = '\0';
    node->valkey = node->promoted = false;
    node->keeps = ADMIN_KEEPS_UNKNOWN;
    node->maxmemory = -1;
    node->time_us = 0;
}

/* What it may not be asked is not known; but it is reachable. */
static bool look(const struct admin *admin, struct admin_node *node)
{
    static const char *const info[] = {"INFO", NULL};
    static const char *const words[] = {"look", NULL};
    redisReply *reply;

    forget(node);
    if (!admin_reach(admin, node))
        return false;
    reply = admin_ask(admin, node, info);
    if (reply && reply->type == REDIS_REPLY_STRING)
        read_info(node, reply);
    if (reply)
        freeReplyObject(reply);
    read_config(admin, node);
    return admin_time(admin, node) && admin_record(admin, node, words);
}

bool admin_look(const struct admin *admin, struct admin_node *node)
{
    bool had_link = node->link.fd >= 0;

    node->sight.reachable = look(admin, node);
    /* A connection from before may have died meanwhile. */
    if (!node->sight.reachable && had_link && node->link.fd < 0)
        node->sight.reachable = look(admin, node);
    if (!node->sight.reachable)
        return false;
    node->verdict = QL_V_GRANTED;
    node->text[0] = '\0';
    return true;
}

unsigned admin_look_all(struct admin *admin)
{
    unsigned reached = 0;

    for (unsigned i = 0; i < admin->count; i++)
        reached += admin_look(admin, &admin->node[i]);
    return reached;
}
