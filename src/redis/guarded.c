/* SPDX-License-Identifier: BSD-2-Clause */
/* The words that the scripts lua/guarded_*.lua and lua/node.lua take. */
#include "redis/guarded.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "redis/keys.h"
#include "redis/script.h"

#define WORDS_MAX   18
#define NUMBERS_MAX 7
/* Names are short but for curious ones. */
#define KEY_ROOM 256

/* No server has this run_id, so that a script refuses whoever claims it. */
static const char no_run_id[] = "----------------------------------------";
/* As many digits as the scripts take. */
#define SEEN_FORMAT "%016" PRIu64
#define SEEN_LEN    16
#define SEEN_MAX    UINT64_C(9999999999999999)

_Static_assert(sizeof(no_run_id) - 1 == QL_RUN_ID_MAX, "both have one length");

struct words {
    int count;
    const char *word[WORDS_MAX];
    size_t len[WORDS_MAX];
    unsigned numbers;
    char number[NUMBERS_MAX][24];
    int run, seen; /* where those two are; 0: nowhere */
};

static void add_bytes(struct words *w, const char *bytes, size_t len)
{
    assert(w->count < WORDS_MAX);
    w->word[w->count] = bytes;
    w->len[w->count++] = len;
}

static void add(struct words *w, const char *text)
{
    add_bytes(w, text, strlen(text));
}

static void add_number(struct words *w, uint64_t number)
{
    char *text = w->number[w->numbers++];

    assert(w->numbers <= NUMBERS_MAX);
    snprintf(text, sizeof(w->number[0]), "%" PRIu64, number);
    add(w, text);
}

static void add_run(struct words *w)
{
    w->run = w->count;
    add(w, no_run_id);
}

static void add_seen(struct words *w)
{
    char *text = w->number[w->numbers++];

    assert(w->numbers <= NUMBERS_MAX);
    snprintf(text, sizeof(w->number[0]), SEEN_FORMAT, UINT64_C(0));
    w->seen = w->count;
    add(w, text);
}

/* --- Each script's arguments -----------------------------------------------
 */

/* guarded_acquire and guarded_extend take the same. */
static void add_lease(struct words *w, const struct ql_command *command,
                      char value[QL_TOKEN_MAX + 1 + QL_LABEL_MAX + 1])
{
    const struct ql_guard *guard = command->guard;

    ql_request_value(value, command);
    add(w, guard->cfg);
    add_run(w);
    add(w, command->token);
    add(w, value);
    add_number(w, command->ttl_ms);
    add_number(w, guard->fence);
    add_number(w, guard->low_us);
    add_number(w, guard->high_us);
    add_number(w, guard->linger_ms);
    add_number(w, guard->keep_ms);
    add_seen(w);
    add(w, guard->strict ? "1" : "0");
}

static void add_confirm(struct words *w, const struct ql_command *command)
{
    const struct ql_guard *guard = command->guard;

    add(w, guard->cfg);
    add_run(w);
    add(w, command->token);
    add_number(w, guard->fence);
    add_seen(w);
    add(w, guard->strict ? "1" : "0");
}

static void add_record(struct words *w, const struct ql_command *command)
{
    add(w, "1");
    add(w, QL_KEY_NODE);
    for (unsigned i = 0; i < QL_RECORD_ARGS && command->record[i]; i++)
        add(w, command->record[i]);
}

static void add_arguments(struct words *w, const struct ql_command *command,
                          const char *lease, size_t lease_len, char *value)
{
    bool named = command->kind != QL_CMD_CONFIRM;
    bool judged =
        command->kind != QL_CMD_RELEASE && command->kind != QL_CMD_INSPECT;

    add(w, named && judged ? "3" : "2");
    if (named)
        add_bytes(w, command->name, command->name_len);
    add_bytes(w, lease, lease_len);
    if (judged)
        add(w, QL_KEY_NODE);
    switch (command->kind) {
    case QL_CMD_SET:
    case QL_CMD_EXTEND:
        add_lease(w, command, value);
        break;
    case QL_CMD_CONFIRM:
        add_confirm(w, command);
        break;
    case QL_CMD_RELEASE:
        add(w, command->token);
        add_number(w, command->guard->keep_ms);
        add(w, command->guard->held ? "1" : "0");
        break;
    default: /* INSPECT has none */
        break;
    }
}

/* --- Bytes -----------------------------------------------------------------
 */

/*
 * Where a word's own bytes begin, counted from the end: names, which may be
 * long, stand before. 0: there is no such word.
 */
static uint16_t place_of(const struct words *w, int index)
{
    size_t behind = w->len[index] + 2; /* "\r\n" */

    if (index == 0)
        return 0;
    for (int i = index + 1; i < w->count; i++)
        behind +=
            (size_t)snprintf(NULL, 0, "$%zu\r\n", w->len[i]) + w->len[i] + 2;
    assert(behind <= UINT16_MAX);
    return (uint16_t)behind;
}

static bool encode(struct ql_request *request, const struct words *w)
{
    request->run_at = place_of(w, w->run);
    request->seen_at = place_of(w, w->seen);
    return ql_request_encode(request, w->count, (const char **)w->word, w->len);
}

bool ql_guarded_encode(struct ql_request *request,
                       const struct ql_command *command,
                       const ql_allocator *mem)
{
    char value[QL_TOKEN_MAX + 1 + QL_LABEL_MAX + 1];
    char room[KEY_ROOM];
    char *lease = room;
    struct words w = {0};
    bool good;

    add(&w, "EVALSHA");
    add(&w, ql_script_at((unsigned)request->script)->sha1);
    if (command->kind == QL_CMD_RECORD) {
        add_record(&w, command);
        return encode(request, &w);
    }
    if (command->name_len + QL_KEY_MORE > sizeof(room))
        lease = ql_mem_alloc(mem, command->name_len + QL_KEY_MORE);
    if (!lease)
        return false;
    add_arguments(&w, command, lease,
                  ql_key_lease(lease, command->name, command->name_len), value);
    good = encode(request, &w);
    if (lease != room)
        ql_mem_free(mem, lease);
    return good;
}

void ql_guarded_stamp(struct ql_request *request, const char *run_id,
                      uint64_t seen)
{
    char *end = request->bytes + request->size;
    char digits[24];

    if (request->run_at == 0)
        return;
    if (strlen(run_id) != QL_RUN_ID_MAX)
        run_id = no_run_id;
    memcpy(end - request->run_at, run_id, QL_RUN_ID_MAX);
    snprintf(digits, sizeof(digits), SEEN_FORMAT,
             seen < SEEN_MAX ? seen : SEEN_MAX);
    memcpy(end - request->seen_at, digits, SEEN_LEN);
}
