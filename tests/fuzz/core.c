/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: the core. Three machines contend for one lock on up to five
 * nodes that keep their promises, while the input decides what happens next:
 * which request or answer arrives, which connection breaks, what the callers
 * ask for, and how much time goes by. The oracle: never two holders; a step
 * leaves no deadline behind it; what a caller asked for ends once.
 *
 * Fenced, the input also decides what numbers are proposed, and whether leases
 * may vanish. Then there may be two holders, but always: tokens of different
 * acquisitions differ, a later one is larger, a majority had said each of them
 * before it was given out, and none is extended after a larger one.
 */
#include <string.h>

#include "core/time.h"
#include "core_world.h"
#include "fuzz.h"

static uint8_t draw(struct world *w)
{
    if (w->size == 0)
        return 0;
    w->size--;
    return *w->data++;
}

/* --- What must hold ------------------------------------------------------- */

static void give_out(struct world *w, struct player *p, uint64_t fence)
{
    unsigned have_said = 0;

    for (unsigned n = 0; n < w->rules.nodes; n++) {
        bool has = false;

        for (unsigned i = 0; i < SAID_MAX; i++)
            has |= p->said[n][i] == fence;
        have_said += has;
    }
    require(have_said >= w->rules.quorum);
    require(fence > p->floor);
    for (unsigned i = 0; i < w->given_out; i++)
        require(w->given[i] != fence);
    if (w->given_out == GIVEN_MAX)
        w->size = w->given_out = 0; /* no more of this */
    w->given[w->given_out++] = fence;
    w->largest = ql_time_max(w->largest, fence);
    p->fence = fence;
}

static void check_token(struct world *w, struct player *p,
                        enum ql_outcome outcome)
{
    uint64_t fence = p->machine->fence;

    require(fence != 0);
    if (p->fence == 0)
        give_out(w, p, fence);
    require(fence == p->fence);
    if (outcome == QL_OUT_EXTENDED)
        require(fence >= p->extension_floor);
}

static void tell(struct world *w, struct player *p, enum ql_outcome outcome)
{
    if (outcome == QL_OUT_LOST || outcome == QL_OUT_LOST_CAPPED)
        return;
    require(p->asked);
    p->asked = false;
    if (w->rules.fenced &&
        (outcome == QL_OUT_ACQUIRED || outcome == QL_OUT_EXTENDED))
        check_token(w, p, outcome);
}

static void send_message(struct world *w, struct player *p,
                         const struct ql_action *action)
{
    struct link *link = &p->link[action->node];

    if (link->count == QUEUE_MAX) { /* no more of this; it is never answered */
        w->size = 0;
        return;
    }
    link->queue[(link->head + link->count++) % QUEUE_MAX] = (struct message){
        .request = action->request,
        .round = action->round,
        .token = p->token,
        .ttl_ns = action->ttl_ns,
        .fence =
            action->request == QL_REQ_ACQUIRE ? p->proposal : action->fence,
        .answer = QL_VOTE_ASKED};
    if (action->request == QL_REQ_EXTEND)
        p->extension_floor = w->largest;
}

/* Small, so that they meet; now and then beyond all that were given out. */
static void begin_attempt(struct world *w, struct player *p)
{
    uint8_t drawn = draw(w);

    p->token = ++w->tokens;
    p->proposal = drawn & 1 ? drawn / 2 : w->largest + drawn / 32;
    p->fence = 0;
    p->floor = w->largest;
    memset(p->said, 0, sizeof(p->said));
}

static void check_exclusion(const struct world *w)
{
    unsigned holders = 0;

    for (int i = 0; i < MACHINES; i++)
        holders += ql_machine_valid_ns(w->player[i].machine, w->now) > 0;
    require(holders <= 1 || w->vanish);
}

static void feed(struct world *w, struct player *p, struct ql_event event)
{
    struct ql_actions actions;

    event.now = w->now;
    ql_step(p->machine, &event, &actions);
    for (unsigned i = 0; i < actions.count; i++) {
        const struct ql_action *action = &actions.list[i];

        if (action->kind == QL_DO_TELL)
            tell(w, p, action->outcome);
        else if (action->kind == QL_DO_TOKEN)
            begin_attempt(w, p);
        else
            send_message(w, p, action);
    }
    if (event.kind == QL_EV_TIME)
        require(ql_machine_deadline(p->machine) > w->now);
    check_exclusion(w);
}

static void note_said(struct player *p, unsigned n, const struct message *m)
{
    uint64_t *said = p->said[n];

    if (m->token != p->token || m->answer != QL_VOTE_YES)
        return;
    memmove(&said[1], said, (SAID_MAX - 1) * sizeof(*said));
    said[0] = m->number;
}

/* --- What happens --------------------------------------------------------- */

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
                           .remaining_ns = m.remaining_ns,
                           .fence = m.number,
                           .repaired = vote == QL_VOTE_ASKED && m.repaired,
                           .prev = m.prev});
}

static void deliver(struct world *w, struct player *p, unsigned n, bool skewed)
{
    struct link *link = &p->link[n];

    if (link->served < link->count) {
        struct message *m =
            &link->queue[(link->head + link->served++) % QUEUE_MAX];

        /* It refuses for the time it shows, and does nothing. */
        if (skewed &&
            (m->request == QL_REQ_ACQUIRE || m->request == QL_REQ_EXTEND)) {
            m->answer = QL_VOTE_SKEWED;
            return;
        }
        serve(w, n, m);
        note_said(p, n, m);
    }
}

/* Nothing more of it arrives; its releases are owed and paid at once, which is
 * as good as later: their keys are only ours. */
static void cut(struct world *w, struct player *p, unsigned n)
{
    struct link *link = &p->link[n];

    for (unsigned left = link->count; left > 0; left--) {
        struct message *m = &link->queue[link->head];

        if (m->request == QL_REQ_RELEASE)
            serve(w, n, m);
        answer(w, p, n, QL_VOTE_FAILED);
    }
}

/* The process ends, and another is told its token, or the number as well. */
static void replace(struct world *w, struct player *p)
{
    for (unsigned n = 0; n < w->rules.nodes; n++)
        cut(w, p, n);
    ql_machine_init(p->machine, &w->rules, &w->terms, draw(w));
    p->asked = false;
    if (p->token != 0)
        feed(w, p,
             (struct ql_event){.kind = QL_EV_ADOPT,
                               .fence = draw(w) & 1 ? p->fence : 0});
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
        deliver(w, p, n, w->rules.fenced && what < 4);
    else if (what < 160 && p->link[n].served > 0)
        answer(w, p, n, QL_VOTE_ASKED);
    else if (what < 170)
        cut(w, p, n);
    else if (what < 174 && w->vanish)
        w->node[n].token = w->node[n].lease_until = 0;
    else if (what >= 174 && what < 176)
        replace(w, p);
    else if (what < 220)
        pass(w, (uint64_t)draw(w) * (what & 1 ? 10000 : 1000000));
    else
        ask(w, p, what);
}

static void begin(struct world *w)
{
    uint8_t bits = draw(w), fenced = draw(w);

    w->vanish = fenced % 4 == 3;
    w->rules =
        (struct ql_rules){.nodes = 1 + draw(w) % NODES_MAX,
                          .node_timeout_ns = (bits / 8 + 1) * UINT64_C(2000000),
                          .linger_ns = fenced / 4 * UINT64_C(1000000),
                          .drift_ppm = 10000,
                          .fenced = fenced % 4 != 0};
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
