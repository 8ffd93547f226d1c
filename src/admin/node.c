/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of nodes, and asking one of them. */
#include "admin/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "redis/script.h"
#include "redis/verdict.h"

#define WORDS_MAX    24
#define TIME_SAMPLES 3

/* --- The list --------------------------------------------------------------
 */

static int add(struct admin *admin, unsigned most, const char *text, size_t len,
               char *error, size_t size)
{
    struct admin_node *node;
    int result;

    if (admin->count >= most) {
        snprintf(error, size, "more than %d servers", QL_NODES_MAX);
        return QL_E_INVALID;
    }
    node = &admin->node[admin->count];
    result =
        ql_address_parse(&node->address, &admin_memory, text, len, error, size);
    if (result != QL_OK)
        return result;
    admin_link_init(&node->link);
    node->verdict = QL_V_NONE;
    admin->count++;
    return QL_OK;
}

int admin_open(struct admin *admin, const char *servers, char *error,
               size_t size)
{
    const char *cursor = servers, *text;
    int result = QL_OK;
    size_t len;

    admin->count = 0;
    /* Room for one more: a node that is about to be added. */
    admin->node = calloc(QL_NODES_MAX + 1, sizeof(struct admin_node));
    if (!admin->node)
        return QL_E_NOMEM;
    while (result == QL_OK && (text = ql_address_next(&cursor, &len)))
        result = add(admin, QL_NODES_MAX, text, len, error, size);
    admin->quorum = admin->count / 2 + 1;
    if (result != QL_OK)
        admin_close(admin);
    return result;
}

int admin_add(struct admin *admin, const char *text, char *error, size_t size)
{
    return add(admin, QL_NODES_MAX + 1, text, strlen(text), error, size);
}

static void free_node(struct admin_node *node)
{
    admin_link_close(&node->link);
    ql_address_free(&node->address, &admin_memory);
}

void admin_close(struct admin *admin)
{
    for (unsigned i = 0; admin->node && i < admin->count; i++)
        free_node(&admin->node[i]);
    free(admin->node);
    admin->node = NULL;
    admin->count = 0;
}

void admin_drop(struct admin *admin, unsigned index)
{
    free_node(&admin->node[index]);
    admin->count--;
    memmove(&admin->node[index], &admin->node[index + 1],
            (admin->count - index) * sizeof(struct admin_node));
    admin->quorum = admin->count / 2 + 1;
}

/* --- Questions -------------------------------------------------------------
 */

static bool note(struct admin_node *node, ql_verdict verdict, const char *text,
                 size_t len)
{
    node->verdict = verdict;
    ql_text_clean(node->text, sizeof(node->text), text, len);
    return false;
}

static bool note_link(struct admin_node *node)
{
    return note(node, node->link.verdict, node->link.text,
                strlen(node->link.text));
}

bool admin_is_error(struct admin_node *node, const redisReply *reply)
{
    if (reply->type != REDIS_REPLY_ERROR)
        return false;
    note(node, ql_verdict_of_error(reply->str, (size_t)reply->len), reply->str,
         (size_t)reply->len);
    return true;
}

static redisReply *exchange(const struct admin *admin, struct admin_node *node,
                            const struct admin_words *words)
{
    redisReply *reply = NULL;

    if (admin_link_send(&node->link, words, admin->answer_ms))
        reply = admin_link_take(&node->link, admin->answer_ms);
    if (!reply)
        note_link(node);
    else
        admin_is_error(node, reply);
    return reply;
}

redisReply *admin_ask(const struct admin *admin, struct admin_node *node,
                      const char *const *words)
{
    struct admin_words all = {.word = words};

    while (words[all.count])
        all.count++;
    return exchange(admin, node, &all);
}

/* An answer of which only matters that it is no error. */
static bool ask_done(const struct admin *admin, struct admin_node *node,
                     const char *const *words)
{
    redisReply *reply = admin_ask(admin, node, words);
    bool done = reply && reply->type != REDIS_REPLY_ERROR;

    if (reply)
        freeReplyObject(reply);
    return done;
}

/* --- Logging in ------------------------------------------------------------
 */

static bool log_in(const struct admin *admin, struct admin_node *node)
{
    const char *user = admin->user, *password = admin->password;
    const char *auth[4] = {"AUTH"};
    int count = 1;

    if (node->address.password) {
        user = node->address.user;
        password = node->address.password;
    }
    if (!user && !password)
        return true;
    if (user)
        auth[count++] = user;
    auth[count] = password ? password : "";
    if (ask_done(admin, node, auth))
        return true;
    if (node->verdict == QL_V_ERROR)
        node->verdict = QL_V_NOAUTH;
    return false;
}

static bool select_db(const struct admin *admin, struct admin_node *node)
{
    char db[16];
    const char *words[] = {"SELECT", db, NULL};

    snprintf(db, sizeof(db), "%u", node->address.db);
    return node->address.db == 0 || ask_done(admin, node, words);
}

bool admin_reach(const struct admin *admin, struct admin_node *node)
{
    static const char *const ping[] = {"PING", NULL};

    if (node->link.fd >= 0)
        return true;
    if (!admin_link_open(&node->link, &node->address, admin->connect_ms))
        return note_link(node);
    /* PING is not among the rights that are needed: NOPERM is an answer. */
    if (!log_in(admin, node) || !select_db(admin, node) ||
        (!ask_done(admin, node, ping) && node->verdict != QL_V_NOPERM)) {
        admin_link_close(&node->link);
        return false;
    }
    node->verdict = QL_V_GRANTED;
    node->text[0] = '\0';
    return true;
}

/* --- Scripts ---------------------------------------------------------------
 */

static const struct ql_script *find_script(const char *name)
{
    for (unsigned i = 0; i < QL_SCRIPTS; i++)
        if (!strcmp(ql_script_at(i)->name, name))
            return ql_script_at(i);
    return NULL;
}

static bool load(const struct admin *admin, struct admin_node *node,
                 const struct ql_script *script)
{
    const char *words[] = {"SCRIPT", "LOAD", script->source, NULL};

    return ask_done(admin, node, words);
}

redisReply *admin_script(const struct admin *admin, struct admin_node *node,
                         const char *name, int keys,
                         const struct admin_words *words)
{
    const struct ql_script *script = find_script(name);
    const char *word[WORDS_MAX] = {"EVALSHA", script->sha1};
    size_t len[WORDS_MAX] = {7, 40};
    struct admin_words all = {words->count + 3, word, len};
    char number[12];
    redisReply *reply;

    snprintf(number, sizeof(number), "%d", keys);
    word[2] = number;
    len[2] = strlen(number);
    for (int i = 0; i < words->count; i++) {
        word[i + 3] = words->word[i];
        len[i + 3] = words->len ? words->len[i] : strlen(words->word[i]);
    }
    reply = exchange(admin, node, &all);
    if (!reply || reply->type != REDIS_REPLY_ERROR ||
        !ql_verdict_is_noscript(reply->str, (size_t)reply->len))
        return reply;
    freeReplyObject(reply);
    return load(admin, node, script) ? exchange(admin, node, &all) : NULL;
}

/* --- The record ------------------------------------------------------------
 */

static bool take_record(struct admin_node *node, const redisReply *reply)
{
    const char *field[QL_RECORD_FIELDS];

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2)
        return false;
    for (size_t i = 0; i < reply->elements; i++)
        if (reply->element[i]->type != REDIS_REPLY_STRING)
            return false;
    if (reply->elements == 2) {
        memset(&node->sight.record, 0, sizeof(node->sight.record));
        node->sight.record.now_us = strtoull(reply->element[0]->str, NULL, 10);
        return !strcmp(reply->element[1]->str, "absent");
    }
    if (reply->elements != QL_RECORD_FIELDS + 2)
        return false;
    for (size_t i = 0; i < QL_RECORD_FIELDS; i++)
        field[i] = reply->element[i + 2]->str;
    /* What cannot be read is a strange record, not a failure to ask. */
    if (!ql_record_read(&node->sight.record, reply->element[0]->str, field))
        node->sight.record.state = QL_RECORD_STRANGE;
    return true;
}

bool admin_record(const struct admin *admin, struct admin_node *node,
                  const char *const *words)
{
    const char *all[WORDS_MAX] = {ADMIN_NODE_KEY};
    struct admin_words counted = {1, all, NULL};
    redisReply *reply;
    bool good;

    while (*words)
        all[counted.count++] = *words++;
    reply = admin_script(admin, node, "node", 1, &counted);
    if (!reply)
        return false;
    if (admin_is_error(node, reply)) {
        freeReplyObject(reply);
        return false;
    }
    good = take_record(node, reply);
    freeReplyObject(reply);
    if (!good)
        note(node, QL_V_PROTOCOL, "a strange answer", 16);
    return good;
}

/* --- The clock -------------------------------------------------------------
 */

static bool sample(const struct admin *admin, struct admin_node *node,
                   bool first)
{
    static const char *const words[] = {"TIME", NULL};
    int64_t sent = admin_now_ns(), got, took_us;
    redisReply *reply = admin_ask(admin, node, words);
    bool good;

    if (!reply)
        return false;
    got = admin_now_ns();
    took_us = (got - sent) / 1000;
    good = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
           reply->element[0]->type == REDIS_REPLY_STRING &&
           reply->element[1]->type == REDIS_REPLY_STRING;
    if (good && (first || took_us < node->took_us)) {
        node->time_us = strtoull(reply->element[0]->str, NULL, 10) * 1000000 +
                        strtoull(reply->element[1]->str, NULL, 10);
        node->at_ns = sent + (got - sent) / 2;
        node->took_us = took_us;
    }
    freeReplyObject(reply);
    return good;
}

bool admin_time(const struct admin *admin, struct admin_node *node)
{
    bool good = true;

    node->time_us = 0;
    for (int i = 0; good && i < TIME_SAMPLES; i++)
        good = sample(admin, node, i == 0);
    return good;
}

uint64_t admin_time_now(const struct admin_node *node)
{
    if (!node->time_us)
        return 0;
    return node->time_us + (uint64_t)(admin_now_ns() - node->at_ns) / 1000;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

uint64_t admin_median(const struct admin *admin)
{
    uint64_t times[QL_NODES_MAX + 1];
    unsigned known = 0;

    for (unsigned i = 0; i < admin->count; i++)
        if (admin->node[i].time_us)
            times[known++] = admin_time_now(&admin->node[i]);
    if (!known)
        return 0;
    qsort(times, known, sizeof(times[0]), compare);
    return times[(known - 1) / 2];
}
