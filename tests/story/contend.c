/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several clients on one lock: who has it when. The nodes are simulated, each
 * message takes a millisecond, and the trace of what the clients are told is
 * the expected value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/time.h"
#include "story_text.h"
#include "world.h"

#define MS(ms) ((uint64_t)(ms)*QL_NS_PER_MS)

enum { A, B, C };

static struct world w;
static struct story_text *trace;

static void attempts(struct world *world, unsigned client)
{
    story_write_line(trace, "t=%s %c attempts", story_time(world->now),
                     'A' + client);
}

static void tells(struct world *world, unsigned client, enum ql_outcome outcome)
{
    story_write_line(trace, "t=%s %c ", story_time(world->now), 'A' + client);
    story_write_capitals(trace, ql_outcome_name(outcome));
}

static uint32_t fixed_delay(unsigned attempt, void *arg)
{
    (void)attempt;
    return *(const uint32_t *)arg;
}

/* `delay_ms` of each client between its attempts. */
static void open_world(unsigned nodes, unsigned clients, uint32_t *delay_ms)
{
    world_open(&w, nodes, clients, 1);
    w.attempts = attempts;
    w.tells = tells;
    trace = story_text_new();
    for (unsigned i = 0; i < clients; i++) {
        struct ql_terms terms = {.ttl_ns = MS(1000),
                                 .delay = fixed_delay,
                                 .delay_arg = &delay_ms[i],
                                 .max_hold_ns = QL_NEVER};

        world_start_machine(&w, i, &terms);
    }
}

static void close_world(const char *wanted)
{
    struct story_text *text = story_text_parse(wanted);

    story_text_compare(text, trace);
    free(text);
    free(trace);
    world_close(&w);
}

static void until(uint64_t now)
{
    while (world_due(&w) <= now)
        world_step(&w);
    w.now = now;
}

static void asks(unsigned client, enum ql_event_kind kind)
{
    world_event(&w, client, (struct ql_event){.kind = kind, .until = QL_NEVER});
}

/* The first messages of the two cross: each gets to some nodes first. */
static void acquire_crosswise(unsigned nodes_of_b)
{
    asks(A, QL_EV_ACQUIRE);
    asks(B, QL_EV_ACQUIRE);
    for (unsigned i = 0; i < nodes_of_b; i++)
        w.machine[B].line[i].request[0].arrives_at = w.now;
}

static void trap_01_two_nodes_shared_out_are_won_by_the_earlier_retry(void **st)
{
    uint32_t delay_ms[] = {10, 15};

    (void)st;
    open_world(2, 2, delay_ms);
    acquire_crosswise(1);
    until(MS(30));
    assert_int_equal(world_keys(&w, w.machine[A].token), 2);
    assert_int_equal(world_keys(&w, w.machine[B].token), 0);
    close_world("t=0.000 A attempts\n"
                "t=0.000 B attempts\n"
                "t=0.012 A attempts\n"
                "t=0.014 A ACQUIRED\n"
                "t=0.017 B attempts\n");
}

static void trap_01_four_nodes_shared_out_are_won_by_the_earlier_retry(void **s)
{
    uint32_t delay_ms[] = {15, 10};

    (void)s;
    open_world(4, 2, delay_ms);
    acquire_crosswise(2);
    until(MS(25));
    assert_int_equal(world_keys(&w, w.machine[B].token), 4);
    close_world("t=0.000 A attempts\n"
                "t=0.000 B attempts\n"
                "t=0.012 B attempts\n"
                "t=0.014 B ACQUIRED\n"
                "t=0.017 A attempts\n");
}

static void the_next_one_gets_it_after_the_release(void **state)
{
    uint32_t delay_ms[] = {10, 10};

    (void)state;
    open_world(3, 2, delay_ms);
    asks(A, QL_EV_ACQUIRE);
    until(MS(5));
    asks(B, QL_EV_ACQUIRE);
    until(MS(8));
    asks(A, QL_EV_RELEASE);
    until(MS(30));
    assert_int_equal(world_valid_ns(&w, A), 0);
    assert_true(world_valid_ns(&w, B) > 0);
    close_world("t=0.000 A attempts\n"
                "t=0.002 A ACQUIRED\n"
                "t=0.005 B attempts\n"
                "t=0.010 A RELEASED\n"
                "t=0.017 B attempts\n"
                "t=0.019 B ACQUIRED\n");
}

static void a_wake_up_hands_it_over_at_once(void **state)
{
    uint32_t delay_ms[] = {500, 500};

    (void)state;
    open_world(3, 2, delay_ms);
    asks(A, QL_EV_ACQUIRE);
    until(MS(5));
    asks(B, QL_EV_ACQUIRE);
    until(MS(20));
    asks(A, QL_EV_RELEASE);
    until(MS(22));
    asks(B, QL_EV_WAKE);
    until(MS(30));
    close_world("t=0.000 A attempts\n"
                "t=0.002 A ACQUIRED\n"
                "t=0.005 B attempts\n"
                "t=0.022 A RELEASED\n"
                "t=0.022 B attempts\n"
                "t=0.024 B ACQUIRED\n");
}

static void a_dead_holders_lock_is_free_after_its_ttl(void **state)
{
    uint32_t delay_ms[] = {100, 100};

    (void)state;
    open_world(3, 2, delay_ms);
    asks(A, QL_EV_ACQUIRE);
    until(MS(100));
    w.machine[A].paused_until = QL_NEVER - 1; /* for ever */
    asks(B, QL_EV_ACQUIRE);
    until(MS(1200));
    assert_int_equal(world_valid_ns(&w, A), 0);
    assert_int_equal(world_keys(&w, w.machine[B].token), 3);
    close_world("t=0.000 A attempts\n"
                "t=0.002 A ACQUIRED\n"
                "t=0.100 B attempts\n"
                "t=0.202 B attempts\n"
                "t=0.304 B attempts\n"
                "t=0.406 B attempts\n"
                "t=0.508 B attempts\n"
                "t=0.610 B attempts\n"
                "t=0.712 B attempts\n"
                "t=0.814 B attempts\n"
                "t=0.916 B attempts\n"
                "t=1.018 B attempts\n"
                "t=1.020 B ACQUIRED\n");
}

static void two_of_five_nodes_down_do_not_matter(void **state)
{
    uint32_t delay_ms[] = {10};

    (void)state;
    open_world(5, 1, delay_ms);
    world_down(&w, 0);
    world_down(&w, 3);
    asks(A, QL_EV_ACQUIRE);
    until(MS(10));
    asks(A, QL_EV_RELEASE);
    until(MS(20));
    close_world("t=0.000 A attempts\n"
                "t=0.002 A ACQUIRED\n"
                "t=0.012 A RELEASED\n");
}

static void three_of_five_nodes_down_do(void **state)
{
    uint32_t delay_ms[] = {10};

    (void)state;
    open_world(5, 1, delay_ms);
    for (unsigned i = 0; i < 3; i++)
        world_down(&w, i);
    world_event(&w, A, (struct ql_event){.kind = QL_EV_ACQUIRE});
    until(MS(10));
    assert_true(world_lines_empty(&w));
    assert_int_equal(world_keys(&w, w.machine[A].token), 0);
    close_world("t=0.000 A attempts\n"
                "t=0.002 A NO QUORUM\n");
}

static void trap_05_a_cancelled_attempt_leaves_no_key(void **state)
{
    uint32_t delay_ms[] = {10};

    (void)state;
    for (uint64_t when = 0; when <= MS(3); when += MS(1) / 2) {
        open_world(5, 1, delay_ms);
        asks(A, QL_EV_ACQUIRE);
        until(when);
        asks(A, when < MS(2) ? QL_EV_CANCEL : QL_EV_RELEASE);
        until(MS(20));
        assert_true(world_lines_empty(&w));
        assert_int_equal(world_keys(&w, w.machine[A].token), 0);
        free(trace);
        world_close(&w);
    }
}

static void three_in_turn(void **state)
{
    uint32_t delay_ms[] = {10, 14, 18};

    (void)state;
    open_world(5, 3, delay_ms);
    asks(A, QL_EV_ACQUIRE);
    asks(B, QL_EV_ACQUIRE);
    asks(C, QL_EV_ACQUIRE);
    until(MS(5));
    asks(A, QL_EV_RELEASE);
    until(MS(25));
    asks(B, QL_EV_RELEASE);
    until(MS(50));
    close_world("t=0.000 A attempts\n"
                "t=0.000 B attempts\n"
                "t=0.000 C attempts\n"
                "t=0.002 A ACQUIRED\n"
                "t=0.007 A RELEASED\n"
                "t=0.016 B attempts\n"
                "t=0.018 B ACQUIRED\n"
                "t=0.020 C attempts\n"
                "t=0.027 B RELEASED\n"
                "t=0.040 C attempts\n"
                "t=0.042 C ACQUIRED\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            trap_01_two_nodes_shared_out_are_won_by_the_earlier_retry),
        cmocka_unit_test(
            trap_01_four_nodes_shared_out_are_won_by_the_earlier_retry),
        cmocka_unit_test(the_next_one_gets_it_after_the_release),
        cmocka_unit_test(a_wake_up_hands_it_over_at_once),
        cmocka_unit_test(a_dead_holders_lock_is_free_after_its_ttl),
        cmocka_unit_test(two_of_five_nodes_down_do_not_matter),
        cmocka_unit_test(three_of_five_nodes_down_do),
        cmocka_unit_test(trap_05_a_cancelled_attempt_leaves_no_key),
        cmocka_unit_test(three_in_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
