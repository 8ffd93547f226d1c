/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must not be asked of the core, and what can only be our own bug: each
 * ends the program, in released builds too, rather than a lock being believed
 * in that is none. Each is done in a child of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/steps.h"
#include "core/time.h"

#define MS      QL_NS_PER_MS
#define ABORTED 99

/* A child that aborts would take what gcov has counted with it. */
extern void __gcov_dump(void) __attribute__((weak));

static const struct ql_rules rules = {
    .nodes = 3, .quorum = 2, .node_timeout_ns = 50 * MS, .drift_ppm = 10000};
static const struct ql_terms terms = {
    .ttl_ns = 10000 * MS, .retry_delay_ns = 100 * MS, .max_hold_ns = QL_NEVER};

/* --- A machine, and what can be done to it -------------------------------- */

static struct ql_actions out;

static void step(struct ql_machine *m, struct ql_event event)
{
    event.now = event.now ? event.now : m->now + MS;
    ql_step(m, &event, &out);
}

static void ask(struct ql_machine *m, enum ql_event_kind kind)
{
    step(m, (struct ql_event){
                .kind = kind, .until = m->now, .ttl_ns = terms.ttl_ns});
}

static void answer(struct ql_machine *m, enum ql_request_kind request,
                   unsigned node, enum ql_vote vote)
{
    step(m, (struct ql_event){.kind = QL_EV_VOTE,
                              .request = request,
                              .round = m->round,
                              .node = node,
                              .vote = vote});
}

static void hold(struct ql_machine *m)
{
    ask(m, QL_EV_ACQUIRE);
    for (unsigned i = 0; i < rules.nodes; i++)
        answer(m, QL_REQ_ACQUIRE, i, QL_VOTE_YES);
}

/* --- What is wrong ---------------------------------------------------------
 */

static void a_time_that_goes_back(struct ql_machine *m)
{
    step(m, (struct ql_event){.kind = QL_EV_TIME, .now = 2 * MS});
    step(m, (struct ql_event){.kind = QL_EV_TIME, .now = 2 * MS - 1});
}

static void an_acquisition_of_what_is_held(struct ql_machine *m)
{
    hold(m);
    ask(m, QL_EV_ACQUIRE);
}

static void an_acquisition_during_a_question(struct ql_machine *m)
{
    ask(m, QL_EV_INSPECT);
    ask(m, QL_EV_ACQUIRE);
}

static void an_extension_of_nothing(struct ql_machine *m)
{
    ask(m, QL_EV_EXTEND);
}

static void an_extension_during_a_question(struct ql_machine *m)
{
    hold(m);
    ask(m, QL_EV_VERIFY);
    ask(m, QL_EV_EXTEND);
}

static void a_question_during_an_extension(struct ql_machine *m)
{
    hold(m);
    ask(m, QL_EV_EXTEND);
    ask(m, QL_EV_VERIFY);
}

static void a_release_of_nothing(struct ql_machine *m)
{
    ask(m, QL_EV_RELEASE);
}

static void a_missing_token_where_none_was_asked_for(struct ql_machine *m)
{
    ask(m, QL_EV_ABORT);
}

static void a_vote_of_a_node_that_is_none(struct ql_machine *m)
{
    ask(m, QL_EV_ACQUIRE);
    answer(m, QL_REQ_ACQUIRE, rules.nodes, QL_VOTE_YES);
}

static void a_request_to_a_node_that_is_none(struct ql_machine *m)
{
    ql_send(m, &out, rules.nodes, QL_REQ_ACQUIRE, 1);
}

static void more_requests_than_one_step_has(struct ql_machine *m)
{
    out.count = QL_ACTIONS_MAX;
    ql_send(m, &out, 0, QL_REQ_ACQUIRE, 1);
}

static void more_outcomes_than_one_step_has(struct ql_machine *m)
{
    (void)m;
    out.count = QL_ACTIONS_MAX;
    ql_tell(&out, QL_OUT_HELD);
}

static void a_way_that_no_lock_goes(struct ql_machine *m)
{
    ql_set_state(m, QL_ST_HELD);
}

static void a_repair_under_the_name_of_another_round(struct ql_machine *m)
{
    uint32_t round;

    hold(m);
    ask(m, QL_EV_EXTEND);
    round = m->round++;
    for (unsigned i = 0; i < rules.nodes; i++)
        step(m, (struct ql_event){.kind = QL_EV_VOTE,
                                  .request = QL_REQ_EXTEND,
                                  .round = round,
                                  .node = i,
                                  .vote = i ? QL_VOTE_YES : QL_VOTE_MISSING});
}

static void a_repair_for_no_time_at_all(struct ql_machine *m)
{
    hold(m);
    ask(m, QL_EV_EXTEND);
    answer(m, QL_REQ_EXTEND, 0, QL_VOTE_YES);
    answer(m, QL_REQ_EXTEND, 1, QL_VOTE_YES);
    m->valid_until = QL_NEVER;
    step(m, (struct ql_event){.kind = QL_EV_VOTE,
                              .request = QL_REQ_EXTEND,
                              .round = m->round,
                              .node = 2,
                              .now = m->now + terms.ttl_ns,
                              .vote = QL_VOTE_MISSING});
}

static void a_ballot_without_nodes(struct ql_machine *m)
{
    ql_ballot_open(&m->ballot, 0, 1);
}

static void a_ballot_of_too_many_nodes(struct ql_machine *m)
{
    ql_ballot_open(&m->ballot, QL_BALLOT_MAX + 1, QL_BALLOT_MAX);
}

static void a_quorum_that_is_no_majority(struct ql_machine *m)
{
    ql_ballot_open(&m->ballot, 4, 2);
}

static void a_quorum_that_no_vote_reaches(struct ql_machine *m)
{
    ql_ballot_open(&m->ballot, 4, 5);
}

static void a_vote_that_was_none(struct ql_machine *m)
{
    uint8_t vote = QL_VOTES;

    ql_ballot_cast(&m->ballot, &vote, QL_VOTE_YES);
}

static void a_vote_that_is_none(struct ql_machine *m)
{
    uint8_t vote = QL_VOTE_NONE;

    ql_ballot_cast(&m->ballot, &vote, QL_VOTES);
}

static void a_vote_that_nobody_had(struct ql_machine *m)
{
    uint8_t vote = QL_VOTE_YES;

    ql_ballot_open(&m->ballot, 3, 2);
    ql_ballot_cast(&m->ballot, &vote, QL_VOTE_FAILED);
}

static void a_range_that_begins_behind_its_end(struct ql_machine *m)
{
    ql_rand_between(&m->rand, 2, 1);
}

/* --- Each ends the program -------------------------------------------------
 */

static void aborted(int signal)
{
    (void)signal;
    if (__gcov_dump)
        __gcov_dump();
    _exit(ABORTED);
}

static void in_a_child(void (*wrong)(struct ql_machine *m))
{
    struct ql_machine *m = malloc(ql_machine_size(rules.nodes));
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    dup2(null, STDERR_FILENO); /* the assertion's words */
    signal(SIGABRT, aborted);
    ql_machine_init(m, &rules, &terms, 1);
    wrong(m);
    _exit(0);
}

static void must_abort(void **state)
{
    void (*const *wrong)(struct ql_machine *) = *state;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        in_a_child(*wrong);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), ABORTED);
}

/* Values that no enumeration has do no harm, and bring nothing about. */
static void what_has_no_name_is_let_pass(void **state)
{
    struct ql_machine *m = malloc(ql_machine_size(rules.nodes));

    (void)state;
    ql_machine_init(m, &rules, &terms, 1);
    step(m, (struct ql_event){.kind = (enum ql_event_kind)99});
    assert_int_equal(out.count, 0);
    step(m, (struct ql_event){.kind = QL_EV_VOTE,
                              .request = (enum ql_request_kind)99});
    assert_int_equal(out.count, 0);
    for (unsigned state_without = QL_ST_COUNT; state_without < 100;
         state_without++) {
        m->state = (uint8_t)state_without;
        ask(m, QL_EV_TIME);
        assert_int_equal(out.count, 0);
        assert_true(ql_machine_deadline(m) == QL_NEVER);
    }
    free(m);
}

#define ABORTS(name)                                                           \
    {                                                                          \
#name, must_abort, NULL, NULL, &(void (*)(struct ql_machine *))        \
        {                                                                      \
            name                                                               \
        }                                                                      \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ABORTS(a_time_that_goes_back),
        ABORTS(an_acquisition_of_what_is_held),
        ABORTS(an_acquisition_during_a_question),
        ABORTS(an_extension_of_nothing),
        ABORTS(an_extension_during_a_question),
        ABORTS(a_question_during_an_extension),
        ABORTS(a_release_of_nothing),
        ABORTS(a_missing_token_where_none_was_asked_for),
        ABORTS(a_vote_of_a_node_that_is_none),
        ABORTS(a_request_to_a_node_that_is_none),
        ABORTS(more_requests_than_one_step_has),
        ABORTS(more_outcomes_than_one_step_has),
        ABORTS(a_way_that_no_lock_goes),
        ABORTS(a_repair_under_the_name_of_another_round),
        ABORTS(a_repair_for_no_time_at_all),
        ABORTS(a_ballot_without_nodes),
        ABORTS(a_ballot_of_too_many_nodes),
        ABORTS(a_quorum_that_is_no_majority),
        ABORTS(a_quorum_that_no_vote_reaches),
        ABORTS(a_vote_that_was_none),
        ABORTS(a_vote_that_is_none),
        ABORTS(a_vote_that_nobody_had),
        ABORTS(a_range_that_begins_behind_its_end),
        cmocka_unit_test(what_has_no_name_is_let_pass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
