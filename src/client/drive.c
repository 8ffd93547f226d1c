/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the pure machine and the nodes: carries out what the one decides,
 * and brings back what the others answer. It decides nothing itself.
 */
#include <assert.h>

#include "client/client.h"
#include "client/token.h"
#include "core/time.h"

/* Requests that a node would not take, to be voted when the actions that they
 * were among are done. A step sends to each node at most once, and what a vote
 * leads to sends at most once more to each: acquire, release, then waiting. */
struct refused {
    unsigned count;
    struct ql_event event[3 * QL_BALLOT_MAX];
};

static const enum ql_command_kind command_of[] = {
    [QL_REQ_ACQUIRE] = QL_CMD_SET,     [QL_REQ_EXTEND] = QL_CMD_EXTEND,
    [QL_REQ_RELEASE] = QL_CMD_RELEASE, [QL_REQ_INSPECT] = QL_CMD_INSPECT,
    [QL_REQ_CONFIRM] = QL_CMD_CONFIRM,
};

static const enum ql_request_kind request_of[] = {
    [QL_CMD_SET] = QL_REQ_ACQUIRE,     [QL_CMD_EXTEND] = QL_REQ_EXTEND,
    [QL_CMD_RELEASE] = QL_REQ_RELEASE, [QL_CMD_INSPECT] = QL_REQ_INSPECT,
    [QL_CMD_CONFIRM] = QL_REQ_CONFIRM,
};

/* Rounded up: a key may outlive the validity, never fall short of it. */
static uint64_t ms_of(uint64_t ns)
{
    return ns / QL_NS_PER_MS + (ns % QL_NS_PER_MS != 0);
}

/*
 * How long a key may live that the release does not reach. Not what is left of
 * a ttl: a request that the network or the server held up, for longer than the
 * machine waited for it, may have set the key a moment ago.
 */
static uint64_t release_ttl_ms(const struct ql_lock *lock)
{
    const struct ql_machine *m = &lock->machine;
    uint64_t left_ns = ql_time_sub(m->expires_at, m->now);

    return ms_of(ql_time_max(left_ns, lock->longest_ns)) + 1;
}

static void note_refusal(struct refused *refused,
                         const struct ql_action *action, enum ql_vote vote)
{
    assert(refused->count < 3 * QL_BALLOT_MAX);
    refused->event[refused->count++] = (struct ql_event){
        .kind = QL_EV_VOTE,
        .node = action->node,
        .request = action->request,
        .round = action->round,
        .vote = vote,
    };
}

/* The machine may give an attempt up before it has heard of all the nodes that
 * would not take it. There is nothing to release on these. */
static bool acquire_refused(const struct refused *refused, unsigned node)
{
    for (unsigned i = 0; i < refused->count; i++)
        if (refused->event[i].node == node &&
            refused->event[i].request == QL_REQ_ACQUIRE)
            return true;
    return false;
}

static void refuse(struct ql_lock *lock, const struct ql_action *action,
                   ql_verdict verdict, const char *text,
                   struct refused *refused)
{
    bool release = action->request == QL_REQ_RELEASE;

    if (!release || lock->op.kind == QL_OP_RELEASE)
        ql_note_verdict(lock, action->node, verdict, text);
    note_refusal(refused, action, ql_vote_of(verdict, release));
}

/*
 * What the guarded level wants to be true before a node is asked to vote. All
 * nodes of a round are sent the same, so it is worked out once for each.
 */
static bool may_ask(struct ql_lock *lock, const struct ql_action *action,
                    struct refused *refused)
{
    struct ql_member *member = &lock->client->member[action->node];
    const char *text;
    ql_verdict verdict;

    /* It takes nothing, and says best itself why. */
    if (ql_node_state(member->node) == QL_NODE_DOWN)
        return true;
    if (action->request == QL_REQ_EXTEND &&
        lock->aimed_round != action->round) {
        lock->aimed_round = action->round;
        ql_watch_refresh(lock->client);
        lock->aimed = ql_watch_aim(lock->client, &lock->guard);
    }
    verdict = ql_watch_verdict(member, &text);
    if (verdict == QL_V_GRANTED && !lock->aimed) {
        verdict = QL_V_CLOCK;
        text = "the nodes' clocks differ by too much";
    }
    if (verdict == QL_V_GRANTED)
        return true;
    refuse(lock, action, verdict, text, refused);
    return false;
}

static bool wants_vote(enum ql_request_kind request)
{
    return request == QL_REQ_ACQUIRE || request == QL_REQ_CONFIRM ||
           request == QL_REQ_EXTEND;
}

static void send_request(struct ql_lock *lock, const struct ql_action *action,
                         struct refused *refused)
{
    struct ql_client *client = lock->client;
    struct ql_node *node = client->member[action->node].node;
    bool release = action->request == QL_REQ_RELEASE;
    struct ql_command command = {
        .kind = command_of[action->request],
        .round = action->round,
        .owner = lock,
        .name = lock->name,
        .name_len = lock->name_len,
        .token = lock->token,
        .label = client->label,
        .ttl_ms = release ? release_ttl_ms(lock) : ms_of(action->ttl_ns),
    };
    struct ql_guard guard;
    ql_verdict verdict;

    lock->longest_ns = ql_time_max(lock->longest_ns, action->ttl_ns);
    if (release && acquire_refused(refused, action->node)) {
        note_refusal(refused, action, QL_VOTE_UNSENT);
        return;
    }
    if (client->watch) {
        if (wants_vote(action->request) && !may_ask(lock, action, refused))
            return;
        guard = lock->guard;
        guard.linger_ms += ms_of(lock->terms.lock_delay_ns);
        /* A lock that was adopted is released without having been aimed. */
        guard.keep_ms = client->watch->keep_ms;
        if (action->request != QL_REQ_ACQUIRE)
            guard.fence = action->fence;
        guard.held = lock->machine.state == QL_ST_RELEASING;
        command.guard = &guard;
    }
    verdict = ql_node_send(node, &command, client->clock.now);
    client->dirty |= UINT32_C(1) << action->node;
    if (verdict == QL_V_NONE) {
        lock->awaited++;
        if (!release || lock->op.kind == QL_OP_RELEASE)
            ql_note_sent(lock, action->node);
        return;
    }
    /* A release that nobody answers for was put on the connection all the
     * same, or is owed: see node.h. Any other was not sent. */
    refuse(lock, action, verdict, ql_node_text(node), refused);
}

/* QL_OK, or why there is no token. */
static int draw_token(struct ql_lock *lock)
{
    struct ql_client *client = lock->client;
    char token[QL_TOKEN_MAX + 1] = "";

    if (client->token(token, client->token_arg) != 0 || !ql_token_valid(token))
        return QL_E_RANDOM;
    memcpy(lock->token, token, sizeof(token));
    lock->longest_ns = 0;
    ql_note_reset(lock);
    if (client->watch) {
        ql_watch_refresh(client);
        lock->aimed = ql_watch_aim(client, &lock->guard);
    }
    return QL_OK;
}

static void step(struct ql_lock *lock, struct ql_event event,
                 struct refused *refused)
{
    struct ql_actions actions;

    event.now = lock->client->clock.now;
    ql_step(&lock->machine, &event, &actions);
    for (unsigned i = 0; i < actions.count; i++) {
        const struct ql_action *action = &actions.list[i];

        switch (action->kind) {
        case QL_DO_TOKEN:
            if (draw_token(lock) == QL_OK)
                break;
            event = (struct ql_event){.kind = QL_EV_ABORT};
            step(lock, event, refused);
            return;
        case QL_DO_SEND:
            send_request(lock, action, refused);
            break;
        case QL_DO_TELL:
            ql_op_tell(lock, action->outcome);
            break;
        }
    }
}

static bool machine_busy(const struct ql_machine *m)
{
    return m->state == QL_ST_ACQUIRING || m->state == QL_ST_CLEANING ||
           m->state == QL_ST_RELEASING || m->errand != QL_ERRAND_NONE;
}

static void count_busy(struct ql_lock *lock)
{
    bool busy = machine_busy(&lock->machine);

    if (busy != lock->counted_busy) {
        lock->client->busy += busy ? 1 : -1u;
        lock->counted_busy = busy;
    }
}

/* A lock that is held goes on being renewed, and its loss is told, while an
 * operation on it waits for connections. */
void ql_drive_timer(struct ql_lock *lock)
{
    uint64_t deadline = ql_machine_deadline(&lock->machine);

    if (lock->op.gated)
        deadline = ql_time_min(deadline, lock->op.gate_until);
    ql_timers_set(&lock->client->timers, &lock->timer, deadline);
}

void ql_drive(struct ql_lock *lock, struct ql_event event)
{
    struct refused refused = {.count = 0};

    step(lock, event, &refused);
    for (unsigned i = 0; i < refused.count; i++)
        step(lock, refused.event[i], &refused);
    count_busy(lock);
    ql_drive_timer(lock);
}

/* FNV-1a: two holders with one hash would only blur a message. */
static uint32_t holder_hash(const char *text, size_t len)
{
    uint32_t hash = UINT32_C(2166136261);

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT32_C(16777619);
    return hash ? hash : 1;
}

/* Of a key that is ours, but under another number, no more can be said than
 * that it is not this holder's. */
static bool is_renumbered(const struct ql_lock *lock,
                          const struct ql_answer *answer)
{
    return answer->kind == QL_CMD_INSPECT && answer->verdict == QL_V_GRANTED &&
           lock->machine.fence != 0 && answer->fence != lock->machine.fence;
}

/* " <token> <token>": each begins with a space. */
static void note_earlier(struct ql_prev *prev, const char *tokens)
{
    for (unsigned i = 0; i < QL_EARLIER_MAX && *tokens == ' '; i++) {
        size_t len = strcspn(++tokens, " ");

        prev->earlier[i] = holder_hash(tokens, len);
        tokens += len;
    }
}

static struct ql_prev prev_of(const struct ql_answer *answer)
{
    struct ql_prev prev = {.end = QL_PREV_NONE};

    if (answer->prev == 0 || !answer->prev_token)
        return prev;
    prev.end = answer->prev == 1 ? QL_PREV_RELEASED : QL_PREV_ENDED;
    prev.holder = holder_hash(answer->prev_token, strlen(answer->prev_token));
    prev.fence = answer->prev_fence;
    note_earlier(&prev, answer->earlier);
    return prev;
}

static struct ql_event vote_of(const struct ql_lock *lock, unsigned node,
                               const struct ql_answer *answer)
{
    struct ql_event event = {
        .kind = QL_EV_VOTE,
        .node = node,
        .request = request_of[answer->kind],
        .round = answer->round,
        .vote = ql_vote_of(answer->verdict, answer->sent),
        .fence = answer->fence,
        .repaired = answer->verdict == QL_V_REPAIRED,
        .prev = prev_of(answer),
    };

    if (is_renumbered(lock, answer))
        event.vote = QL_VOTE_FOREIGN;
    if (answer->verdict == QL_V_HELD && answer->text_len > 0)
        event.holder = holder_hash(answer->text, answer->text_len);
    if (answer->remaining_ms < 0 && answer->kind == QL_CMD_INSPECT)
        event.remaining_ns = QL_NEVER; /* somebody took its expiry away */
    else if (answer->remaining_ms > 0)
        event.remaining_ns = (uint64_t)answer->remaining_ms * QL_NS_PER_MS;
    return event;
}

void ql_drive_answer(struct ql_node *node, const struct ql_answer *answer,
                     void *ctx)
{
    struct ql_member *member = ctx;
    struct ql_lock *lock = answer->owner;

    (void)node;
    /* Read anew: between the bytes' arrival and this moment we may have been
     * stopped for longer than the lock is valid. */
    ql_clock_now(&member->client->clock);
    if (member->client->watch)
        ql_watch_heard(member, answer);
    if (!lock) /* the watch asked, not a lock */
        return;
    lock->awaited--;
    if (lock->freed) {
        if (lock->awaited == 0)
            ql_handle_dispose(lock);
        return;
    }
    ql_note_answer(lock, member->index, answer);
    ql_drive(lock, vote_of(lock, member->index, answer));
}
