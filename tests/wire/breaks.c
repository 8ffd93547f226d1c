/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections that end: by the peer, by us, in order or not; what is answered
 * then, what is owed, and when it is paid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_peer.h"
#include "probe.h"

/* What was sent may have been done, and what was not was not. */
static void a_reset_answers_everything(void **state)
{
    struct fake_peer *peer = fake_peer_start_tcp("ACCEPT\n"
                                                 "GREET\n"
                                                 "EXPECT PX\n"
                                                 "PAUSE\n"
                                                 "RESET\n"
                                                 "PAUSE\n"
                                                 "ACCEPT\n"
                                                 "GREET\n"
                                                 "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));
    uint64_t connection = ql_node_connection(probe->node);

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_flush(probe);
    fake_peer_wait_pause(peer, 1);
    probe_send(probe, QL_CMD_SET, 2, "two");
    fake_peer_go(peer);
    fake_peer_wait_pause(peer, 2);
    probe_until_answers(probe, 2);
    assert_true(probe_expect(probe, 0, 1, QL_V_CONNECTION)->sent);
    assert_false(probe_expect(probe, 1, 2, QL_V_CONNECTION)->sent);
    assert_string_equal(probe->answers[0].text, "Connection reset by peer");
    assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
    assert_int_equal(ql_node_fd(probe->node), -1);
    assert_int_equal(probe->closed, 1);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 3, "x"), QL_V_CONNECTION);
    fake_peer_go(peer);
    probe_reconnect(probe);
    assert_int_equal(probe->ready, 2);
    assert_true(ql_node_connection(probe->node) > connection);
    probe_free(probe);
    fake_peer_stop(peer);
    assert_int_equal(probe_mem_used, 0);
}

/* The first debt was a request, the second was sent while DOWN. */
static void debts_are_paid_first_after_the_greeting(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT PX\n"
                                             "EXPECT EVALSHA\n"
                                             "CLOSE\n"
                                             "ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT EVALSHA\n"
                                             "EXPECT $3\\r\\none\\r\\n\n"
                                             "EXPECT EVALSHA\n"
                                             "EXPECT $3\\r\\ntwo\\r\\n\n"
                                             "EXPECT $11\\r\\nthree label\n"
                                             "PAUSE\n"
                                             "SEND :1\\r\\n\n"
                                             "SEND *2\\r\\n$1\\r\\nx\\r\\n:-1"
                                             "\\r\\n\n"
                                             "SEND +OK\\r\\n\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_send(probe, QL_CMD_RELEASE, 2, "one");
    probe_flush(probe);
    probe_until_answers(probe, 2);
    probe_expect(probe, 0, 1, QL_V_CONNECTION);
    probe_expect(probe, 1, 2, QL_V_CONNECTION);
    assert_int_equal(ql_node_pending_releases(probe->node), 1);
    assert_int_equal(probe_send(probe, QL_CMD_RELEASE, 3, "two"),
                     QL_V_CONNECTION);
    assert_int_equal(ql_node_pending_releases(probe->node), 2);
    ql_node_connect(probe->node, probe->now);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 4, "three"), QL_V_NONE);
    probe_until_state(probe, QL_NODE_READY);
    assert_int_equal(ql_node_pending_releases(probe->node), 2);
    fake_peer_go(peer);
    /* Nobody asks for the debts' answers, and they are not the acquire's. */
    probe_until_answers(probe, 3);
    probe_expect(probe, 2, 4, QL_V_GRANTED);
    assert_int_equal(ql_node_pending_releases(probe->node), 0);
    probe_send(probe, QL_CMD_RELEASE, 5, "three");
    probe_free(probe);
    fake_peer_stop(peer);
}

static void an_expired_debt_is_forgotten(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT EVALSHA\n"
                                             "CLOSE\n"
                                             "ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_RELEASE, 1, "one");
    probe_flush(probe);
    probe_until_answers(probe, 1);
    assert_int_equal(ql_node_pending_releases(probe->node), 1);
    /* Ten seconds of ttl, a tenth of it, and a second. */
    probe->now += 12000 * PROBE_NS_PER_MS;
    probe_reconnect(probe);
    assert_int_equal(ql_node_pending_releases(probe->node), 0);
    probe_free(probe);
    fake_peer_stop(peer);
    assert_int_equal(probe_mem_used, 0);
}

/* The acquire in front of it may have come through at the last moment. */
static void a_debt_counts_from_the_break(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT PX\n"
                                             "EXPECT EVALSHA\n"
                                             "PAUSE\n"
                                             "CLOSE\n"
                                             "ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT EVALSHA\n"
                                             "CLOSE\n"
                                             "ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_send(probe, QL_CMD_RELEASE, 2, "one");
    probe_flush(probe);
    fake_peer_wait_pause(peer, 1);
    probe->now += 20000 * PROBE_NS_PER_MS;
    fake_peer_go(peer);
    probe_until_answers(probe, 2);
    probe->now += 11000 * PROBE_NS_PER_MS;
    probe_reconnect(probe); /* and the debt is still sent */
    /* The second break gives it no more time: the acquire was with the first
     * connection. */
    probe_until_state(probe, QL_NODE_DOWN);
    assert_int_equal(ql_node_pending_releases(probe->node), 1);
    probe->now += 1000 * PROBE_NS_PER_MS;
    probe_reconnect(probe);
    assert_int_equal(ql_node_pending_releases(probe->node), 0);
    probe_free(probe);
    fake_peer_stop(peer);
}

static void debts_are_bounded(void **state)
{
    struct probe *probe = probe_new("/tmp/quorlock-nobody-listens-here");
    char token[24];

    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(token, sizeof token, "token-%u", i);
        assert_int_equal(probe_send(probe, QL_CMD_RELEASE, i, token),
                         QL_V_CONNECTING);
    }
    assert_int_equal(ql_node_pending_releases(probe->node), 1024);
    assert_int_equal(probe->count, 0);
    probe_free(probe);
    assert_int_equal(probe_mem_used, 0);
}

/* The peer goes away with our request unread: an error, and no SIGPIPE. */
static void a_peer_that_closes_before_reading(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "PAUSE\n"
                                             "CLOSE\n"
                                             "PAUSE\n"
                                             "REFUSE\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    fake_peer_go(peer);
    fake_peer_wait_pause(peer, 2);
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_flush(probe);
    /* Told later, not from within the flush. */
    assert_int_equal(probe->count, 0);
    probe_flush(probe);
    probe_until_answers(probe, 1);
    assert_false(probe_expect(probe, 0, 1, QL_V_CONNECTION)->sent);
    fake_peer_go(peer);
    fake_peer_stop(peer);
    probe_skip(probe);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 2, "x"), QL_V_REFUSED);
    probe_free(probe);
}

static void tries_come_further_and_further_apart(void **state)
{
    struct probe *probe = probe_new("/tmp/quorlock-nobody-listens-here");
    uint64_t pause_ms = 20;

    (void)state;
    ql_node_connect(probe->node, probe->now);
    for (int i = 0; i < 20; i++) {
        uint64_t wait = ql_node_deadline(probe->node) - probe->now;

        assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
        assert_true(wait >= pause_ms * PROBE_NS_PER_MS / 2);
        assert_true(wait <= pause_ms * PROBE_NS_PER_MS);
        pause_ms = pause_ms * 2 < 2000 ? pause_ms * 2 : 2000;
        probe_skip(probe);
    }
    assert_string_equal(ql_node_text(probe->node), "No such file or directory");
    probe_free(probe);
}

/* A listener that never accepts lets connect() succeed, on this side. */
static void a_greeting_has_a_time_limit(void **state)
{
    struct fake_peer *peer = fake_peer_start("PAUSE\n");
    struct probe *probe = probe_new(fake_peer_url(peer));

    (void)state;
    ql_node_connect(probe->node, probe->now);
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_until_state(probe, QL_NODE_GREETING);
    probe_advance(probe, PROBE_CONNECT_MS - 1);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_GREETING);
    assert_int_equal(probe->count, 0);
    probe_advance(probe, 1);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
    assert_false(probe_expect(probe, 0, 1, QL_V_TIMEOUT)->sent);
    assert_string_equal(probe->answers[0].text,
                        "no answer to the greeting within 500 ms");
    fake_peer_go(peer);
    probe_free(probe);
    fake_peer_stop(peer);
}

/* A dripped greeting has the same limit: it is not put off by bytes. */
static void a_dripped_greeting_has_the_same_limit(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "SEND +\n"
                                             "PAUSE\n"
                                             "SEND OK\\r\\n$\n"
                                             "PAUSE\n");
    struct probe *probe = probe_new(fake_peer_url(peer));

    (void)state;
    ql_node_connect(probe->node, probe->now);
    fake_peer_wait_pause(peer, 1);
    probe_once(probe, 1000);
    probe_advance(probe, PROBE_CONNECT_MS - 1);
    fake_peer_go(peer);
    fake_peer_wait_pause(peer, 2);
    probe_once(probe, 1000);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_GREETING);
    probe_advance(probe, 1);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
    fake_peer_go(peer);
    probe_free(probe);
    fake_peer_stop(peer);
}

/* --- How we end it -------------------------------------------------------- */

static const char until_reset[] = "ACCEPT\n"
                                  "GREET\n"
                                  "EXPECT PX\n"
                                  "PAUSE\n"
                                  "EXPECT-RESET\n";
static const char until_end[] = "ACCEPT\n"
                                "GREET\n"
                                "EXPECT PX\n"
                                "PAUSE\n"
                                "EXPECT-EOF\n";

static void an_acquire_without_release_is_taken_back(void **state)
{
    struct fake_peer *peer = fake_peer_start_tcp(until_reset);
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    /* Somebody else's release does not count. */
    probe_send(probe, QL_CMD_RELEASE, 2, "other");
    probe_flush(probe);
    fake_peer_wait_pause(peer, 1);
    probe_free(probe);
    fake_peer_go(peer);
    fake_peer_stop(peer);
}

static void an_acquire_with_its_release_is_delivered(void **state)
{
    struct fake_peer *peer = fake_peer_start_tcp(until_end);
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_flush(probe);
    fake_peer_wait_pause(peer, 1);
    /* Even if it was not flushed yet. */
    probe_send(probe, QL_CMD_RELEASE, 2, "one");
    probe_free(probe);
    fake_peer_go(peer);
    fake_peer_stop(peer);
}

/* An answer that was not read must not turn the end into a reset, because
 * that would discard the release on its way. */
static void unread_answers_do_not_spoil_the_end(void **state)
{
    struct fake_peer *peer = fake_peer_start_tcp("ACCEPT\n"
                                                 "GREET\n"
                                                 "EXPECT PX\n"
                                                 "SEND +OK\\r\\n\n"
                                                 "PAUSE\n"
                                                 "EXPECT EVALSHA\n"
                                                 "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_flush(probe);
    fake_peer_wait_pause(peer, 1);
    probe_send(probe, QL_CMD_RELEASE, 2, "one");
    probe_free(probe);
    fake_peer_go(peer);
    fake_peer_stop(peer);
}

/* A forked child gives its copy back, and the connection lives on. */
static void a_forked_copy_ends_nothing(void **state)
{
    struct fake_peer *peer = fake_peer_start_tcp("ACCEPT\n"
                                                 "GREET\n"
                                                 "EXPECT PX\n"
                                                 "PAUSE\n"
                                                 "SEND +OK\\r\\n\n"
                                                 "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));
    int copy, n;
    char bytes[8];

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_flush(probe);
    fake_peer_wait_pause(peer, 1);
    copy = dup(ql_node_fd(probe->node)); /* as fork() would have made it */
    ql_node_free(probe->node, true);
    assert_int_equal(probe->closed, 0);
    fake_peer_go(peer);
    do
        n = (int)recv(copy, bytes, sizeof bytes, 0);
    while (n < 0);
    assert_int_equal(n, 5);
    close(copy);
    fake_peer_stop(peer);
    probe_forget(probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reset_answers_everything),
        cmocka_unit_test(debts_are_paid_first_after_the_greeting),
        cmocka_unit_test(an_expired_debt_is_forgotten),
        cmocka_unit_test(a_debt_counts_from_the_break),
        cmocka_unit_test(debts_are_bounded),
        cmocka_unit_test(a_peer_that_closes_before_reading),
        cmocka_unit_test(tries_come_further_and_further_apart),
        cmocka_unit_test(a_greeting_has_a_time_limit),
        cmocka_unit_test(a_dripped_greeting_has_the_same_limit),
        cmocka_unit_test(an_acquire_without_release_is_taken_back),
        cmocka_unit_test(an_acquire_with_its_release_is_delivered),
        cmocka_unit_test(unread_answers_do_not_spoil_the_end),
        cmocka_unit_test(a_forked_copy_ends_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
