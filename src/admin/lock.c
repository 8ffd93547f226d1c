/* SPDX-License-Identifier: BSD-2-Clause */
/* One lock: what the nodes have of it, and taking it away. */
#include "admin/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "redis/keys.h"

#define KEEP_MS "86400000" /* how long its number is remembered: a day */

/* --- Asking a node
 * ------------------------------------------------------------ */

struct question {
    const char *word[8];
    size_t len[8];
    struct admin_words words;
    char *lease; /* key of the lease record */
};

static void ask_with(struct question *question, const char *word, size_t len)
{
    question->word[question->words.count] = word;
    question->len[question->words.count++] = len;
}

/* The keys of the lock; false: out of memory. */
static bool prepare(struct question *question, const struct admin_name *name)
{
    memset(question, 0, sizeof(*question));
    question->words.word = question->word;
    question->words.len = question->len;
    question->lease = malloc(name->len + QL_KEY_MORE);
    if (!question->lease)
        return false;
    ask_with(question, name->text, name->len);
    ask_with(question, question->lease,
             ql_key_lease(question->lease, name->text, name->len));
    return true;
}

static bool no_memory(struct admin_node *node)
{
    node->verdict = QL_V_NOMEM;
    snprintf(node->text, sizeof(node->text), "out of memory");
    return false;
}

static bool is_type(const redisReply *reply, size_t index, int type)
{
    return index < reply->elements && reply->element[index]->type == type;
}

static size_t first_word(const char *value, size_t len)
{
    const char *space = memchr(value, ' ', len);

    if (space)
        return (size_t)(space - value);
    return len < ADMIN_VALUE_MAX ? len : 0; /* it may go on */
}

/* {held, TIME, value, remaining_ms, f, state} */
static bool read_lock(struct admin_lock *lock, const redisReply *reply)
{
    const redisReply *value;

    if (reply->type != REDIS_REPLY_ARRAY ||
        !is_type(reply, 0, REDIS_REPLY_INTEGER) ||
        !is_type(reply, 2, REDIS_REPLY_STRING) ||
        !is_type(reply, 3, REDIS_REPLY_INTEGER) ||
        !is_type(reply, 4, REDIS_REPLY_INTEGER) ||
        !is_type(reply, 5, REDIS_REPLY_STRING))
        return false;
    value = reply->element[2];
    lock->known = true;
    lock->held = reply->element[0]->integer == 1;
    lock->len = (size_t)value->len < ADMIN_VALUE_MAX ? (size_t)value->len
                                                     : ADMIN_VALUE_MAX;
    memcpy(lock->value, value->str, lock->len);
    lock->token_len = first_word(lock->value, lock->len);
    lock->remaining_ms = reply->element[3]->integer;
    lock->fence = (uint64_t)reply->element[4]->integer;
    snprintf(lock->state, sizeof(lock->state), "%s", reply->element[5]->str);
    return true;
}

bool admin_lock_look(const struct admin *admin, struct admin_node *node,
                     const struct admin_name *name, struct admin_lock *ret_lock)
{
    struct admin_lock lock = {.known = false};
    struct question question;
    redisReply *reply;
    bool good = false;

    *ret_lock = lock;
    if (!admin_reach(admin, node))
        return false;
    if (!prepare(&question, name))
        return no_memory(node);
    ask_with(&question, QL_KEY_NODE, strlen(QL_KEY_NODE));
    reply = admin_script(admin, node, "guarded_inspect", 3, &question.words);
    free(question.lease);
    if (reply && !admin_is_error(node, reply)) {
        good = read_lock(&lock, reply);
        node->verdict = good ? QL_V_GRANTED : QL_V_PROTOCOL;
        snprintf(node->text, sizeof(node->text), "%s",
                 good ? "" : "a strange answer");
    }
    if (reply)
        freeReplyObject(reply);
    *ret_lock = lock;
    return good;
}

int admin_lock_force(const struct admin *admin, struct admin_node *node,
                     const struct admin_name *name,
                     const struct admin_lock *seen)
{
    struct question question;
    redisReply *reply;
    int result = -1;

    if (!admin_reach(admin, node))
        return -1;
    if (!prepare(&question, name)) {
        no_memory(node);
        return -1;
    }
    ask_with(&question, seen->value, seen->token_len);
    ask_with(&question, KEEP_MS, strlen(KEEP_MS));
    /* What it was told of earlier holders is for the next one to know, too. */
    ask_with(&question, "0", 1);
    reply = admin_script(admin, node, "guarded_release", 2, &question.words);
    free(question.lease);
    if (reply && !admin_is_error(node, reply) &&
        reply->type == REDIS_REPLY_ARRAY &&
        is_type(reply, 0, REDIS_REPLY_INTEGER))
        result = reply->element[0]->integer == 1;
    if (reply)
        freeReplyObject(reply);
    return result;
}

const char *admin_lock_label(char label[QL_TEXT_MAX],
                             const struct admin_lock *lock)
{
    ql_text_holder(label, QL_TEXT_MAX, lock->value, lock->len);
    return label;
}

/* --- All nodes together
 * --------------------------------------------------------- */

bool admin_lock_same(const struct admin_lock *a, const struct admin_lock *b)
{
    size_t len = a->token_len ? a->token_len : a->len;

    return a->held && b->held &&
           len == (b->token_len ? b->token_len : b->len) &&
           !memcmp(a->value, b->value, len);
}

static void count_fences(struct admin_holder *holder,
                         const struct admin_lock *lock, unsigned nodes)
{
    for (unsigned i = 0; i < nodes; i++) {
        unsigned equal = 0;

        if (!lock[i].fence || !admin_lock_same(&lock[i], holder->lock))
            continue;
        for (unsigned k = 0; k < nodes; k++)
            equal += lock[k].fence == lock[i].fence &&
                     admin_lock_same(&lock[k], holder->lock);
        if (equal > holder->fences) {
            holder->fences = equal;
            holder->fence = lock[i].fence;
        }
    }
}

struct admin_holder admin_holder_of(const struct admin_lock *lock,
                                    unsigned nodes)
{
    struct admin_holder holder = {.remaining_ms = -1};

    for (unsigned i = 0; i < nodes; i++) {
        unsigned equal = 0;

        holder.known += lock[i].known;
        holder.free += lock[i].known && !lock[i].held;
        if (!lock[i].held)
            continue;
        for (unsigned k = 0; k < nodes; k++)
            equal += admin_lock_same(&lock[i], &lock[k]);
        if (equal > holder.nodes) {
            holder.nodes = equal;
            holder.lock = &lock[i];
        }
    }
    if (!holder.lock)
        return holder;
    holder.others = holder.known - holder.free - holder.nodes;
    for (unsigned i = 0; i < nodes; i++)
        if (admin_lock_same(&lock[i], holder.lock) &&
            lock[i].remaining_ms > holder.remaining_ms)
            holder.remaining_ms = lock[i].remaining_ms;
    count_fences(&holder, lock, nodes);
    return holder;
}
