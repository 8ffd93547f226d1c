/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine that has just been made, whatever was in its memory before; and one
 * whose clock shows 0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/machine.h"
#include "core/time.h"

#define NODES 5

static const struct ql_rules rules = {.nodes = NODES,
                                      .quorum = 3,
                                      .node_timeout_ns = 50 * QL_NS_PER_MS,
                                      .drift_ppm = 10000};
static const struct ql_terms terms = {.ttl_ns = 10000 * QL_NS_PER_MS,
                                      .retry_delay_ns = 200 * QL_NS_PER_MS,
                                      .max_hold_ns = QL_NEVER};

static struct ql_machine *made_over(int garbage, uint64_t seed)
{
    struct ql_machine *m = malloc(ql_machine_size(NODES));

    assert_non_null(m);
    memset(m, garbage, ql_machine_size(NODES));
    ql_machine_init(m, &rules, &terms, seed);
    return m;
}

static void nothing_is_left_of_what_was_there(void **state)
{
    struct ql_machine *m = made_over(0xa5, 1);

    (void)state;
    assert_int_equal(m->state, QL_ST_IDLE);
    assert_int_equal(m->errand, QL_ERRAND_NONE);
    assert_true(ql_machine_deadline(m) == QL_NEVER);
    assert_int_equal(ql_machine_valid_ns(m, 0), 0);
    assert_int_equal(m->expires_at, 0);
    assert_int_equal(m->fence, 0);
    assert_false(m->died);
    for (unsigned i = 0; i < NODES; i++) {
        assert_int_equal(m->peer[i].vote, QL_VOTE_NONE);
        assert_int_equal(m->peer[i].key, QL_KEY_NONE);
        assert_int_equal(m->peer[i].holder, 0);
        assert_int_equal(m->peer[i].remaining_ns, 0);
    }
    free(m);
}

/* When a machine retries that could send nothing. */
static uint64_t retry_at(uint64_t seed)
{
    struct ql_machine *m = made_over(0, seed);
    struct ql_event event = {.kind = QL_EV_ACQUIRE, .until = QL_NEVER};
    struct ql_actions actions;
    uint64_t due;

    ql_step(m, &event, &actions);
    assert_int_equal(actions.count, 1 + NODES);
    event = (struct ql_event){.kind = QL_EV_TIME, .now = rules.node_timeout_ns};
    ql_step(m, &event, &actions);
    assert_int_equal(m->state, QL_ST_WAITING);
    due = ql_machine_deadline(m);
    free(m);
    return due;
}

static void the_seed_decides_what_is_random(void **state)
{
    (void)state;
    assert_true(retry_at(1) == retry_at(1));
    assert_true(retry_at(1) != retry_at(2));
    assert_true(retry_at(2) != retry_at(3));
}

static void the_size_grows_with_the_nodes(void **state)
{
    (void)state;
    assert_int_equal(ql_machine_size(0), sizeof(struct ql_machine));
    assert_int_equal(ql_machine_size(3) - ql_machine_size(2),
                     sizeof(struct ql_peer));
}

/* --- Nothing is valid that is lost, not even at time 0 ---------------------
 */

/* At time 0; votes are for the round of the last request that was sent. */
static void step(struct ql_machine *m, struct ql_event event)
{
    struct ql_actions actions;

    event.round = m->round;
    event.until = QL_NEVER;
    ql_step(m, &event, &actions);
}

static void votes(struct ql_machine *m, enum ql_request_kind request,
                  unsigned first, unsigned count, enum ql_vote vote)
{
    for (unsigned node = first; node < first + count; node++)
        step(m, (struct ql_event){.kind = QL_EV_VOTE,
                                  .request = request,
                                  .node = node,
                                  .vote = vote});
}

static struct ql_machine *made_to_hold(void)
{
    struct ql_machine *m = made_over(0, 1);

    step(m, (struct ql_event){.kind = QL_EV_ACQUIRE});
    votes(m, QL_REQ_ACQUIRE, 0, NODES, QL_VOTE_YES);
    assert_true(ql_machine_valid_ns(m, 0) > 0);
    return m;
}

static void assert_lost(struct ql_machine *m)
{
    assert_int_equal(m->state, QL_ST_LOST);
    assert_true(ql_machine_valid_ns(m, 0) == 0);
    free(m);
}

static void lost_by_an_extension(void **state)
{
    struct ql_machine *m = made_to_hold();

    (void)state;
    step(m, (struct ql_event){.kind = QL_EV_EXTEND, .ttl_ns = terms.ttl_ns});
    votes(m, QL_REQ_EXTEND, 0, 3, QL_VOTE_MISSING);
    assert_lost(m);
}

static void lost_by_an_answer_after_the_extension(void **state)
{
    struct ql_machine *m = made_to_hold();

    (void)state;
    step(m, (struct ql_event){.kind = QL_EV_EXTEND, .ttl_ns = terms.ttl_ns});
    votes(m, QL_REQ_EXTEND, 0, 2, QL_VOTE_MISSING);
    votes(m, QL_REQ_EXTEND, 2, 1, QL_VOTE_FAILED);
    assert_int_equal(m->errand, QL_ERRAND_NONE);
    votes(m, QL_REQ_EXTEND, 3, 1, QL_VOTE_MISSING);
    assert_lost(m);
}

static void lost_by_looking(void **state)
{
    struct ql_machine *m = made_to_hold();

    (void)state;
    step(m, (struct ql_event){.kind = QL_EV_VERIFY});
    votes(m, QL_REQ_INSPECT, 0, 3, QL_VOTE_FOREIGN);
    assert_lost(m);
}

static void adopted_for_less_than_the_drift(void **state)
{
    struct ql_machine *m = made_over(0, 1);

    (void)state;
    step(m, (struct ql_event){.kind = QL_EV_ADOPT});
    step(m, (struct ql_event){.kind = QL_EV_EXTEND, .ttl_ns = QL_NS_PER_MS});
    votes(m, QL_REQ_EXTEND, 0, 3, QL_VOTE_YES);
    assert_lost(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_left_of_what_was_there),
        cmocka_unit_test(the_seed_decides_what_is_random),
        cmocka_unit_test(the_size_grows_with_the_nodes),
        cmocka_unit_test(lost_by_an_extension),
        cmocka_unit_test(lost_by_an_answer_after_the_extension),
        cmocka_unit_test(lost_by_looking),
        cmocka_unit_test(adopted_for_less_than_the_drift),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
