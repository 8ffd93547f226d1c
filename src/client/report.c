/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each node said, kept small while a lock lives, and made into a report
 * or a sentence when somebody asks.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "client/client.h"

#define ERROR_MAX 2048
#define NO_ANSWER UINT32_MAX

static void set_text(struct ql_lock *lock, struct ql_note *note,
                     const char *text, size_t len)
{
    const ql_allocator *mem = &lock->client->mem;

    ql_mem_free(mem, note->text);
    /* Without memory there are no words, and the verdict still stands. */
    note->text = len ? ql_mem_copy(mem, text, len) : NULL;
}

void ql_note_reset(struct ql_lock *lock)
{
    for (unsigned i = 0; i < lock->client->rules.nodes; i++) {
        set_text(lock, &lock->note[i], "", 0);
        lock->note[i] = (struct ql_note){
            .verdict = QL_V_NONE, .remaining_ms = -1, .took_us = NO_ANSWER};
    }
}

void ql_note_free(struct ql_lock *lock)
{
    ql_note_reset(lock);
    ql_mem_free(&lock->client->mem, lock->report);
    ql_mem_free(&lock->client->mem, lock->error);
}

void ql_note_sent(struct ql_lock *lock, unsigned node)
{
    struct ql_note *note = &lock->note[node];

    note->verdict = QL_V_PENDING;
    note->sent_at = lock->client->clock.now;
    note->remaining_ms = -1;
    note->took_us = NO_ANSWER;
    set_text(lock, note, "", 0);
}

void ql_note_verdict(struct ql_lock *lock, unsigned node, ql_verdict verdict,
                     const char *text)
{
    char clean[QL_TEXT_MAX];
    size_t len = ql_text_clean(clean, sizeof(clean), text, strlen(text));

    lock->note[node].verdict = verdict;
    set_text(lock, &lock->note[node], clean, len);
}

/*
 * The release of a failed attempt tells who was in the way, or what is wrong;
 * that it deleted our own key again changes nothing in what the attempt was
 * told.
 */
static bool adds_nothing(const struct ql_lock *lock,
                         const struct ql_answer *answer, ql_verdict before)
{
    if (answer->kind != QL_CMD_RELEASE || lock->op.kind == QL_OP_RELEASE)
        return false;
    if (before != QL_V_HELD)
        return true;
    return answer->verdict == QL_V_GRANTED || answer->verdict == QL_V_MISSING ||
           answer->verdict == QL_V_TIMEOUT;
}

void ql_note_answer(struct ql_lock *lock, unsigned node,
                    const struct ql_answer *answer)
{
    struct ql_note *note = &lock->note[node];
    uint64_t took_us = answer->took_ns / 1000;
    char clean[QL_TEXT_MAX];
    size_t len;

    if (adds_nothing(lock, answer, note->verdict))
        return;
    if (answer->verdict == QL_V_HELD)
        len = ql_text_holder(clean, sizeof(clean), answer->text,
                             answer->text_len);
    else
        len =
            ql_text_clean(clean, sizeof(clean), answer->text, answer->text_len);
    note->verdict = answer->verdict;
    note->remaining_ms = answer->remaining_ms;
    note->took_us = took_us < NO_ANSWER ? (uint32_t)took_us : NO_ANSWER - 1;
    set_text(lock, note, clean, len);
}

void ql_note_settle(struct ql_lock *lock)
{
    uint64_t now = lock->client->clock.now;

    for (unsigned i = 0; i < lock->client->rules.nodes; i++) {
        struct ql_note *note = &lock->note[i];

        if (note->verdict == QL_V_PENDING &&
            now >= note->sent_at + lock->client->rules.node_timeout_ns)
            note->verdict = QL_V_TIMEOUT;
    }
}

int ql_note_refine(const struct ql_lock *lock)
{
    unsigned auth = 0, config = 0;

    for (unsigned i = 0; i < lock->client->rules.nodes; i++) {
        ql_verdict verdict = lock->note[i].verdict;

        auth += verdict == QL_V_NOAUTH || verdict == QL_V_NOPERM;
        config += verdict == QL_V_WRONGTYPE || verdict == QL_V_MOVED ||
                  verdict == QL_V_READONLY || verdict == QL_V_DUPLICATE ||
                  verdict == QL_V_GROUP || verdict == QL_V_TTL ||
                  verdict == QL_V_EVICTION;
    }
    return ql_result_of_failures(&lock->client->rules, auth, config);
}

const ql_node_report *ql_lock_report(const ql_lock *const_lock)
{
    ql_lock *lock = (ql_lock *)const_lock; /* the report is made on demand */
    struct ql_client *client = lock->client;
    unsigned nodes = client->rules.nodes;

    if (client->pid != getpid())
        return NULL;
    pthread_mutex_lock(&client->mutex);
    if (!lock->report)
        lock->report =
            ql_mem_zalloc(&client->mem, nodes * sizeof(ql_node_report));
    for (unsigned i = 0; lock->report && i < nodes; i++) {
        const struct ql_note *note = &lock->note[i];
        ql_node_report *row = &lock->report[i];

        row->address = client->address[i].display;
        row->verdict = note->verdict;
        row->remaining_ms = note->remaining_ms;
        row->took_us = note->took_us == NO_ANSWER ? -1 : (int64_t)note->took_us;
        snprintf(row->text, sizeof(row->text), "%s",
                 note->text ? note->text : "");
    }
    pthread_mutex_unlock(&client->mutex);
    return lock->report;
}

static size_t describe(char *out, size_t size, const ql_node_report *row)
{
    const char *word = ql_verdict_word(row->verdict);
    int n;

    if (row->verdict == QL_V_HELD && row->remaining_ms >= 0)
        n = snprintf(out, size, "; %s: held%s%s for another %.1f s",
                     row->address, row->text[0] ? " by " : "", row->text,
                     (double)row->remaining_ms / 1000);
    else
        n = snprintf(out, size, "; %s: %s%s%s%s", row->address, word,
                     row->text[0] ? " (" : "", row->text,
                     row->text[0] ? ")" : "");
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

const char *ql_lock_error(ql_lock *lock)
{
    const ql_node_report *report;
    size_t used;

    if (lock->client->pid != getpid())
        return ql_result_text(QL_E_FORKED);
    report = ql_lock_report(lock);
    if (!lock->error)
        lock->error = ql_mem_alloc(&lock->client->mem, ERROR_MAX);
    if (!lock->error || !report)
        return ql_result_text(lock->last_result);
    used = (size_t)snprintf(lock->error, ERROR_MAX, "%s",
                            ql_result_text(lock->last_result));
    for (unsigned i = 0; i < lock->client->rules.nodes; i++)
        if (report[i].verdict != QL_V_NONE)
            used += describe(lock->error + used, ERROR_MAX - used, &report[i]);
    return lock->error;
}
