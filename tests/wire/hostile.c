/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers that speak nonsense, at any time: no crash, no memory, no answer that
 * anybody could mistake; and the connection is dropped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fake_peer.h"
#include "probe.h"

/* One acquire, and what the peer says to it. Back comes the probe. */
static struct probe *ask(struct fake_peer **ret_peer, const char *says)
{
    char script[4096];
    struct probe *probe;

    snprintf(script, sizeof script,
             "ACCEPT\nGREET\nEXPECT PX\n%s\nPAUSE\nREFUSE\n", says);
    *ret_peer = fake_peer_start(script);
    probe = probe_ready(fake_peer_url(*ret_peer));
    assert_int_equal(probe_send(probe, QL_CMD_SET, 1, "one"), QL_V_NONE);
    probe_flush(probe);
    return probe;
}

static void finish(struct probe *probe, struct fake_peer *peer)
{
    fake_peer_go(peer);
    probe_free(probe);
    fake_peer_stop(peer);
    assert_int_equal(probe_mem_used, 0);
}

static const char *const nonsense[] = {
    "SEND hello\\r\\n",
    "SEND \\0\\0\\0\\0",
    "SEND \\xff\\xfe\\r\\n",
    "SEND \\r\\n",
    "SEND HTTP/1.1 400 Bad Request\\r\\n\\r\\n",
    "SEND \\x15\\x03\\x01",
    "SEND :1\\r\\n",
    "SEND +PONG\\r\\n",
    "SEND $2\\r\\nOK\\r\\n",
    "SEND $-2\\r\\n",
    "SEND $99999999999999999999\\r\\n",
    "SEND *0\\r\\n",
    "SEND *17\\r\\n",
    "SEND *2147483647\\r\\n",
    "SEND *9223372036854775807\\r\\n",
    "SEND *1\\r\\n*1\\r\\n*1\\r\\n*1\\r\\n:1\\r\\n",
    "SEND >3\\r\\n$7\\r\\nmessage\\r\\n$1\\r\\na\\r\\n$1\\r\\nb\\r\\n",
    "SEND >2\\r\\n$10\\r\\ninvalidate\\r\\n*1\\r\\n$4\\r\\nlock\\r\\n",
    "SEND %1\\r\\n+a\\r\\n+b\\r\\n",
    "SEND #t\\r\\n",
    "SEND ,1.5\\r\\n",
    "SEND |1\\r\\n+a\\r\\n+b\\r\\n+OK\\r\\n",
    /* Headers that promise more than anybody will get. */
    "SEND $500000000\\r\\n\nFLOOD 100000 x",
    "SEND $9223372036854775807\\r\\n\nFLOOD 100000 x",
    "SEND +\nFLOOD 100000 x",
    "SEND -\nFLOOD 100000 x",
    "SEND *\nFLOOD 100000 1",
    "SEND *2\\r\\n$20000\\r\\n\nFLOOD 100000 x",
};

static void nonsense_ends_the_connection(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        struct fake_peer *peer;
        struct probe *probe = ask(&peer, nonsense[i]);

        /* Memory of the node's own: a few kilobytes, whatever was said. */
        probe_until_answers(probe, 1);
        probe_expect(probe, 0, 1, QL_V_PROTOCOL);
        assert_true(probe->answers[0].text[0] != '\0');
        assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
        assert_true(probe_mem_used < 100000);
        finish(probe, peer);
    }
}

/* Two answers in the wrong order are of the wrong type for their commands. */
static void swapped_answers_are_noticed(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET\n"
                                             "EXPECT EVALSHA\n"
                                             "SEND :1\\r\\n+OK\\r\\n\n"
                                             "PAUSE\n"
                                             "REFUSE\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_send(probe, QL_CMD_EXTEND, 2, "one");
    probe_flush(probe);
    probe_until_answers(probe, 2);
    probe_expect(probe, 0, 1, QL_V_PROTOCOL);
    probe_expect(probe, 1, 2, QL_V_PROTOCOL);
    finish(probe, peer);
}

static void an_answer_too_many_ends_the_connection(void **state)
{
    struct fake_peer *peer;
    struct probe *probe = ask(&peer, "SEND +OK\\r\\n+OK\\r\\n");

    (void)state;
    probe_until_state(probe, QL_NODE_DOWN);
    assert_int_equal(probe->count, 1);
    probe_expect(probe, 0, 1, QL_V_GRANTED);
    assert_string_equal(ql_node_text(probe->node),
                        "a reply that nobody asked for");
    finish(probe, peer);
}

/* Not even if there is a request that it could be for, but that has not been
 * sent: nobody answers what he has not heard. */
static void an_answer_before_its_question_is_none(void **state)
{
    struct fake_peer *peer;
    struct probe *probe = ask(&peer, "SEND +OK\\r\\n\nPAUSE\nSEND +OK\\r\\n");

    (void)state;
    probe_until_answers(probe, 1);
    fake_peer_go(peer);
    fake_peer_wait_pause(peer, 2);
    probe_send(probe, QL_CMD_SET, 2, "two");
    probe_once(probe, 1000);
    assert_int_equal(probe->count, 2);
    assert_false(probe_expect(probe, 1, 2, QL_V_PROTOCOL)->sent);
    finish(probe, peer);
}

static void last_words_are_heard(void **state)
{
    struct fake_peer *peer;
    struct probe *probe =
        ask(&peer, "SEND +OK\\r\\n-LOADING of a replica\\r\\n\nCLOSE");

    (void)state;
    probe_until_state(probe, QL_NODE_DOWN);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 2, "x"), QL_V_LOADING);
    assert_string_equal(ql_node_text(probe->node), "LOADING of a replica");
    finish(probe, peer);
}

/* Whatever the conversation, it may stop after any byte. */
static void the_end_may_come_after_any_byte(void **state)
{
    static const char *const pieces[] = {
        "*", "2", "\\r", "\\n", "$", "3", "\\r", "\\n", "h",
        "i", "m", "\\r", "\\n", ":", "1", "2",   "\\r"};

    (void)state;
    for (size_t n = 0; n <= sizeof pieces / sizeof pieces[0]; n++) {
        char says[256] = "SEND ";
        struct fake_peer *peer;
        struct probe *probe;

        for (size_t i = 0; i < n; i++)
            strcat(says, pieces[i]);
        strcat(says, "\nCLOSE");
        probe = ask(&peer, n == 0 ? "CLOSE" : says);
        probe_until_answers(probe, 1);
        assert_true(probe_expect(probe, 0, 1, QL_V_CONNECTION)->sent);
        assert_string_equal(probe->answers[0].text,
                            "the server closed the connection");
        finish(probe, peer);
    }
}

/* hiredis before 1.1 lets a bare newline pass; later ones call it a fault. */
static void a_newline_in_an_error_is_no_harm(void **state)
{
    struct fake_peer *peer;
    struct probe *probe = ask(&peer, "SEND -ERR a\\nb\\r\\n");
    const struct ql_answer *answer = &probe->answers[0].answer;

    (void)state;
    probe_until_answers(probe, 1);
    assert_true(answer->verdict == QL_V_ERROR ||
                answer->verdict == QL_V_PROTOCOL);
    finish(probe, peer);
}

static void greet_with(const char *says, ql_verdict verdict, const char *text)
{
    char script[1024];
    struct fake_peer *peer;
    struct probe *probe;

    snprintf(script, sizeof script, "ACCEPT\n%s\nPAUSE\nREFUSE\n", says);
    peer = fake_peer_start(script);
    probe = probe_new(fake_peer_url(peer));
    ql_node_connect(probe->node, probe->now);
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_until_answers(probe, 1);
    assert_false(probe_expect(probe, 0, 1, verdict)->sent);
    if (strncmp(probe->answers[0].text, text, strlen(text)) != 0)
        fail_msg("%s: %s", says, probe->answers[0].text);
    assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 2, "x"), verdict);
    assert_true(ql_node_deadline(probe->node) > probe->now);
    assert_int_equal(probe->ready, 0);
    finish(probe, peer);
}

#define NAMED   "+OK\\r\\n"
#define NO_INFO "-NOPERM no\\r\\n-NOPERM no\\r\\n-NOPERM no\\r\\n"

static void errors_in_the_greeting_are_verdicts(void **state)
{
    (void)state;
    greet_with("SEND -NOAUTH Authentication required.\\r\\n", QL_V_NOAUTH,
               "NOAUTH Authentication");
    greet_with("SEND -LOADING Redis is loading\\r\\n", QL_V_LOADING,
               "LOADING Redis");
    greet_with("SEND -ERR max number of clients reached\\r\\n\nCLOSE",
               QL_V_MAXCLIENTS, "ERR max number");
    greet_with("SEND " NAMED NO_INFO "-NOPERM you may not\\r\\n", QL_V_NOPERM,
               "the user needs the rights +script|load and +evalsha: NOPERM");
    greet_with("SEND " NAMED NO_INFO "-LOADING Redis is loading\\r\\n",
               QL_V_LOADING, "LOADING");
    greet_with("SEND -BUSY a\\x1b[31m\\x07b\\0c\\r\\n", QL_V_BUSY,
               "BUSY a?[31m?b?c");
}

static void nonsense_in_the_greeting_is_a_verdict(void **state)
{
    (void)state;
    greet_with("SEND HTTP/1.1 400\\r\\n", QL_V_PROTOCOL, "Protocol error");
    greet_with("SEND :1\\r\\n", QL_V_PROTOCOL, "no valid answer to the greet");
    greet_with("SEND " NAMED ":1\\r\\n", QL_V_PROTOCOL, "no valid answer");
    greet_with("SEND " NAMED NO_INFO "+OK\\r\\n", QL_V_PROTOCOL,
               "no valid answer");
    /* A script's hash is known; another one would be another script. */
    greet_with("SEND " NAMED NO_INFO
               "$40\\r\\n0123456789012345678901234567890123456789\\r\\n",
               QL_V_PROTOCOL, "no valid answer");
    greet_with("SEND " NAMED "$20000\\r\\n\nFLOOD 100000 x", QL_V_PROTOCOL,
               "a string that is too long");
    /* In order or with a reset, as it had read our greeting or not. */
    greet_with("CLOSE", QL_V_CONNECTION, "");
}

static void a_forgotten_script_is_loaded_once(void **state)
{
    struct fake_peer *peer = fake_peer_start(
        "ACCEPT\n"
        "GREET\n"
        "EXPECT EVALSHA\n"
        "EXPECT EVALSHA\n"
        "EXPECT PX\n"
        "SEND -NOSCRIPT No matching script.\\r\\n\n"
        "SEND -NOSCRIPT No matching script.\\r\\n+OK\\r\\n\n"
        "EXPECT *3\\r\\n$6\\r\\nSCRIPT\\r\\n$4\\r\\nLOAD\n"
        "EXPECT EVALSHA\n"
        "EXPECT $3\\r\\none\\r\\n\n"
        /* The second one relies on the first one's loading. */
        "EXPECT *5\\r\\n$7\\r\\nEVALSHA\n"
        "EXPECT $3\\r\\ntwo\\r\\n\n"
        "SEND $40\\r\\n0123456789012345678901234567890123456789\\r\\n\n"
        "SEND :1\\r\\n:0\\r\\n\n"
        "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_RELEASE, 1, "one");
    probe_send(probe, QL_CMD_RELEASE, 2, "two");
    probe_send(probe, QL_CMD_SET, 3, "three");
    probe_flush(probe);
    probe_until_answers(probe, 3);
    probe_expect(probe, 0, 3, QL_V_GRANTED);
    probe_expect(probe, 1, 1, QL_V_GRANTED);
    probe_expect(probe, 2, 2, QL_V_MISSING);
    probe_free(probe);
    fake_peer_stop(peer);
    assert_int_equal(probe_mem_used, 0);
}

static void a_server_that_never_learns_is_an_error(void **state)
{
    struct fake_peer *peer =
        fake_peer_start("ACCEPT\n"
                        "GREET\n"
                        "EXPECT EVALSHA\n"
                        "SEND -NOSCRIPT No matching script.\\r\\n\n"
                        "EXPECT LOAD\n"
                        "EXPECT EVALSHA\n"
                        "SEND -NOPERM not you\\r\\n-NOSCRIPT still none\\r\\n\n"
                        "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_EXTEND, 1, "one");
    probe_flush(probe);
    probe_until_answers(probe, 1);
    probe_expect(probe, 0, 1, QL_V_ERROR);
    assert_string_equal(probe->answers[0].text, "NOSCRIPT still none");
    assert_int_equal(ql_node_state(probe->node), QL_NODE_READY);
    probe_free(probe);
    fake_peer_stop(peer);
}

/* A release that waits for its script when the connection breaks is owed. */
static void a_release_that_waits_for_its_script_is_owed(void **state)
{
    struct fake_peer *peer = fake_peer_start(
        "ACCEPT\n"
        "GREET\n"
        "EXPECT EVALSHA\n"
        "SEND -NOSCRIPT No matching script.\\r\\n\n"
        "EXPECT LOAD\n"
        "CLOSE\n"
        "ACCEPT\n"
        "GREET\n"
        "EXPECT $3\\r\\none\\r\\n\n"
        "SEND -NOSCRIPT No matching script.\\r\\n\n"
        "EXPECT LOAD\n"
        "EXPECT $3\\r\\none\\r\\n\n"
        "SEND $40\\r\\n0123456789012345678901234567890123456789\\r\\n\n"
        "SEND :1\\r\\n\n"
        "EXPECT-EOF\n");
    struct probe *probe = probe_ready(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_RELEASE, 1, "one");
    probe_flush(probe);
    probe_until_answers(probe, 1);
    probe_expect(probe, 0, 1, QL_V_CONNECTION);
    probe_reconnect(probe);
    while (ql_node_pending_releases(probe->node) > 0)
        probe_once(probe, 10);
    probe_free(probe);
    fake_peer_stop(peer);
    assert_int_equal(probe_mem_used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_ends_the_connection),
        cmocka_unit_test(swapped_answers_are_noticed),
        cmocka_unit_test(an_answer_too_many_ends_the_connection),
        cmocka_unit_test(an_answer_before_its_question_is_none),
        cmocka_unit_test(last_words_are_heard),
        cmocka_unit_test(the_end_may_come_after_any_byte),
        cmocka_unit_test(a_newline_in_an_error_is_no_harm),
        cmocka_unit_test(errors_in_the_greeting_are_verdicts),
        cmocka_unit_test(nonsense_in_the_greeting_is_a_verdict),
        cmocka_unit_test(a_forgotten_script_is_loaded_once),
        cmocka_unit_test(a_server_that_never_learns_is_an_error),
        cmocka_unit_test(a_release_that_waits_for_its_script_is_owed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
