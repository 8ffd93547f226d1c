/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One node and a fake peer: the order of answers, silence, suspicion, breaks,
 * and what becomes of what was not answered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "fake_peer.h"
#include "probe.h"

#define MS PROBE_NS_PER_MS

static void ready_after_the_greeting(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_new(fake_peer_url(peer));

    (void)state;
    assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
    assert_int_equal(ql_node_fd(probe->node), -1);
    assert_true(ql_node_deadline(probe->node) == UINT64_MAX);
    ql_node_connect(probe->node, probe->now);
    probe_until_state(probe, QL_NODE_READY);
    assert_int_equal(probe->ready, 1);
    assert_true(ql_node_deadline(probe->node) == UINT64_MAX);
    assert_false(ql_node_wants_write(probe->node));
    probe_free(probe);
    fake_peer_stop(peer);
    assert_int_equal(probe_mem_used, 0);
}

static void commands_are_held_back_until_ready(void **state)
{
    struct fake_peer *peer = fake_peer_start(
        "ACCEPT\n"
        "PAUSE\n"
        "GREET\n"
        "EXPECT SET\\r\\n$4\\r\\nlock\\r\\n$9\\r\\none label\\r\\n"
        "$2\\r\\nNX\\r\\n$2\\r\\nPX\\r\\n$5\\r\\n10000\\r\\n\n"
        "EXPECT EVALSHA\n"
        "EXPECT $3\\r\\none\\r\\n\n"
        "SEND +OK\\r\\n:1\\r\\n\n"
        "EXPECT-EOF\n");
    struct probe *probe = probe_new(fake_peer_url(peer));
    const struct ql_answer *answer;

    (void)state;
    ql_node_connect(probe->node, probe->now);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 1, "one"), QL_V_NONE);
    /* It must not be lost, and come behind the acquire; nobody is told. */
    assert_int_equal(probe_send(probe, QL_CMD_RELEASE, 2, "one"),
                     QL_V_CONNECTING);
    assert_int_equal(ql_node_pending_releases(probe->node), 1);
    fake_peer_go(peer);
    probe_until_answers(probe, 1);
    answer = probe_expect(probe, 0, 1, QL_V_GRANTED);
    assert_true(answer->sent);
    assert_ptr_equal(answer->owner, probe);
    while (ql_node_pending_releases(probe->node) > 0)
        probe_once(probe, 10);
    probe_free(probe);
    fake_peer_stop(peer);
}

/* A late answer finds its own request, and ends the suspicion. */
static void a_late_answer_finds_its_request(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT PX\n"
                                             "PAUSE\n"
                                             "SEND +OK\\r\\n\n"
                                             "EXPECT EVALSHA\n"
                                             "PAUSE\n"
                                             "SEND :1\\r\\n\n"
                                             "EXPECT PX\n"
                                             "SEND $-1\\r\\n\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));
    const struct ql_answer *answer;

    (void)state;
    assert_int_equal(probe_send(probe, QL_CMD_SET, 1, "one"), QL_V_NONE);
    probe_flush(probe);
    fake_peer_wait_pause(peer, 1);
    assert_true(ql_node_deadline(probe->node) ==
                probe->now + PROBE_TIMEOUT_MS * MS);
    probe_advance(probe, PROBE_TIMEOUT_MS - 1);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_READY);
    probe_advance(probe, 1);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_SUSPECT);
    assert_string_equal(ql_node_text(probe->node), "no answer within 50 ms");
    assert_int_equal(probe_send(probe, QL_CMD_SET, 2, "two"), QL_V_SUSPECT);
    assert_int_equal(probe_send(probe, QL_CMD_RELEASE, 3, "one"), QL_V_SUSPECT);
    probe_flush(probe);
    assert_int_equal(probe->count, 0);
    fake_peer_go(peer);
    probe_until_answers(probe, 1);
    answer = probe_expect(probe, 0, 1, QL_V_GRANTED);
    assert_true(answer->took_ns == PROBE_TIMEOUT_MS * MS);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_READY);
    assert_string_equal(ql_node_text(probe->node), "");
    assert_int_equal(probe_send(probe, QL_CMD_SET, 4, "four"), QL_V_NONE);
    probe_flush(probe);
    fake_peer_go(peer);
    /* The quiet release's answer is not taken for the fourth's. */
    probe_until_answers(probe, 2);
    probe_expect(probe, 1, 4, QL_V_HELD);
    assert_int_equal(probe->ready, 1);
    probe_free(probe);
    fake_peer_stop(peer);
}

static void silence_counts_from_the_last_answer(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT PX\n"
                                             "EXPECT PX\n"
                                             "PAUSE\n"
                                             "SEND +OK\\r\\n\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_send(probe, QL_CMD_SET, 2, "two");
    probe_flush(probe);
    probe->now += 40 * MS;
    fake_peer_go(peer);
    probe_until_answers(probe, 1);
    assert_true(ql_node_deadline(probe->node) ==
                probe->now + PROBE_TIMEOUT_MS * MS);
    probe_advance(probe, PROBE_TIMEOUT_MS);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_SUSPECT);
    probe_send(probe, QL_CMD_RELEASE, 3, "two");
    /* Not abortively: the release stands behind the acquire. */
    probe_free(probe);
    fake_peer_stop(peer);
}

/* It was we who slept: the answer is there, and it is not the node's fault. */
static void an_answer_that_waited_for_us_is_no_silence(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT PX\n"
                                             "SEND +OK\\r\\n\n"
                                             "PAUSE\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_flush(probe);
    fake_peer_wait_pause(peer, 1);
    probe_advance(probe, 3600 * 1000);
    assert_int_equal(probe->count, 1);
    probe_expect(probe, 0, 1, QL_V_GRANTED);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_READY);
    fake_peer_go(peer);
    probe_free(probe);
    fake_peer_stop(peer);
}

static void half_a_minute_of_silence_ends_the_connection(void **state)
{
    struct fake_peer *peer = fake_peer_start_tcp("ACCEPT\n"
                                                 "GREET\n"
                                                 "EXPECT PX\n"
                                                 "PAUSE\n"
                                                 "EXPECT-RESET\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_flush(probe);
    fake_peer_wait_pause(peer, 1);
    probe_advance(probe, PROBE_TIMEOUT_MS);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_SUSPECT);
    probe_advance(probe, 29999);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_SUSPECT);
    probe_advance(probe, 1);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
    assert_true(probe_expect(probe, 0, 1, QL_V_SUSPECT)->sent);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 2, "two"), QL_V_SUSPECT);
    fake_peer_go(peer);
    fake_peer_stop(peer);
    probe_free(probe);
}

/* Bytes are not answers: a drip does not keep a node from being suspected. */
static void a_drip_is_suspected(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT PX\n"
                                             "SEND +\n"
                                             "PAUSE\n"
                                             "SEND O\n"
                                             "PAUSE\n"
                                             "DRIP K\\r\\n\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_flush(probe);
    fake_peer_wait_pause(peer, 1);
    probe_once(probe, 1000);
    probe_advance(probe, PROBE_TIMEOUT_MS - 10);
    fake_peer_go(peer);
    fake_peer_wait_pause(peer, 2);
    probe_once(probe, 1000);
    probe_advance(probe, 10);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_SUSPECT);
    assert_int_equal(probe->count, 0);
    fake_peer_go(peer);
    probe_until_answers(probe, 1);
    probe_expect(probe, 0, 1, QL_V_GRANTED);
    probe_free(probe);
    fake_peer_stop(peer);
}

static void a_dripped_conversation_is_understood(void **state)
{
    struct fake_peer *peer = fake_peer_start(
        "ACCEPT\n"
        "GREET\n"
        "EXPECT EVALSHA\n"
        "EXPECT lock\n"
        "DRIP *2\\r\\n$4\\r\\nhim!\\r\\n:1234\\r\\n-OOM a\\0b\\x1b!\\r\\n\n"
        "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_INSPECT, 1, "one");
    probe_send(probe, QL_CMD_SET, 2, "one");
    probe_flush(probe);
    probe_until_answers(probe, 2);
    assert_int_equal(probe_expect(probe, 0, 1, QL_V_HELD)->remaining_ms, 1234);
    assert_string_equal(probe->answers[0].text, "him!");
    assert_int_equal(probe_expect(probe, 1, 2, QL_V_OOM)->text_len, 9);
    assert_memory_equal(probe->answers[1].text, "OOM a\0b\x1b!", 9);
    probe_send(probe, QL_CMD_RELEASE, 3, "one");
    probe_free(probe);
    fake_peer_stop(peer);
}

/* The peer takes nothing after the greeting: what is queued stays bounded. */
static void a_peer_that_never_reads_costs_bounded_memory(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "PAUSE\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));
    unsigned taken = 0, releases = 0;
    char token[24];

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        ql_verdict verdict;

        snprintf(token, sizeof token, "token-%u", i);
        verdict = probe_send(probe, QL_CMD_SET, i, token);
        taken += verdict == QL_V_NONE;
        assert_true(verdict == QL_V_NONE || verdict == QL_V_QUEUE);
        if (i % 1000 == 0)
            probe_flush(probe);
    }
    assert_int_equal(taken, 16384);
    /* There is room for the release of each, and for no more. */
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(token, sizeof token, "token-%u", i);
        releases += probe_send(probe, QL_CMD_RELEASE, i, token) == QL_V_NONE;
    }
    assert_int_equal(releases, 16384);
    assert_true(probe_mem_used < 8u << 20);
    assert_int_equal(probe->count, 0);
    fake_peer_go(peer);
    ql_node_free(probe->node, true);
    probe_forget(probe);
    fake_peer_stop(peer);
    assert_int_equal(probe_mem_used, 0);
}

static void huge_names_go_through_in_bounded_number(void **state)
{
    static char name[1 << 20];
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "PAUSE\n"
                                             "EXPECT PX\n"
                                             "SEND +OK\\r\\n\n"
                                             "PAUSE\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));
    struct ql_command command = {.kind = QL_CMD_SET,
                                 .round = 1,
                                 .name = name,
                                 .name_len = sizeof name,
                                 .token = "tok",
                                 .label = "",
                                 .ttl_ms = 1};
    unsigned taken = 0;

    (void)state;
    memset(name, 'n', sizeof name);
    while (ql_node_send(probe->node, &command, probe->now) == QL_V_NONE)
        taken++;
    assert_int_equal(taken, 7);
    command.kind = QL_CMD_RELEASE;
    while (ql_node_send(probe->node, &command, probe->now) == QL_V_NONE)
        taken++;
    assert_int_equal(taken, 15);
    fake_peer_go(peer);
    probe_until_answers(probe, 1);
    probe_expect(probe, 0, 1, QL_V_GRANTED);
    fake_peer_go(peer);
    probe_free(probe);
    fake_peer_stop(peer);
}

/* What an owner sends from its callback is queued behind the rest. */
static void an_answer_may_send(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT PX\n"
                                             "SEND $-1\\r\\n\n"
                                             "EXPECT EVALSHA\n"
                                             "SEND :0\\r\\n\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));
    struct ql_command release = {.kind = QL_CMD_RELEASE,
                                 .round = 2,
                                 .name = "lock",
                                 .name_len = 4,
                                 .token = "one"};

    (void)state;
    probe->chain = &release;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_flush(probe);
    probe_until_answers(probe, 2);
    probe_expect(probe, 0, 1, QL_V_HELD);
    probe_expect(probe, 1, 2, QL_V_MISSING);
    probe_free(probe);
    fake_peer_stop(peer);
}

/* Held-back acquires are refused; releases are not. */
static void a_barred_node_takes_releases_only(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "PAUSE\n"
                                             "GREET\n"
                                             "EXPECT EVALSHA\n"
                                             "EXPECT EVALSHA\n"
                                             "SEND :0\\r\\n:1\\r\\n\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_new(fake_peer_url(peer));
    ql_node_info info;

    (void)state;
    probe->bar = QL_V_DUPLICATE;
    ql_node_connect(probe->node, probe->now);
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_send(probe, QL_CMD_RELEASE, 2, "one");
    probe_send(probe, QL_CMD_INSPECT, 3, "one");
    fake_peer_go(peer);
    probe_until_answers(probe, 2);
    assert_false(probe_expect(probe, 0, 1, QL_V_DUPLICATE)->sent);
    assert_false(probe_expect(probe, 1, 3, QL_V_DUPLICATE)->sent);
    assert_string_equal(probe->answers[0].text, "barred by the test");
    ql_node_describe(probe->node, &info);
    assert_false(info.ready);
    assert_int_equal(info.verdict, QL_V_DUPLICATE);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 4, "x"), QL_V_DUPLICATE);
    assert_int_equal(probe_send(probe, QL_CMD_RELEASE, 5, "x"), QL_V_NONE);
    probe_flush(probe);
    probe_until_answers(probe, 3);
    probe_expect(probe, 2, 5, QL_V_GRANTED);
    probe_free(probe);
    fake_peer_stop(peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ready_after_the_greeting),
        cmocka_unit_test(commands_are_held_back_until_ready),
        cmocka_unit_test(a_late_answer_finds_its_request),
        cmocka_unit_test(silence_counts_from_the_last_answer),
        cmocka_unit_test(an_answer_that_waited_for_us_is_no_silence),
        cmocka_unit_test(half_a_minute_of_silence_ends_the_connection),
        cmocka_unit_test(a_drip_is_suspected),
        cmocka_unit_test(a_dripped_conversation_is_understood),
        cmocka_unit_test(a_peer_that_never_reads_costs_bounded_memory),
        cmocka_unit_test(huge_names_go_through_in_bounded_number),
        cmocka_unit_test(an_answer_may_send),
        cmocka_unit_test(a_barred_node_takes_releases_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
