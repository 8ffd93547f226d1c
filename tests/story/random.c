/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machines that contend in a world of slow, broken and stopped things, by a
 * seed; after each step what must always hold is checked, and at the end that
 * nothing is stuck: with everything in order again the lock can be had.
 *
 * QUORLOCK_SEED=n runs that seed alone, QUORLOCK_RUNS=n so many from 1 on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/time.h"
#include "world.h"

#define RUNS       20000
#define MS(ms)     ((uint64_t)(ms)*QL_NS_PER_MS)
#define OUT(name)  (1u << QL_OUT_##name)
#define NO_REQUEST UINT32_MAX

/* The outcomes in which each request may end. */
static const uint32_t may_end_in[] = {
    [QL_EV_ACQUIRE] = OUT(ACQUIRED) | OUT(HELD) | OUT(SPLIT) | OUT(NO_QUORUM) |
                      OUT(CANCELLED) | OUT(ABORTED),
    [QL_EV_EXTEND] = OUT(EXTENDED) | OUT(GONE) | OUT(TOO_LATE) | OUT(CAPPED) |
                     OUT(NO_QUORUM) | OUT(CANCELLED),
    [QL_EV_RELEASE] = OUT(RELEASED) | OUT(GONE) | OUT(UNSURE),
    [QL_EV_VERIFY] = OUT(VERIFIED) | OUT(GONE) | OUT(NO_QUORUM) |
                     OUT(TOO_LATE) | OUT(CANCELLED),
    [QL_EV_INSPECT] =
        OUT(FREE) | OUT(HELD) | OUT(SPLIT) | OUT(NO_QUORUM) | OUT(CANCELLED),
};

struct caller {
    uint32_t request; /* the event that has not been answered, or NO_REQUEST */
    enum ql_outcome outcome; /* of the last one */
    uint64_t adopted_at;     /* 0: not adopted */
    bool cancelled, aborts, loss_told;
};

struct run {
    struct world w;
    struct caller caller[WORLD_MACHINES];
    bool loses_data; /* outside of what the algorithm allows for */
    bool leaves;     /* keys behind, by processes that end, and by refusals */
    unsigned seed;
};

static struct run *run_of(struct world *w)
{
    return (struct run *)w;
}

static void attempts(struct world *w, unsigned i)
{
    run_of(w)->caller[i].loss_told = false;
    run_of(w)->caller[i].adopted_at = 0;
}

static void tells(struct world *w, unsigned i, enum ql_outcome outcome)
{
    struct caller *caller = &run_of(w)->caller[i];

    if (outcome == QL_OUT_LOST || outcome == QL_OUT_LOST_CAPPED) {
        assert_false(caller->loss_told);
        caller->loss_told = true;
        return;
    }
    assert_true(caller->request != NO_REQUEST);
    assert_true(may_end_in[caller->request] & 1u << outcome);
    if (outcome == QL_OUT_CANCELLED)
        assert_true(caller->cancelled);
    if (outcome == QL_OUT_ABORTED)
        assert_true(caller->aborts);
    if (outcome == QL_OUT_ACQUIRED || outcome == QL_OUT_EXTENDED)
        assert_true(world_valid_ns(w, i) > 0);
    caller->request = NO_REQUEST;
    caller->outcome = outcome;
}

static void check(struct run *run)
{
    struct world *w = &run->w;
    unsigned holders = 0;

    for (unsigned i = 0; i < w->machines; i++) {
        struct world_machine *wm = &w->machine[i];
        uint64_t valid = world_valid_ns(w, i);
        uint64_t since = run->caller[i].adopted_at ? run->caller[i].adopted_at
                                                   : wm->attempted_at;

        if (valid == 0)
            continue;
        holders++;
        assert_true(w->now + valid <=
                    ql_time_add(since, wm->terms.max_hold_ns));
        if (!run->loses_data)
            assert_true(world_keys(w, wm->token) >= w->rules.quorum);
    }
    if (!run->loses_data)
        assert_in_range(holders, 0, 1);
}

static void request(struct run *run, unsigned i, struct ql_event event)
{
    assert_true(run->caller[i].request == NO_REQUEST);
    run->caller[i].request = event.kind;
    run->caller[i].cancelled = false;
    run->caller[i].aborts = run->w.machine[i].token_fails;
    world_event(&run->w, i, event);
}

static uint64_t some_ttl(struct world *w)
{
    static const uint64_t ttl_ms[] = {1, 3, 20, 60, 300, 1000, 5000, 10000};

    return MS(ttl_ms[world_random(w, 0, 7)]);
}

static struct ql_terms some_terms(struct world *w)
{
    static const uint64_t delay_ms[] = {0, 5, 50, 200};
    uint64_t ttl_ns = some_ttl(w);

    return (struct ql_terms){
        .ttl_ns = ttl_ns,
        .retry_delay_ns = MS(delay_ms[world_random(w, 0, 3)]),
        .max_hold_ns =
            world_chance(w, 250) ? world_random(w, 1, 3 * ttl_ns) : QL_NEVER,
        .loss_notice_ns = world_chance(w, 500) ? ttl_ns / 5 : 0,
        .tries = world_chance(w, 500) ? world_random(w, 1, 4) : 0,
        .renew = world_chance(w, 500),
    };
}

/* The process ends, and another begins in its place. */
static void replace(struct run *run, unsigned i)
{
    struct ql_terms terms = some_terms(&run->w);

    world_start_machine(&run->w, i, &terms);
    run->caller[i] = (struct caller){.request = NO_REQUEST};
    run->leaves = true;
    if (run->w.machine[i].token == 0 || world_chance(&run->w, 500))
        return;
    run->caller[i].adopted_at = run->w.now; /* it was told the token */
    world_event(&run->w, i,
                (struct ql_event){.kind = QL_EV_ADOPT,
                                  .fence = world_chance(&run->w, 500)
                                               ? run->w.machine[i].fence
                                               : 0});
}

/* The caller of machine `i` does one of the things that it may do now. */
static void caller_acts(struct run *run, unsigned i)
{
    struct world *w = &run->w;
    struct ql_event event = {.until = QL_NEVER};
    unsigned dice = world_random(w, 0, 9);

    if (world_chance(w, 20))
        world_event(w, i, (struct ql_event){.kind = QL_EV_WAKE});
    if (run->caller[i].request != NO_REQUEST) {
        run->caller[i].cancelled = dice == 0;
        if (dice == 0)
            world_event(w, i, (struct ql_event){.kind = QL_EV_CANCEL});
        return;
    }
    if (w->machine[i].machine->state == QL_ST_IDLE) {
        event.kind = dice == 0 ? QL_EV_INSPECT : QL_EV_ACQUIRE;
        if (dice > 5)
            event.until = w->now + world_random(w, 0, MS(2000));
    } else {
        static const enum ql_event_kind kinds[] = {
            QL_EV_RELEASE, QL_EV_RELEASE, QL_EV_RELEASE, QL_EV_EXTEND,
            QL_EV_EXTEND,  QL_EV_EXTEND,  QL_EV_EXTEND,  QL_EV_VERIFY,
            QL_EV_VERIFY,  QL_EV_INSPECT};

        event.kind = kinds[dice];
        event.ttl_ns = some_ttl(w);
        if (w->machine[i].machine->state != QL_ST_HELD &&
            w->machine[i].machine->state != QL_ST_ADOPTED && dice < 7)
            event.kind = QL_EV_RELEASE;
    }
    w->machine[i].token_fails =
        event.kind == QL_EV_ACQUIRE && world_chance(w, 20);
    request(run, i, event);
}

/* Something breaks, stops, or comes back. */
static void world_acts(struct run *run)
{
    struct world *w = &run->w;
    unsigned i = world_random(w, 0, w->machines - 1);
    unsigned j = world_random(w, 0, w->rules.nodes - 1);

    switch (world_random(w, 0, 7)) {
    case 0:
        world_break_line(w, i, j);
        break;
    case 1:
        if (w->node[j].up)
            world_down(w, j);
        break;
    case 2:
    case 3:
        w->node[j].up = true;
        w->node[j].bars = false;
        break;
    case 4:
        w->machine[i].paused_until = w->now + world_random(w, 0, MS(12000));
        break;
    case 5:
        w->machine[i].lag = world_random(w, 0, MS(3));
        break;
    case 6:
        if (run->loses_data) { /* but no number */
            w->node[j].token = 0;
            w->node[j].lease_until = w->now;
        }
        w->node[j].bars = world_chance(w, 100);
        run->leaves = run->leaves || w->node[j].bars;
        break;
    default:
        if (world_chance(w, 200))
            replace(run, i);
    }
}

static void open_run(struct run *run, unsigned seed)
{
    struct world *w = &run->w;

    world_open(w, 1, 1, seed);
    world_open(w, world_random(w, 1, WORLD_NODES),
               world_random(w, 1, WORLD_MACHINES), ql_rand_next(&w->rand));
    run->seed = seed;
    run->leaves = false;
    run->loses_data = world_chance(w, 100);
    w->now = MS(1);
    w->rules.node_timeout_ns = MS(world_random(w, 2, 100));
    w->rules.fenced = world_chance(w, 500);
    w->rules.linger_ns = MS(world_random(w, 0, 1000));
    w->skewed_per_mille = world_chance(w, 300) ? world_random(w, 0, 300) : 0;
    w->latency_least_ns = MS(1) / 10;
    w->latency_ns = MS(world_random(w, 1, 10));
    w->latency_most_ns = MS(world_random(w, 10, 12000));
    w->late_per_mille = world_chance(w, 500) ? world_random(w, 0, 100) : 0;
    w->refused_per_mille = world_chance(w, 300) ? world_random(w, 0, 200) : 0;
    w->attempts = attempts;
    w->tells = tells;
    for (unsigned j = 0; j < w->rules.nodes; j++)
        w->node[j].fast_ppm = world_random(w, 0, 9900);
    for (unsigned i = 0; i < w->machines; i++) {
        struct ql_terms terms = some_terms(w);

        world_start_machine(w, i, &terms);
        run->caller[i] = (struct caller){.request = NO_REQUEST};
    }
}

static void live(struct run *run)
{
    unsigned trouble =
        world_chance(&run->w, 700) ? world_random(&run->w, 0, 100) : 0;

    for (unsigned step = 0; step < 250; step++) {
        if (world_chance(&run->w, 80))
            caller_acts(run, world_random(&run->w, 0, run->w.machines - 1));
        else if (world_chance(&run->w, trouble))
            world_acts(run);
        else if (!world_step(&run->w))
            caller_acts(run, 0);
        check(run);
    }
}

/* Everything is mended; whoever has something gives it back. */
static void come_to_rest(struct run *run)
{
    struct world *w = &run->w;

    w->latency_ns = MS(1);
    w->late_per_mille = w->refused_per_mille = w->skewed_per_mille = 0;
    for (unsigned j = 0; j < w->rules.nodes; j++) {
        w->node[j].up = true;
        w->node[j].bars = false;
    }
    for (unsigned i = 0; i < w->machines; i++) {
        w->machine[i].paused_until = 0;
        run->caller[i].cancelled = true;
        if (ql_time_min(w->machine[i].terms.ttl_ns,
                        w->machine[i].terms.max_hold_ns) < MS(100))
            /* So short that it may never be had. */
            world_event(w, i, (struct ql_event){.kind = QL_EV_CANCEL});
    }
    for (unsigned steps = 0;; steps++) {
        bool all_idle = true;

        for (unsigned i = 0; i < w->machines; i++) {
            bool idle = w->machine[i].machine->state == QL_ST_IDLE;

            if (run->caller[i].request == NO_REQUEST && !idle)
                request(run, i, (struct ql_event){.kind = QL_EV_RELEASE});
            all_idle &= idle && run->caller[i].request == NO_REQUEST;
        }
        check(run);
        assert_in_range(steps, 0, 200000); /* or something is stuck */
        if (all_idle && world_lines_empty(w))
            return;
        world_step(w);
    }
}

/* Nobody is in the way: one attempt must do. */
static void the_lock_can_be_had(struct run *run)
{
    struct world *w = &run->w;
    struct ql_terms terms = {.ttl_ns = MS(1000), .max_hold_ns = QL_NEVER};

    w->rules.node_timeout_ns = MS(50);
    if (!run->leaves && !run->loses_data && !w->releases_lost)
        for (unsigned j = 0; j < w->rules.nodes; j++)
            assert_true(world_owner(w, &w->node[j]) == 0);
    w->now += MS(15000); /* what a lost release left has expired */
    world_start_machine(w, 0, &terms);
    run->caller[0] = (struct caller){.request = NO_REQUEST};
    request(run, 0, (struct ql_event){.kind = QL_EV_ACQUIRE, .until = w->now});
    while (run->caller[0].request != NO_REQUEST && world_step(w))
        check(run);
    assert_int_equal(run->caller[0].outcome, QL_OUT_ACQUIRED);
    request(run, 0, (struct ql_event){.kind = QL_EV_RELEASE});
    while (world_step(w))
        check(run);
    assert_int_equal(run->caller[0].outcome, QL_OUT_RELEASED);
    assert_int_equal(world_keys(w, w->machine[0].token), 0);
}

static unsigned number_of(const char *name, unsigned usual)
{
    const char *value = getenv(name);

    return value ? strtoul(value, NULL, 10) : usual;
}

static void what_must_always_hold(void **state)
{
    static struct run run;
    unsigned seed = number_of("QUORLOCK_SEED", 1);
    unsigned last =
        getenv("QUORLOCK_SEED") ? seed : number_of("QUORLOCK_RUNS", RUNS);

    for (; seed <= last; seed++) {
        *state = &run;
        run.seed = seed;
        open_run(&run, seed);
        live(&run);
        come_to_rest(&run);
        the_lock_can_be_had(&run);
        world_close(&run.w);
    }
    *state = NULL;
}

/* After a failure: how to see it again. */
static int say_seed(void **state)
{
    const struct run *run = *state;

    if (run)
        print_error("to see it again: QUORLOCK_SEED=%u\n", run->seed);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_must_always_hold, say_seed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
