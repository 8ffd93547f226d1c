/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is said first on every connection, in one write: who we are, which
 * database, what the server is, and the scripts. Its last good answer makes
 * the node READY; a bad one takes the connection down with its reason.
 */
#include "redis/inner.h"

#include <stdio.h>

#include "base/text.h"
#include "redis/guarded.h"
#include "redis/info.h"
#include "redis/keys.h"
#include "redis/verdict.h"

enum step {
    STEP_AUTH,
    STEP_SELECT,
    STEP_NAME,        /* for people who look at CLIENT LIST */
    STEP_SERVER,      /* run_id, version */
    STEP_REPLICATION, /* role */
    STEP_MEMORY,      /* eviction */
    /* The guarded level's, up to LOAD. */
    STEP_PERSISTENCE, /* whether it has an AOF */
    STEP_ALWAYS,      /* appendfsync */
    STEP_REWRITE,     /* no-appendfsync-on-rewrite */
    STEP_LOAD,
    STEP_LOOK, /* the guarded level's, too: the node's record */
    STEPS = STEP_LOOK + QL_SCRIPTS,
};

static bool push(struct ql_node *node, enum step step, int argc,
                 const char **argv, uint64_t now)
{
    struct ql_request request = {
        .job = QL_JOB_GREET,
        .kind = (uint8_t)step,
        .sent_at = now,
        .secret = step == STEP_AUTH,
    };

    if (!ql_request_words(&request, argc, argv))
        return false;
    ql_queue_push(&node->queue, &request);
    return true;
}

/* A server's own user and password come before those of all servers. */
static bool push_auth(struct ql_node *node, uint64_t now)
{
    const struct ql_address *address = node->config.address;
    const char *user = node->config.user;
    const char *password = node->config.password;
    const char *argv[3] = {"AUTH"};
    int argc = 1;

    if (address->password) {
        user = address->user;
        password = address->password;
    }
    if (!user && !password)
        return true;
    if (user)
        argv[argc++] = user;
    argv[argc++] = password ? password : "";
    return push(node, STEP_AUTH, argc, argv, now);
}

/* Each level loads what it uses; the guarded ones come behind the plain. */
static bool push_scripts(struct ql_node *node, uint64_t now)
{
    bool guarded = node->config.guarded;
    unsigned end = guarded ? QL_SCRIPTS : QL_SCRIPTS_PLAIN;

    for (unsigned i = guarded ? QL_SCRIPTS_PLAIN : 0; i < end; i++) {
        struct ql_request request = {
            .job = QL_JOB_GREET, .kind = STEP_LOAD, .sent_at = now};

        if (!ql_request_load(&request, i))
            return false;
        ql_queue_push(&node->queue, &request);
    }
    return true;
}

static bool push_saving(struct ql_node *node, uint64_t now)
{
    const char *persistence[] = {"INFO", "persistence"};
    const char *always[] = {"CONFIG", "GET", "appendfsync"};
    const char *rewrite[] = {"CONFIG", "GET", "no-appendfsync-on-rewrite"};

    return push(node, STEP_PERSISTENCE, 2, persistence, now) &&
           push(node, STEP_ALWAYS, 3, always, now) &&
           push(node, STEP_REWRITE, 3, rewrite, now);
}

static bool push_look(struct ql_node *node, uint64_t now)
{
    int script = ql_script_of(QL_CMD_RECORD, true);
    const char *look[] = {"EVALSHA", ql_script_at((unsigned)script)->sha1, "1",
                          QL_KEY_NODE, "look"};

    return push(node, STEP_LOOK, 5, look, now);
}

bool ql_greet(struct ql_node *node, uint64_t now)
{
    bool guarded = node->config.guarded;
    char db[12];
    const char *select[] = {"SELECT", db};
    const char *name[] = {"CLIENT", "SETNAME", "quorlock"};
    const char *server[] = {"INFO", "server"};
    const char *replication[] = {"INFO", "replication"};
    const char *memory[] = {"INFO", "memory"};

    node->sight = (struct ql_sight){.uptime_s = -1};
    node->saves = 0;
    snprintf(db, sizeof db, "%u", node->config.address->db);
    return ql_queue_reserve(&node->queue, node->config.mem, STEPS) &&
           push_auth(node, now) &&
           (node->config.address->db == 0 ||
            push(node, STEP_SELECT, 2, select, now)) &&
           push(node, STEP_NAME, 3, name, now) &&
           push(node, STEP_SERVER, 2, server, now) &&
           push(node, STEP_REPLICATION, 2, replication, now) &&
           push(node, STEP_MEMORY, 2, memory, now) &&
           (!guarded || push_saving(node, now)) && push_scripts(node, now) &&
           (!guarded || push_look(node, now));
}

static void read_server(struct ql_node *node, const struct ql_value *info)
{
    char before[sizeof node->run_id];

    memcpy(before, node->run_id, sizeof before);
    ql_info_field(info, "run_id", node->run_id, sizeof node->run_id);
    ql_info_field(info, "valkey_version", node->version, sizeof node->version);
    if (!node->version[0])
        ql_info_field(info, "redis_version", node->version,
                      sizeof node->version);
    node->sight.uptime_s = ql_info_number(info, "uptime_in_seconds");
    node->sight.cluster = ql_info_is(info, "redis_mode", "cluster") ||
                          ql_info_is(info, "server_mode", "cluster");
    if (strcmp(node->run_id, before) != 0)
        node->seen = 0;
}

static void note_saves(struct ql_node *node, unsigned sign, bool good)
{
    node->saves = good ? node->saves | sign : node->saves & ~sign;
}

/* A master that was a replica in this life has a second offset. */
static void read_replication(struct ql_node *node, const struct ql_value *info)
{
    node->replica = ql_info_is(info, "role", "slave") ||
                    ql_info_is(info, "role", "replica");
    note_saves(node, QL_SAVES_ITS_OWN,
               ql_info_is(info, "role", "master") &&
                   ql_info_is(info, "second_repl_offset", "-1"));
}

static void read_memory(struct ql_node *node, const struct ql_value *info)
{
    ql_info_field(info, "maxmemory_policy", node->eviction,
                  sizeof node->eviction);
    /* Without a limit nothing is thrown away, whatever the policy. */
    node->sight.evicts = node->eviction[0] &&
                         strcmp(node->eviction, "noeviction") != 0 &&
                         !ql_info_is(info, "maxmemory", "0");
}

static void read_info(struct ql_node *node, enum step step,
                      const struct ql_value *info)
{
    switch (step) {
    case STEP_SERVER:
        read_server(node, info);
        break;
    case STEP_REPLICATION:
        read_replication(node, info);
        break;
    case STEP_MEMORY:
        read_memory(node, info);
        break;
    default:
        note_saves(node, QL_SAVES_LOG,
                   ql_info_is(info, "aof_enabled", "1") &&
                       ql_info_is(info, "aof_last_write_status", "ok"));
        break;
    }
}

/* {name, value}. */
static void read_config(struct ql_node *node, enum step step)
{
    const struct ql_reply *reply = &node->reply;
    const struct ql_value *value = &reply->item[1];
    const char *wanted = step == STEP_ALWAYS ? "always" : "no";

    note_saves(node, step == STEP_ALWAYS ? QL_SAVES_ALWAYS : QL_SAVES_REWRITE,
               reply->count == 2 && value->type == QL_VALUE_STRING &&
                   strcmp(value->string, wanted) == 0);
}

static bool read_look(struct ql_node *node, uint64_t now)
{
    struct ql_record record;

    if (!ql_guarded_read_record(&node->reply, &record))
        return false;
    ql_seen_record(node, &record, node->greeted_at, now);
    return true;
}

/* What the server withholds is not known; older knowledge may be wrong. */
static void forget_info(struct ql_node *node, enum step step)
{
    static const struct ql_value nothing = {.string = ""};

    read_info(node, step, &nothing);
}

/* Whether we can do without what was refused. */
static bool is_tolerable(enum step step, ql_verdict verdict)
{
    switch (step) {
    case STEP_NAME:
    case STEP_SERVER:
    case STEP_REPLICATION:
    case STEP_MEMORY:
    case STEP_PERSISTENCE:
    case STEP_ALWAYS:
    case STEP_REWRITE:
        return verdict == QL_V_NOPERM || verdict == QL_V_ERROR;
    case STEP_LOOK:
        return verdict == QL_V_WRONGTYPE;
    default:
        return false;
    }
}

static void do_without(struct ql_node *node, enum step step)
{
    if (step >= STEP_SERVER && step <= STEP_PERSISTENCE)
        forget_info(node, step);
    else if (step == STEP_LOOK)
        node->sight.record.state = QL_RECORD_STRANGE;
}

static void explain(enum step step, ql_verdict verdict,
                    const struct ql_value *words, char text[QL_TEXT_MAX])
{
    if (step == STEP_LOAD && verdict == QL_V_NOPERM)
        snprintf(text, QL_TEXT_MAX,
                 "the user needs the rights +script|load and +evalsha: %s",
                 words->string);
    else if (step == STEP_LOOK && verdict == QL_V_NOPERM)
        snprintf(text, QL_TEXT_MAX,
                 "the user needs the right to run scripts on the keys "
                 "~" QL_KEY_PREFIX "*: %s",
                 words->string);
    else
        ql_text_clean(text, QL_TEXT_MAX, words->string, words->len);
}

static ql_verdict take_error(struct ql_node *node, enum step step,
                             char text[QL_TEXT_MAX])
{
    const struct ql_value *root = &node->reply.root;
    ql_verdict verdict = ql_verdict_of_error(root->string, root->len);

    if (is_tolerable(step, verdict)) {
        do_without(node, step);
        return QL_V_NONE;
    }
    explain(step, verdict, root, text);
    if (step == STEP_AUTH && verdict == QL_V_ERROR)
        return QL_V_NOAUTH;
    return verdict;
}

/* Takes what a good answer tells. False: no server answers like that. */
static bool take_good(struct ql_node *node, const struct ql_request *request,
                      uint64_t now)
{
    const struct ql_value *root = &node->reply.root;

    switch (request->kind) {
    case STEP_SERVER:
    case STEP_REPLICATION:
    case STEP_MEMORY:
    case STEP_PERSISTENCE:
        if (root->type != QL_VALUE_STRING)
            return false;
        read_info(node, request->kind, root);
        return true;
    case STEP_ALWAYS:
    case STEP_REWRITE:
        if (root->type != QL_VALUE_ARRAY)
            return false;
        read_config(node, request->kind);
        return true;
    case STEP_LOAD:
        return root->type == QL_VALUE_STRING &&
               strcmp(root->string,
                      ql_script_at((unsigned)request->script)->sha1) == 0;
    case STEP_LOOK:
        return read_look(node, now);
    default:
        return root->type == QL_VALUE_STATUS;
    }
}

ql_verdict ql_greet_reply(struct ql_node *node,
                          const struct ql_request *request,
                          char text[QL_TEXT_MAX], uint64_t now)
{
    if (node->reply.root.type == QL_VALUE_ERROR)
        return take_error(node, request->kind, text);
    if (take_good(node, request, now))
        return QL_V_NONE;
    snprintf(text, QL_TEXT_MAX,
             "no valid answer to the greeting: is it a Redis server?");
    return QL_V_PROTOCOL;
}
