/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whoever drives the machine promises one answer for each request. If a node
 * answers twice all the same, the second answer is no second vote.
 */
#include "core/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/time.h"

#define MS QL_NS_PER_MS

static const struct ql_rules rules = {
    .nodes = 3, .quorum = 2, .node_timeout_ns = 50 * MS, .drift_ppm = 10000};
static const struct ql_rules fenced_rules = {.nodes = 3,
                                             .quorum = 2,
                                             .node_timeout_ns = 50 * MS,
                                             .drift_ppm = 10000,
                                             .fenced = true};
static const struct ql_terms terms = {.ttl_ns = 10000 * MS,
                                      .retry_delay_ns = 100 * MS,
                                      .max_hold_ns = QL_NEVER,
                                      .tries = 1};

/* The machine, what it does, and the round of what it sent last. */
struct scene {
    struct ql_machine *machine;
    struct ql_actions actions;
    uint32_t round;
};

static int setup(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));

    scene->machine = malloc(ql_machine_size(rules.nodes));
    ql_machine_init(scene->machine, &rules, &terms, 1);
    *state = scene;
    return 0;
}

static int teardown(void **state)
{
    struct scene *scene = *state;

    free(scene->machine);
    free(scene);
    return 0;
}

/* What the caller is told by it. */
static enum ql_outcome step(struct scene *scene, struct ql_event event)
{
    enum ql_outcome told = QL_OUT_NONE;

    event.now = scene->machine->now + MS;
    ql_step(scene->machine, &event, &scene->actions);
    for (unsigned i = 0; i < scene->actions.count; i++) {
        const struct ql_action *action = &scene->actions.list[i];

        if (action->kind == QL_DO_TELL)
            told = action->outcome;
        if (action->kind == QL_DO_SEND)
            scene->round = action->round;
    }
    return told;
}

static enum ql_outcome ask(struct scene *scene, enum ql_event_kind kind)
{
    return step(scene, (struct ql_event){.kind = kind,
                                         .until = scene->machine->now,
                                         .ttl_ns = terms.ttl_ns});
}

static enum ql_outcome answer(struct scene *scene, enum ql_request_kind request,
                              unsigned node, enum ql_vote vote)
{
    return step(scene, (struct ql_event){.kind = QL_EV_VOTE,
                                         .request = request,
                                         .round = scene->round,
                                         .node = node,
                                         .vote = vote});
}

static void acquire(struct scene *scene)
{
    assert_int_equal(ask(scene, QL_EV_ACQUIRE), QL_OUT_NONE);
    assert_int_equal(answer(scene, QL_REQ_ACQUIRE, 0, QL_VOTE_YES),
                     QL_OUT_NONE);
    assert_int_equal(answer(scene, QL_REQ_ACQUIRE, 1, QL_VOTE_YES),
                     QL_OUT_ACQUIRED);
    assert_int_equal(answer(scene, QL_REQ_ACQUIRE, 2, QL_VOTE_YES),
                     QL_OUT_NONE);
}

static void one_node_is_no_majority_of_two_answers(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(ask(scene, QL_EV_ACQUIRE), QL_OUT_NONE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(answer(scene, QL_REQ_ACQUIRE, 0, QL_VOTE_YES),
                         QL_OUT_NONE);
    assert_int_equal(scene->machine->state, QL_ST_ACQUIRING);
    assert_int_equal(answer(scene, QL_REQ_ACQUIRE, 2, QL_VOTE_YES),
                     QL_OUT_ACQUIRED);
}

static void what_is_known_of_a_key_is_not_taken_back(void **state)
{
    struct scene *scene = *state;

    acquire(scene);
    assert_int_equal(answer(scene, QL_REQ_ACQUIRE, 0, QL_VOTE_FOREIGN),
                     QL_OUT_NONE);
    assert_int_equal(scene->machine->peer[0].key, QL_KEY_OURS);
}

static void
a_failed_attempt_is_not_clean_because_one_node_says_so_twice(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(ask(scene, QL_EV_ACQUIRE), QL_OUT_NONE);
    answer(scene, QL_REQ_ACQUIRE, 0, QL_VOTE_FOREIGN);
    answer(scene, QL_REQ_ACQUIRE, 1, QL_VOTE_FOREIGN);
    assert_int_equal(scene->machine->state, QL_ST_CLEANING);
    for (int i = 0; i < 4; i++)
        assert_int_equal(answer(scene, QL_REQ_RELEASE, 0, QL_VOTE_FOREIGN),
                         QL_OUT_NONE);
    answer(scene, QL_REQ_RELEASE, 1, QL_VOTE_FOREIGN);
    assert_int_equal(answer(scene, QL_REQ_RELEASE, 2, QL_VOTE_MISSING),
                     QL_OUT_HELD);
}

/* --- Fenced --------------------------------------------------------------- */

static enum ql_outcome number(struct scene *scene, enum ql_request_kind request,
                              unsigned node, uint64_t fence)
{
    return step(scene, (struct ql_event){.kind = QL_EV_VOTE,
                                         .request = request,
                                         .round = scene->round,
                                         .node = node,
                                         .vote = QL_VOTE_YES,
                                         .fence = fence});
}

static void one_node_does_not_agree_for_two(void **state)
{
    struct scene *scene = *state;

    scene->machine->rules = &fenced_rules;
    ask(scene, QL_EV_ACQUIRE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(number(scene, QL_REQ_ACQUIRE, 0, 7), QL_OUT_NONE);
    assert_int_equal(number(scene, QL_REQ_ACQUIRE, 1, 5), QL_OUT_NONE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(number(scene, QL_REQ_CONFIRM, 0, 7), QL_OUT_NONE);
    assert_int_equal(number(scene, QL_REQ_ACQUIRE, 1, 7), QL_OUT_NONE);
    assert_int_equal(scene->machine->fence, 0);
    assert_int_equal(number(scene, QL_REQ_CONFIRM, 1, 7), QL_OUT_ACQUIRED);
    assert_int_equal(scene->machine->fence, 7);
}

static void one_node_does_not_extend_for_two(void **state)
{
    struct scene *scene = *state;

    acquire(scene);
    ask(scene, QL_EV_EXTEND);
    for (int i = 0; i < 3; i++)
        assert_int_equal(answer(scene, QL_REQ_EXTEND, 0, QL_VOTE_YES),
                         QL_OUT_NONE);
    assert_int_equal(answer(scene, QL_REQ_EXTEND, 1, QL_VOTE_YES),
                     QL_OUT_EXTENDED);
}

static void one_node_does_not_verify_for_two(void **state)
{
    struct scene *scene = *state;

    acquire(scene);
    ask(scene, QL_EV_VERIFY);
    for (int i = 0; i < 3; i++)
        assert_int_equal(answer(scene, QL_REQ_INSPECT, 0, QL_VOTE_MISSING),
                         QL_OUT_NONE);
    assert_int_equal(scene->machine->state, QL_ST_HELD);
}

static void one_node_does_not_release_for_two(void **state)
{
    struct scene *scene = *state;

    acquire(scene);
    ask(scene, QL_EV_RELEASE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(answer(scene, QL_REQ_RELEASE, 0, QL_VOTE_YES),
                         QL_OUT_NONE);
    assert_int_equal(answer(scene, QL_REQ_RELEASE, 2, QL_VOTE_YES),
                     QL_OUT_RELEASED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_node_is_no_majority_of_two_answers),
        TEST(what_is_known_of_a_key_is_not_taken_back),
        TEST(a_failed_attempt_is_not_clean_because_one_node_says_so_twice),
        TEST(one_node_does_not_agree_for_two),
        TEST(one_node_does_not_extend_for_two),
        TEST(one_node_does_not_verify_for_two),
        TEST(one_node_does_not_release_for_two),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
