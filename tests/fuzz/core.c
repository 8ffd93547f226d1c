/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the core. Two machines contend for one lock on up to five nodes
 * that keep their promises, while the input decides what happens next: which
 * request or answer arrives, which connection breaks, what the callers ask for,
 * and how much time goes by. The oracle: never two holders; a step leaves no
 * deadline behind it; what a caller asked for ends once.
 */
#include <string.h>

#include "core/machine.h"
#include "core/time.h"
#include "fuzz.h"

#define MACHINES  2
#define NODES_MAX 5
#define QUEUE_MAX 64
#define TTL_NS    UINT64_C(100000000)

struct message {
    enum ql_request_kind request;
    uint32_t round;
    uint32_t token;
    uint64_t ttl_ns;
    enum ql_vote answer; /* ASKED: the node has not had it yet */
    uint32_t holder;
    uint64_t remaining_ns;
};

/* One connection: requests go down it, and answers come up, in order. */
struct link {
    struct message queue[QUEUE_MAX];
    unsigned head, served, count;
};

struct player {
    struct ql_machine *machine;
    uint32_t token;
    bool asked; /* the caller waits for an outcome */
    struct link link[NODES_MAX];
};

struct world {
    const uint8_t *data;
    size_t size;
    uint64_t now;
    uint32_t tokens;
    struct ql_rules rules;
    struct ql_terms terms;
    struct player player[MACHINES];
    struct {
        uint32_t token; /* 0: no key */
        uint64_t expires_at;
    } node[NODES_MAX];
};

static uint8_t draw(struct world *w)
{
    if (w->size == 0)
        return 0;
    w->size--;
    return *w->data++;
}

static void tell(struct player *p, enum ql_outcome outcome)
{
    if (outcome == QL_OUT_LOST || outcome == QL_OUT_LOST_CAPPED)
        return;
    require(p->asked);
    p->asked = false;
}

static void send_message(struct world *w, struct player *p,
                         const struct ql_action *action)
{
    struct link *link = &p->link[action->node];

    if (link->count == QUEUE_MAX) { /* no more of this; it is never answered */
        w->size = 0;
        return;
    }
    link->queue[(link->head + link->count++) % QUEUE_MAX] =
        (struct message){.request = action->request,
                         .round = action->round,
                         .token = p->token,
                         .ttl_ns = action->ttl_ns,
                         .answer = QL_VOTE_ASKED};
}

static void check_exclusion(const struct world *w)
{
    unsigned holders = 0;

    for (int i = 0; i < MACHINES; i++)
        holders += ql_machine_valid_ns(w->player[i].machine, w->now) > 0;
    require(holders <= 1);
}

static void feed(struct world *w, struct player *p, struct ql_event event)
{
    struct ql_actions actions;

    event.now = w->now;
    ql_step(p->machine, &event, &actions);
    for (unsigned i = 0; i < actions.count; i++) {
        const struct ql_action *action = &actions.list[i];

        if (action->kind == QL_DO_TELL)
            tell(p, action->outcome);
        else if (action->kind == QL_DO_TOKEN)
            p->token = ++w->tokens;
        else
            send_message(w, p, action);
    }
    if (event.kind == QL_EV_TIME)
        require(ql_machine_deadline(p->machine) > w->now);
    check_exclusion(w);
}

/* The node does what it is asked for, by the same clock. */
static void serve(struct world *w, unsigned n, struct message *m)
{
    bool held;

    if (w->node[n].token && w->now >= w->node[n].expires_at)
        w->node[n].token = 0;
    held = w->node[n].token != 0;
    if (held && w->node[n].token != m->token) {
        m->answer = QL_VOTE_FOREIGN;
        m->holder = w->node[n].token;
        m->remaining_ns = w->node[n].expires_at - w->now;
        return;
    }
    m->answer = held ? QL_VOTE_YES : QL_VOTE_MISSING;
    if (m->request == QL_REQ_ACQUIRE) {
        m->answer = held ? QL_VOTE_FOREIGN : QL_VOTE_YES;
        if (held)
            return;
        w->node[n].token = m->token;
    }
    if (m->request == QL_REQ_INSPECT && held)
        m->remaining_ns = w->node[n].expires_at - w->now;
    if (m->request == QL_REQ_RELEASE)
        w->node[n].token = 0;
    else if (m->request != QL_REQ_INSPECT && m->answer == QL_VOTE_YES)
        w->node[n].expires_at = ql_time_add(w->now, m->ttl_ns);
}

static void answer(struct world *w, struct player *p, unsigned n,
                   enum ql_vote vote)
{
    struct link *link = &p->link[n];
    struct message m = link->queue[link->head];

    link->head = (link->head + 1) % QUEUE_MAX;
    link->count--;
    if (link->served > 0)
        link->served--;
    feed(w, p,
         (struct ql_event){.kind = QL_EV_VOTE,
                           .node = n,
                           .request = m.request,
                           .round = m.round,
                           .vote = vote == QL_VOTE_ASKED ? m.answer : vote,
                           .holder = m.holder,
                           .remaining_ns = m.remaining_ns});
}

static void deliver(struct world *w, struct player *p, unsigned n)
{
    struct link *link = &p->link[n];

    if (link->served < link->count)
        serve(w, n, &link->queue[(link->head + link->served++) % QUEUE_MAX]);
}

/* Nothing more of it arrives; its releases are owed and paid at once, which is
 * as good as later: their keys are only ours. */
static void cut(struct world *w, struct player *p, unsigned n)
{
    struct link *link = &p->link[n];

    for (unsigned left = link->count; left > 0; left--) {
        struct message *m = &link->queue[link->head];

        if (m->request == QL_REQ_RELEASE && w->node[n].token == m->token)
            w->node[n].token = 0;
        answer(w, p, n, QL_VOTE_FAILED);
    }
}

static bool has_lock(const struct player *p)
{
    uint8_t state = p->machine->state;

    return state == QL_ST_HELD || state == QL_ST_LOST || state == QL_ST_ADOPTED;
}

/* What a caller may ask for in the present state, and the machine relies on. */
static void ask(struct world *w, struct player *p, uint8_t what)
{
    struct ql_event event = {.until = ql_time_add(w->now, draw(w) * TTL_NS / 8),
                             .ttl_ns = (draw(w) + 1) * TTL_NS / 64};

    if (what % 8 == 0) {
        feed(w, p, (struct ql_event){.kind = QL_EV_CANCEL});
        return;
    }
    if (what % 8 == 1) {
        feed(w, p, (struct ql_event){.kind = QL_EV_WAKE});
        return;
    }
    if (p->asked)
        return;
    if (what % 8 == 2)
        event.kind = QL_EV_INSPECT;
    else if (p->machine->state == QL_ST_IDLE)
        event.kind = QL_EV_ACQUIRE;
    else if (!has_lock(p))
        return;
    else
        event.kind = what % 8 == 3   ? QL_EV_VERIFY
                     : what % 8 == 4 ? QL_EV_RELEASE
                                     : QL_EV_EXTEND;
    p->asked = true;
    feed(w, p, event);
}

/* Time goes by, and every deadline on the way is met. */
static void pass(struct world *w, uint64_t ns)
{
    uint64_t end = w->now + ns;

    for (;;) {
        uint64_t due = QL_NEVER;

        for (int i = 0; i < MACHINES; i++)
            due = ql_time_min(due, ql_machine_deadline(w->player[i].machine));
        if (due > end)
            break;
        w->now = ql_time_max(w->now, due);
        for (int i = 0; i < MACHINES; i++)
            if (ql_machine_deadline(w->player[i].machine) <= w->now)
                feed(w, &w->player[i], (struct ql_event){.kind = QL_EV_TIME});
    }
    w->now = end;
    check_exclusion(w);
}

static void turn(struct world *w)
{
    uint8_t what = draw(w), where = draw(w);
    struct player *p = &w->player[where % MACHINES];
    unsigned n = where / MACHINES % w->rules.nodes;

    if (what < 80)
        deliver(w, p, n);
    else if (what < 160 && p->link[n].served > 0)
        answer(w, p, n, QL_VOTE_ASKED);
    else if (what < 170)
        cut(w, p, n);
    else if (what < 220)
        pass(w, (uint64_t)draw(w) * (what & 1 ? 10000 : 1000000));
    else
        ask(w, p, what);
}

static void begin(struct world *w)
{
    uint8_t bits = draw(w);

    w->rules =
        (struct ql_rules){.nodes = 1 + draw(w) % NODES_MAX,
                          .node_timeout_ns = (bits / 8 + 1) * UINT64_C(2000000),
                          .drift_ppm = 10000};
    w->rules.quorum = w->rules.nodes / 2 + 1;
    w->terms = (struct ql_terms){
        .ttl_ns = TTL_NS,
        .retry_delay_ns = 4000000,
        .max_hold_ns = bits & 1 ? 4 * TTL_NS : QL_NEVER,
        .loss_notice_ns = TTL_NS / 10,
        .tries = bits & 2 ? 3 : 0,
        .renew = bits & 4,
    };
    for (int i = 0; i < MACHINES; i++) {
        w->player[i].machine = malloc(ql_machine_size(w->rules.nodes));
        ql_machine_init(w->player[i].machine, &w->rules, &w->terms, bits + i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;

    w = (struct world){.data = data, .size = size, .now = 1000000000};
    begin(&w);
    while (w.size > 0)
        turn(&w);
    for (int i = 0; i < MACHINES; i++)
        free(w.player[i].machine);
    return 0;
}
