/* SPDX-License-Identifier: BSD-2-Clause */
/* What is tried, in this order: later ones use the key that earlier ones left,
 * and the last of those deletes it. It also expires by itself. */
#include "admin/rights.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "redis/script.h"
#include "redis/verdict.h"

#define KEY_MAX   64
#define WORDS_MAX 8
#define KEY       "@" /* stands for the key in the words below */

const struct admin_right ADMIN_RIGHT[ADMIN_RIGHTS] = {
    {"+script|load", ADMIN_NEEDED, "no script can be loaded"},
    {"+evalsha", ADMIN_NEEDED, "no script can be run"},
    {"+time", ADMIN_NEEDED, "its clock cannot be judged"},
    {"+info", ADMIN_NEEDED, "a restart cannot be noticed"},
    {"+set", ADMIN_NEEDED, "no lock can be taken"},
    {"+get", ADMIN_NEEDED, "no lease record can be read"},
    {"+getrange", ADMIN_NEEDED, "no lock can be read"},
    {"+exists", ADMIN_NEEDED, "no lock can be released"},
    {"+pttl", ADMIN_NEEDED, "nobody is told how long a lock is held"},
    {"+pexpire", ADMIN_NEEDED, "no lock can be extended"},
    {"+hmget", ADMIN_NEEDED, "the node's record cannot be read"},
    {"+hset", ADMIN_NEEDED, "the node's record cannot be written"},
    {"+del", ADMIN_NEEDED, "no lock can be released"},
    {"+config|get", ADMIN_USEFUL,
     "whether it saves every write is not known: it is taken not to"},
    {"+client|setname", ADMIN_USEFUL, "CLIENT LIST does not say who we are"},
    {"+scan", ADMIN_OPERATOR, "quorlock list does not work"},
};

/* What is sent for each of the above. The key holds a string, so what is meant
 * for hashes fails for that reason if it is allowed, and writes nothing. */
static const char *const TRIAL[ADMIN_RIGHTS][WORDS_MAX] = {
    {"SCRIPT", "LOAD", "return 1"},
    {"EVALSHA", "0000000000000000000000000000000000000000", "0"},
    {"TIME"},
    {"INFO", "server"},
    {"SET", KEY, "check", "NX", "PX", "10000"},
    {"GET", KEY},
    {"GETRANGE", KEY, "0", "0"},
    {"EXISTS", KEY},
    {"PTTL", KEY},
    {"PEXPIRE", KEY, "10000"},
    {"HMGET", KEY, "field"},
    {"HSET", KEY, "field", "value"},
    {"DEL", KEY},
    {"CONFIG", "GET", "appendfsync"},
    {"CLIENT", "SETNAME", "quorlock"},
    {"SCAN", "0", "MATCH", KEY, "COUNT", "1"},
};

static void make_key(char key[KEY_MAX])
{
    uint64_t number = 0;

    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
        number = (uint64_t)admin_now_ns();
    snprintf(key, KEY_MAX, "quorlock:check:%016llx",
             (unsigned long long)number);
}

/* "No permissions to access a key", and not "to run the 'get' command". */
static enum admin_trial trial_of(const redisReply *reply)
{
    if (reply->type != REDIS_REPLY_ERROR ||
        ql_verdict_of_error(reply->str, (size_t)reply->len) != QL_V_NOPERM)
        return ADMIN_ALLOWED;
    return strstr(reply->str, "command") ? ADMIN_DENIED : ADMIN_KEY_DENIED;
}

bool admin_rights(const struct admin *admin, struct admin_node *node,
                  enum admin_trial trial[ADMIN_RIGHTS])
{
    char key[KEY_MAX];
    bool has_key = false;

    make_key(key);
    for (unsigned i = 0; i < ADMIN_RIGHTS; i++)
        trial[i] = ADMIN_UNTRIED;
    for (unsigned i = 0; i < ADMIN_RIGHTS; i++) {
        const char *words[WORDS_MAX] = {NULL};
        redisReply *reply;

        for (unsigned k = 0; TRIAL[i][k]; k++)
            words[k] = strcmp(TRIAL[i][k], KEY) ? TRIAL[i][k] : key;
        /* Without the string it would write. */
        if (!strcmp(words[0], "HSET") && !has_key)
            continue;
        reply = admin_ask(admin, node, words);
        if (!reply)
            return false;
        trial[i] = trial_of(reply);
        has_key = has_key || (!strcmp(words[0], "SET") &&
                              reply->type == REDIS_REPLY_STATUS);
        freeReplyObject(reply);
    }
    return true;
}

const char *admin_acl(char text[ADMIN_ACL], const struct admin *admin,
                      bool useful)
{
    size_t used = (size_t)snprintf(
        text, ADMIN_ACL,
        "ACL SETUSER NAME on >PASSWORD resetkeys ~quorlock:* ~LOCKS* -@all");

    for (unsigned i = 0; i < ADMIN_RIGHTS; i++)
        if (ADMIN_RIGHT[i].need == ADMIN_NEEDED ||
            (useful && ADMIN_RIGHT[i].need == ADMIN_USEFUL))
            used += (size_t)snprintf(text + used, ADMIN_ACL - used, " %s",
                                     ADMIN_RIGHT[i].name);
    for (unsigned i = 0; i < admin->count; i++)
        if (admin->node[i].address.db != 0) {
            snprintf(text + used, ADMIN_ACL - used, " +select");
            break;
        }
    return text;
}
