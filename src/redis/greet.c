/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is said first on every connection, in one write: who we are, which
 * database, what the server is, and the scripts. Its last good answer makes
 * the node READY; a bad one takes the connection down with its reason.
 */
#include "redis/inner.h"

#include <stdio.h>

#include "base/text.h"
#include "redis/verdict.h"

enum step {
    STEP_AUTH,
    STEP_SELECT,
    STEP_NAME,        /* for people who look at CLIENT LIST */
    STEP_SERVER,      /* run_id, version */
    STEP_REPLICATION, /* role */
    STEP_MEMORY,      /* eviction */
    STEP_LOAD,
    STEPS = STEP_LOAD + QL_SCRIPTS,
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

static bool push_scripts(struct ql_node *node, uint64_t now)
{
    for (unsigned i = 0; i < QL_SCRIPTS_PLAIN; i++) {
        struct ql_request request = {
            .job = QL_JOB_GREET, .kind = STEP_LOAD, .sent_at = now};

        if (!ql_request_load(&request, i))
            return false;
        ql_queue_push(&node->queue, &request);
    }
    return true;
}

bool ql_greet(struct ql_node *node, uint64_t now)
{
    char db[12];
    const char *select[] = {"SELECT", db};
    const char *name[] = {"CLIENT", "SETNAME", "quorlock"};
    const char *server[] = {"INFO", "server"};
    const char *replication[] = {"INFO", "replication"};
    const char *memory[] = {"INFO", "memory"};

    snprintf(db, sizeof db, "%u", node->config.address->db);
    return ql_queue_reserve(&node->queue, node->config.mem, STEPS) &&
           push_auth(node, now) &&
           (node->config.address->db == 0 ||
            push(node, STEP_SELECT, 2, select, now)) &&
           push(node, STEP_NAME, 3, name, now) &&
           push(node, STEP_SERVER, 2, server, now) &&
           push(node, STEP_REPLICATION, 2, replication, now) &&
           push(node, STEP_MEMORY, 2, memory, now) && push_scripts(node, now);
}

/* The value of a line "field:value" of INFO; "" if there is none. */
static void info_field(const struct ql_value *info, const char *field,
                       char *out, size_t size)
{
    const char *line = info->string;
    const char *end = line + info->len;
    size_t len = strlen(field);

    out[0] = '\0';
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const char *value = line + len + 1;

        if (!stop)
            stop = end;
        if (value <= stop && memcmp(line, field, len) == 0 &&
            line[len] == ':') {
            const char *last = stop;

            while (last > value && last[-1] == '\r')
                last--;
            ql_text_clean(out, size, value, (size_t)(last - value));
            return;
        }
        line = stop + 1;
    }
}

static void read_info(struct ql_node *node, enum step step,
                      const struct ql_value *info)
{
    char role[16];

    switch (step) {
    case STEP_SERVER:
        info_field(info, "run_id", node->run_id, sizeof node->run_id);
        info_field(info, "valkey_version", node->version, sizeof node->version);
        if (!node->version[0])
            info_field(info, "redis_version", node->version,
                       sizeof node->version);
        break;
    case STEP_REPLICATION:
        info_field(info, "role", role, sizeof role);
        node->replica =
            strcmp(role, "slave") == 0 || strcmp(role, "replica") == 0;
        break;
    default:
        info_field(info, "maxmemory_policy", node->eviction,
                   sizeof node->eviction);
        break;
    }
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
        return verdict == QL_V_NOPERM || verdict == QL_V_ERROR;
    default:
        return false;
    }
}

static ql_verdict take_error(struct ql_node *node, enum step step,
                             char text[QL_TEXT_MAX])
{
    const struct ql_value *root = &node->reply.root;
    ql_verdict verdict = ql_verdict_of_error(root->string, root->len);

    if (is_tolerable(step, verdict)) {
        if (step != STEP_NAME)
            forget_info(node, step);
        return QL_V_NONE;
    }
    if (step == STEP_LOAD && verdict == QL_V_NOPERM)
        snprintf(text, QL_TEXT_MAX,
                 "the user needs the rights +script|load and +evalsha: %s",
                 root->string);
    else
        ql_text_clean(text, QL_TEXT_MAX, root->string, root->len);
    if (step == STEP_AUTH && verdict == QL_V_ERROR)
        return QL_V_NOAUTH;
    return verdict;
}

static bool is_expected(const struct ql_request *request,
                        const struct ql_value *root)
{
    switch (request->kind) {
    case STEP_SERVER:
    case STEP_REPLICATION:
    case STEP_MEMORY:
        return root->type == QL_VALUE_STRING;
    case STEP_LOAD:
        return root->type == QL_VALUE_STRING &&
               strcmp(root->string, ql_script_at(request->script)->sha1) == 0;
    default:
        return root->type == QL_VALUE_STATUS;
    }
}

ql_verdict ql_greet_reply(struct ql_node *node,
                          const struct ql_request *request,
                          char text[QL_TEXT_MAX])
{
    const struct ql_value *root = &node->reply.root;

    if (root->type == QL_VALUE_ERROR)
        return take_error(node, request->kind, text);
    if (!is_expected(request, root)) {
        snprintf(text, QL_TEXT_MAX,
                 "no valid answer to the greeting: is it a Redis server?");
        return QL_V_PROTOCOL;
    }
    if (request->kind >= STEP_SERVER && request->kind <= STEP_MEMORY)
        read_info(node, request->kind, root);
    return QL_V_NONE;
}
