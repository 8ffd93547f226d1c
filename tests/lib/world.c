/* SPDX-License-Identifier: BSD-2-Clause */
#include "world_inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/time.h"

uint64_t world_random(struct world *w, uint64_t low, uint64_t high)
{
    return ql_rand_between(&w->rand, low, high);
}

bool world_chance(struct world *w, unsigned per_mille)
{
    return world_random(w, 0, 999) < per_mille;
}

void world_open(struct world *w, unsigned nodes, unsigned machines,
                uint64_t seed)
{
    *w = (struct world){
        .rules = {.nodes = nodes,
                  .quorum = nodes / 2 + 1,
                  .node_timeout_ns = 50 * QL_NS_PER_MS,
                  .drift_ppm = 10000},
        .machines = machines,
        .latency_least_ns = QL_NS_PER_MS,
        .latency_ns = QL_NS_PER_MS,
        .latency_most_ns = QL_NS_PER_MS,
    };
    ql_rand_seed(&w->rand, seed);
    for (unsigned i = 0; i < nodes; i++)
        w->node[i].up = true;
}

void world_start_machine(struct world *w, unsigned machine,
                         const struct ql_terms *terms)
{
    struct world_machine *wm = &w->machine[machine];

    if (!wm->machine)
        wm->machine = malloc(ql_machine_size(w->rules.nodes));
    assert_non_null(wm->machine);
    wm->terms = *terms;
    wm->spins = 0;
    for (unsigned i = 0; i < w->rules.nodes; i++) {
        w->releases_lost |= wm->line[i].count > 0;
        wm->line[i].count = 0;
    }
    ql_machine_init(wm->machine, &w->rules, &wm->terms, ql_rand_next(&w->rand));
}

void world_close(struct world *w)
{
    for (unsigned i = 0; i < w->machines; i++)
        free(w->machine[i].machine);
}

unsigned world_keys(const struct world *w, uint64_t token)
{
    unsigned count = 0;

    for (unsigned i = 0; i < w->rules.nodes; i++)
        count += world_key_there(w, &w->node[i]) && w->node[i].token == token;
    return count;
}

uint64_t world_valid_ns(const struct world *w, unsigned machine)
{
    return ql_machine_valid_ns(w->machine[machine].machine, w->now);
}

bool world_lines_empty(const struct world *w)
{
    unsigned count = 0;

    for (unsigned i = 0; i < w->machines; i++)
        for (unsigned j = 0; j < w->rules.nodes; j++)
            count += w->machine[i].line[j].count;
    return count == 0;
}

static uint64_t latency(struct world *w)
{
    return world_chance(w, w->late_per_mille)
               ? world_random(w, w->latency_ns, w->latency_most_ns)
               : world_random(w, w->latency_least_ns, w->latency_ns);
}

/* Returns false if it cannot be sent; then `answer` says so at once. */
static bool post(struct world *w, unsigned machine,
                 const struct ql_action *action, struct ql_event *answer)
{
    struct world_machine *wm = &w->machine[machine];
    struct world_line *line = &wm->line[action->node];
    struct world_request *last, *request = &line->request[line->count];
    bool release = action->request == QL_REQ_RELEASE;
    bool up = w->node[action->node].up;

    *answer = (struct ql_event){.kind = QL_EV_VOTE,
                                .node = action->node,
                                .request = action->request,
                                .round = action->round,
                                .vote = QL_VOTE_UNSENT};
    w->releases_lost |= release && (!up || line->count == WORLD_LINE);
    if (!up || line->count == WORLD_LINE ||
        (!release && world_chance(w, w->refused_per_mille)))
        return false;
    *request = (struct world_request){.kind = action->request,
                                      .round = action->round,
                                      .ttl_ns = action->ttl_ns,
                                      .token = wm->token,
                                      .fence = action->request == QL_REQ_ACQUIRE
                                                   ? wm->proposal
                                                   : action->fence,
                                      .arrives_at = w->now + latency(w),
                                      .answer = *answer};
    last = line->count > 0 ? request - 1 : request;
    request->arrives_at = ql_time_max(request->arrives_at, last->arrives_at);
    request->answers_at =
        ql_time_max(request->arrives_at + latency(w), last->answers_at);
    line->count++;
    return true;
}

void world_event(struct world *w, unsigned machine, struct ql_event event)
{
    struct world_machine *wm = &w->machine[machine];
    struct ql_event unsent[QL_ACTIONS_MAX];
    struct ql_actions actions;
    unsigned count = 0;

    event.now = w->now;
    ql_step(wm->machine, &event, &actions);
    assert_in_range(actions.count, 0, QL_ACTIONS_MAX);
    for (unsigned i = 0; i < actions.count; i++) {
        const struct ql_action *action = &actions.list[i];

        if (action->kind == QL_DO_TELL) {
            if (w->rules.fenced)
                world_fence_told(w, machine, action->outcome);
            w->tells(w, machine, action->outcome);
        } else if (action->kind == QL_DO_SEND) {
            assert_in_range(action->node, 0, w->rules.nodes - 1);
            if (action->request == QL_REQ_EXTEND)
                world_fence_extension(w, machine);
            if (!post(w, machine, action, &unsent[count]))
                count++;
        } else if (wm->token_fails) {
            wm->token_fails = false;
            world_event(w, machine, (struct ql_event){.kind = QL_EV_ABORT});
            return;
        } else {
            wm->token = ++w->tokens;
            wm->attempted_at = w->now;
            world_fence_attempt(w, machine);
            w->attempts(w, machine);
        }
    }
    for (unsigned i = 0; i < count; i++)
        world_event(w, machine, unsent[i]);
}

void world_break_line(struct world *w, unsigned machine, unsigned node)
{
    struct world_line *line = &w->machine[machine].line[node];
    struct world_line broken = *line;

    line->count = 0;
    w->releases_lost = true;
    for (unsigned i = 0; i < broken.count; i++) {
        broken.request[i].answer.vote = QL_VOTE_FAILED;
        world_event(w, machine, broken.request[i].answer);
    }
}

void world_down(struct world *w, unsigned node)
{
    w->node[node].up = false;
    for (unsigned i = 0; i < w->machines; i++)
        world_break_line(w, i, node);
}

/* When the machine's process looks at what has come for it. */
static uint64_t seen_at(const struct world_machine *wm, uint64_t at)
{
    return at == QL_NEVER ? QL_NEVER : ql_time_max(at, wm->paused_until);
}

static uint64_t timer_due(const struct world_machine *wm)
{
    return seen_at(wm, ql_time_add(ql_machine_deadline(wm->machine), wm->lag));
}

static struct world_request *unserved(struct world_line *line)
{
    for (unsigned i = 0; i < line->count; i++)
        if (!line->request[i].done)
            return &line->request[i];
    return NULL;
}

static uint64_t line_due(const struct world_machine *wm, unsigned node)
{
    struct world_line *line = (struct world_line *)&wm->line[node];
    const struct world_request *next = unserved(line);
    uint64_t due = next ? next->arrives_at : QL_NEVER;

    if (line->count > 0 && line->request[0].done)
        due = ql_time_min(due, seen_at(wm, line->request[0].answers_at));
    return due;
}

uint64_t world_due(const struct world *w)
{
    uint64_t due = QL_NEVER;

    for (unsigned i = 0; i < w->machines; i++) {
        due = ql_time_min(due, timer_due(&w->machine[i]));
        for (unsigned j = 0; j < w->rules.nodes; j++)
            due = ql_time_min(due, line_due(&w->machine[i], j));
    }
    return due == QL_NEVER ? due : ql_time_max(due, w->now);
}

static void step_line(struct world *w, unsigned machine, unsigned node)
{
    struct world_machine *wm = &w->machine[machine];
    struct world_line *line = &wm->line[node];
    struct world_request *next = unserved(line);
    struct ql_event answer;

    if (next && next->arrives_at <= w->now) {
        world_serve(w, &w->node[node], next);
        world_fence_answer(w, machine, node, next);
        return;
    }
    answer = line->request[0].answer;
    line->count--;
    memmove(&line->request[0], &line->request[1],
            line->count * sizeof(line->request[0]));
    world_event(w, machine, answer);
}

/* A machine that asks to be called again at once, and again, spins. */
static void step_timer(struct world *w, unsigned machine)
{
    struct world_machine *wm = &w->machine[machine];

    world_event(w, machine, (struct ql_event){.kind = QL_EV_TIME});
    wm->spins = ql_machine_deadline(wm->machine) > w->now ? 0 : wm->spins + 1;
    assert_in_range(wm->spins, 0, 4);
}

bool world_step(struct world *w)
{
    uint64_t due = world_due(w);

    if (due == QL_NEVER)
        return false;
    w->now = due;
    for (unsigned i = 0; i < w->machines; i++) {
        for (unsigned j = 0; j < w->rules.nodes; j++)
            if (line_due(&w->machine[i], j) <= due) {
                step_line(w, i, j);
                return true;
            }
        if (timer_due(&w->machine[i]) <= due) {
            step_timer(w, i);
            return true;
        }
    }
    return false;
}
