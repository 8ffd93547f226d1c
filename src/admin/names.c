/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds locks by SCAN, in three passes over a node's keys: lease records of
 * both kinds, and keys of the plain level, which are told by their values.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/lock.h"
#include "redis/keys.h"

#define LEASE     QL_KEY_PREFIX "lock:{"
#define TAGGED    QL_KEY_PREFIX "tagged:"
#define COUNT     "1000" /* keys that SCAN looks at in one go */
#define TOKEN_LEN 40     /* of ours; hex digits */

/* --- A set of names
 * -------------------------------------------------------------- */

static bool add(struct admin_names *names, const char *text, size_t len)
{
    char *copy;

    if (names->count == names->room) {
        size_t room = names->room ? names->room * 2 : 256;
        struct admin_name *list =
            realloc(names->list, room * sizeof(struct admin_name));

        if (!list)
            return false;
        names->list = list;
        names->room = room;
    }
    copy = malloc(len + 1);
    if (!copy)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    names->list[names->count++] = (struct admin_name){copy, len};
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct admin_name *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

    return order ? order : (x->len > y->len) - (x->len < y->len);
}

void admin_names_merge(struct admin_names *names)
{
    size_t kept = 0;

    if (names->count)
        qsort(names->list, names->count, sizeof(names->list[0]), compare);
    for (size_t i = 0; i < names->count; i++) {
        if (kept && !compare(&names->list[kept - 1], &names->list[i]))
            free((char *)(uintptr_t)names->list[i].text);
        else
            names->list[kept++] = names->list[i];
    }
    names->count = kept;
}

void admin_names_free(struct admin_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free((char *)(uintptr_t)names->list[i].text);
    free(names->list);
    *names = (struct admin_names){NULL, 0, 0};
}

/* --- Whether a key is a lock's
 * ---------------------------------------------------- */

/* "<token> <end> <f> held", and more perhaps; and not ended. */
static bool is_live(const char *record, uint64_t now_us)
{
    const char *end = strchr(record, ' ');
    const char *fence = end ? strchr(end + 1, ' ') : NULL;
    const char *state = fence ? strchr(fence + 1, ' ') : NULL;

    return state && !strncmp(state, " held", 5) &&
           (!state[5] || state[5] == ' ') && strtoull(end, NULL, 10) > now_us;
}

static bool is_ours(const char *value, size_t len)
{
    if (len < TOKEN_LEN || (len > TOKEN_LEN && value[TOKEN_LEN] != ' '))
        return false;
    for (size_t i = 0; i < TOKEN_LEN; i++)
        if (!isxdigit((unsigned char)value[i]) ||
            isupper((unsigned char)value[i]))
            return false;
    return true;
}

/* The lock's name if the key is one of its: in *key, which is cut to it. */
static bool is_lock(const struct admin_node *node, struct admin_name *key,
                    const redisReply *value)
{
    static const size_t lease = sizeof(LEASE) - 1, tagged = sizeof(TAGGED) - 1;

    if (value->type != REDIS_REPLY_STRING)
        return false;
    if (key->len > lease + 1 && !memcmp(key->text, LEASE, lease) &&
        key->text[key->len - 1] == '}') {
        key->text += lease;
        key->len -= lease + 1;
        return is_live(value->str, admin_time_now(node));
    }
    if (key->len > tagged && !memcmp(key->text, TAGGED, tagged)) {
        key->text += tagged;
        key->len -= tagged;
        return is_live(value->str, admin_time_now(node));
    }
    if (key->len >= strlen(QL_KEY_PREFIX) &&
        !memcmp(key->text, QL_KEY_PREFIX, strlen(QL_KEY_PREFIX)))
        return false;
    return is_ours(value->str, (size_t)value->len);
}

/* --- A pass
 * ------------------------------------------------------------------------ */

/* "start" and the prefix, so that nothing of it is a wildcard, and "*". */
static char *make_pattern(const char *start, const struct admin_name *prefix,
                          size_t *ret_len)
{
    size_t used = strlen(start);
    char *pattern = malloc(used + 2 * prefix->len + 2);

    if (!pattern)
        return NULL;
    memcpy(pattern, start, used);
    for (size_t i = 0; i < prefix->len; i++) {
        if (strchr("*?[]\\^-", prefix->text[i]) && prefix->text[i])
            pattern[used++] = '\\';
        pattern[used++] = prefix->text[i];
    }
    pattern[used++] = '*';
    *ret_len = used;
    return pattern;
}

static bool fail(struct admin_node *node, ql_verdict verdict, const char *text)
{
    node->verdict = verdict;
    snprintf(node->text, sizeof(node->text), "%s", text);
    return false;
}

static bool fail_link(struct admin_node *node)
{
    return fail(node, node->link.verdict, node->link.text);
}

/* Asks for the values of all these keys at once. */
static bool take_values(const struct admin *admin, struct admin_node *node,
                        const redisReply *keys, struct admin_names *names)
{
    for (size_t i = 0; i < keys->elements; i++) {
        const char *word[] = {"GETRANGE", keys->element[i]->str, "0", "159"};
        size_t len[] = {8, (size_t)keys->element[i]->len, 1, 3};
        struct admin_words words = {4, word, len};

        if (!admin_link_send(&node->link, &words, admin->answer_ms))
            return fail_link(node);
    }
    for (size_t i = 0; i < keys->elements; i++) {
        struct admin_name key = {keys->element[i]->str,
                                 (size_t)keys->element[i]->len};
        redisReply *value = admin_link_take(&node->link, admin->answer_ms);
        bool good = true;

        if (!value)
            return fail_link(node);
        if (is_lock(node, &key, value))
            good = add(names, key.text, key.len);
        freeReplyObject(value);
        if (!good) {
            admin_link_close(&node->link);
            return fail(node, QL_V_NOMEM, "out of memory");
        }
    }
    return true;
}

/* {cursor, {key, ...}} */
static bool is_scan(const redisReply *reply)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        reply->element[0]->type != REDIS_REPLY_STRING ||
        reply->element[0]->len > 20 ||
        reply->element[1]->type != REDIS_REPLY_ARRAY)
        return false;
    for (size_t i = 0; i < reply->element[1]->elements; i++)
        if (reply->element[1]->element[i]->type != REDIS_REPLY_STRING)
            return false;
    return true;
}

static redisReply *scan(const struct admin *admin, struct admin_node *node,
                        const char *cursor, const char *pattern, size_t len)
{
    const char *word[] = {"SCAN",  cursor, "MATCH", pattern,
                          "COUNT", COUNT,  "TYPE",  "string"};
    size_t lens[] = {4, strlen(cursor), 5, len, 5, strlen(COUNT), 4, 6};
    struct admin_words words = {8, word, lens};
    redisReply *reply = NULL;

    if (admin_link_send(&node->link, &words, admin->answer_ms))
        reply = admin_link_take(&node->link, admin->answer_ms);
    if (!reply) {
        fail_link(node);
    } else if (admin_is_error(node, reply) || !is_scan(reply)) {
        if (reply->type != REDIS_REPLY_ERROR)
            fail(node, QL_V_PROTOCOL, "a strange answer to SCAN");
        freeReplyObject(reply);
        reply = NULL;
    }
    return reply;
}

static bool pass(const struct admin *admin, struct admin_node *node,
                 const char *start, const struct admin_name *prefix,
                 struct admin_names *names)
{
    char cursor[24] = "0";
    size_t len = 0;
    char *pattern = make_pattern(start, prefix, &len);
    bool good = pattern || fail(node, QL_V_NOMEM, "out of memory");

    while (good) {
        redisReply *reply = scan(admin, node, cursor, pattern, len);

        good = reply && take_values(admin, node, reply->element[1], names);
        if (!reply)
            break;
        snprintf(cursor, sizeof(cursor), "%s", reply->element[0]->str);
        freeReplyObject(reply);
        if (!strcmp(cursor, "0"))
            break;
    }
    free(pattern);
    return good;
}

bool admin_names_find(const struct admin *admin, struct admin_node *node,
                      const struct admin_name *prefix,
                      struct admin_names *names)
{
    return admin_reach(admin, node) && admin_time(admin, node) &&
           pass(admin, node, LEASE, prefix, names) &&
           pass(admin, node, TAGGED, prefix, names) &&
           pass(admin, node, "", prefix, names);
}
