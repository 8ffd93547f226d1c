/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One guarded node and a fake peer: the bytes of each command, a greeting that
 * goes wrong, replies that are none, and scripts that were forgotten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "fake_peer.h"
#include "probe.h"
#include "redis/script.h"

#define NOW ":1700000000000001\\r\\n"

static void finish(struct probe *probe, struct fake_peer *peer)
{
    probe_free(probe);
    fake_peer_stop(peer);
    assert_int_equal(probe_mem_used, 0);
}

/* --- Bytes -----------------------------------------------------------------
 */

/* The number that the greeting has told. */
#define SEEN "0000000000000007"

/* What an acquire and an extend have in common. */
#define LEASE                                                                  \
    "3 lock quorlock:lock:{lock} quorlock:node g.1.3 " FAKE_RUN_ID             \
    " tok tok\\x20label 10000 1000 0 9000000000000000 2500 60000 " SEEN " 0"

#define CONFIRM                                                                \
    "2 quorlock:lock:{lock} quorlock:node g.1.3 " FAKE_RUN_ID                  \
    " tok 1000 " SEEN " 0"

#define RELEASE "2 lock quorlock:lock:{lock} tok 60000 0"

static void each_command_is_its_scripts(void **state)
{
    struct fake_peer *peer = fake_peer_start(
        "ACCEPT\n"
        "GREET-GUARDED\n"
        "EXPECT *18\\r\\n$7\\r\\nEVALSHA\n"
        "EXPECT-WORDS " LEASE "\n"
        "EXPECT *18\\r\\n$7\\r\\nEVALSHA\n"
        "EXPECT-WORDS " LEASE "\n"
        "EXPECT *11\\r\\n$7\\r\\nEVALSHA\n"
        "EXPECT-WORDS " CONFIRM "\n"
        "EXPECT *5\\r\\n$7\\r\\nEVALSHA\n"
        "EXPECT-WORDS 2 lock quorlock:lock:{lock}\n"
        "EXPECT *5\\r\\n$7\\r\\nEVALSHA\n"
        "EXPECT-WORDS 1 quorlock:node look\n"
        "EXPECT *8\\r\\n$7\\r\\nEVALSHA\n"
        "EXPECT-WORDS " RELEASE "\n"
        "SEND *7\\r\\n:1\\r\\n" NOW ":8\\r\\n:2\\r\\n:7\\r\\n$3\\r\\nold\\r\\n"
        "$6\\r\\n older\\r\\n\n"
        "SEND *3\\r\\n:2\\r\\n" NOW ":8\\r\\n\n"
        "SEND *3\\r\\n:1\\r\\n" NOW ":9\\r\\n\n"
        "SEND *6\\r\\n:0\\r\\n" NOW "$3\\r\\nold\\r\\n:0\\r\\n:7\\r\\n"
        "$5\\r\\nended\\r\\n\n"
        "SEND *2\\r\\n$16\\r\\n1700000000000002\\r\\n$6\\r\\nabsent\\r\\n\n"
        "SEND *2\\r\\n:1\\r\\n" NOW "\n"
        "EXPECT-EOF\n");
    static const enum ql_command_kind kinds[] = {
        QL_CMD_SET,     QL_CMD_EXTEND, QL_CMD_CONFIRM,
        QL_CMD_INSPECT, QL_CMD_RECORD, QL_CMD_RELEASE};
    struct probe *probe = probe_ready_guarded(fake_peer_url(peer));
    const struct ql_answer *answer;
    struct ql_sight sight;

    (void)state;
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(probe_send(probe, kinds[i], i, "tok"), QL_V_NONE);
    probe_flush(probe);
    probe_until_answers(probe, 6);
    answer = probe_expect(probe, 0, 0, QL_V_GRANTED);
    assert_int_equal(answer->fence, 8);
    assert_int_equal(answer->prev, 2);
    assert_int_equal(answer->prev_fence, 7);
    assert_string_equal(answer->prev_token, "old");
    assert_string_equal(answer->earlier, " older");
    assert_int_equal(answer->time_us, 1700000000000001);
    assert_int_equal(probe_expect(probe, 1, 1, QL_V_REPAIRED)->fence, 8);
    assert_int_equal(probe_expect(probe, 2, 2, QL_V_GRANTED)->fence, 9);
    assert_int_equal(probe_expect(probe, 3, 3, QL_V_MISSING)->remaining_ms, -1);
    answer = probe_expect(probe, 4, 4, QL_V_GRANTED);
    assert_non_null(answer->record);
    assert_int_equal(answer->record->state, QL_RECORD_ABSENT);
    assert_int_equal(answer->time_us, 1700000000000002);
    probe_expect(probe, 5, 5, QL_V_GRANTED);
    ql_node_sight(probe->node, &sight);
    assert_int_equal(sight.record.state, QL_RECORD_ABSENT);
    assert_int_equal(sight.record.now_us, 1700000000000002);
    finish(probe, peer);
}

/* Its lease record's key does not fit into the room on the stack. */
static void a_long_name_takes_memory_for_a_moment(void **state)
{
    static char name[1000];
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET-GUARDED\n"
                                             "EXPECT $1016\\r\\nquorlock:lock:{"
                                             "nnnn\n"
                                             "EXPECT nnnn}\\r\\n\n"
                                             "SEND *2\\r\\n:-2\\r\\n" NOW "\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready_guarded(fake_peer_url(peer));
    struct ql_command command = {.kind = QL_CMD_SET,
                                 .name = name,
                                 .name_len = sizeof(name),
                                 .token = "tok",
                                 .ttl_ms = 10000,
                                 .guard = &probe->guard};

    (void)state;
    memset(name, 'n', sizeof(name));
    probe_mem_good = 0;
    assert_int_equal(ql_node_send(probe->node, &command, probe->now),
                     QL_V_NOMEM);
    probe_mem_good = PROBE_MEM_ALWAYS_GOOD;
    assert_int_equal(ql_node_send(probe->node, &command, probe->now),
                     QL_V_NONE);
    probe_flush(probe);
    probe_until_answers(probe, 1);
    probe_expect(probe, 0, 0, QL_V_CLOCK);
    finish(probe, peer);
}

/* The largest number that it has answered goes along, until its record tells
 * that it is to be forgotten. */
static void what_was_seen_goes_along(void **state)
{
    /* What is refused for the number tells nothing of it; the record does. */
    struct fake_peer *peer = fake_peer_start(
        "ACCEPT\n"
        "GREET-GUARDED\n"
        "EXPECT-WORDS " SEEN "\n"
        "SEND *3\\r\\n:1\\r\\n" NOW ":1795184369123457\\r\\n\n"
        "EXPECT-WORDS 1795184369123457\n"
        "SEND *3\\r\\n:1\\r\\n" NOW ":5\\r\\n\n"
        "EXPECT-WORDS 1795184369123457\n"
        "SEND *3\\r\\n:-1\\r\\n" NOW "$11\\r\\nrolled back\\r\\n\n"
        "EXPECT look\n"
        "SEND *2\\r\\n$16\\r\\n1700000000000002\\r\\n$6\\r\\nabsent\\r\\n\n"
        "EXPECT-WORDS 0000000000000000\n"
        "SEND *3\\r\\n:1\\r\\n" NOW ":5\\r\\n\n"
        "EXPECT-EOF\n");
    struct probe *probe = probe_ready_guarded(fake_peer_url(peer));

    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        probe_send(probe, i == 3 ? QL_CMD_RECORD : QL_CMD_CONFIRM, i, "tok");
        probe_flush(probe);
        probe_until_answers(probe, i + 1);
    }
    probe_expect(probe, 2, 2, QL_V_NOTREADY);
    assert_string_equal(probe->answers[2].text, "rolled back");
    finish(probe, peer);
}

/* A process that is not the one of before, with the record of that one: the
 * request must not name the old process, for the record does. */
static void trap_a_request_held_back_for_another_process(void **state)
{
    struct fake_peer *peer =
        fake_peer_start("ACCEPT\n"
                        "PAUSE\n"
                        "GREET-GUARDED\n"
                        "EXPECT-WORDS " FAKE_RUN_ID " tok\n"
                        "EXPECT-WORDS " SEEN "\n"
                        "SEND *2\\r\\n:-2\\r\\n" NOW "\n"
                        "EXPECT-EOF\n");
    struct probe *probe = probe_new_guarded(fake_peer_url(peer));

    (void)state;
    ql_node_connect(probe->node, probe->now);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 1, "tok"), QL_V_NONE);
    fake_peer_go(peer);
    probe_until_answers(probe, 1);
    probe_expect(probe, 0, 1, QL_V_CLOCK);
    finish(probe, peer);
}

/* --- Greeting --------------------------------------------------------------
 */

#define DENIED "-NOPERM no\\r\\n"

/* Answers the greeting up to the scripts with `info`, and then with `rest`; if
 * that is "", no more. */
static struct probe *greet_with(struct fake_peer **ret_peer, const char *info,
                                const char *rest)
{
    char script[4096] = "";
    size_t used = 0;
    struct probe *probe;

    used += (size_t)snprintf(script, sizeof(script),
                             "ACCEPT\nEXPECT look\nSEND %s\n", info);
    for (unsigned i = QL_SCRIPTS_PLAIN; rest[0] && i < QL_SCRIPTS; i++)
        used +=
            (size_t)snprintf(script + used, sizeof(script) - used,
                             "SEND $40\\r\\n%s\\r\\n\n", ql_script_at(i)->sha1);
    snprintf(script + used, sizeof(script) - used, "%s\nPAUSE\nREFUSE\n", rest);
    *ret_peer = fake_peer_start(script);
    probe = probe_new_guarded(fake_peer_url(*ret_peer));
    ql_node_connect(probe->node, probe->now);
    return probe;
}

static void end_greeting(struct probe *probe, struct fake_peer *peer)
{
    fake_peer_go(peer);
    finish(probe, peer);
}

/* A right that is missing costs what it is needed for, and no more. */
static void what_is_not_told_is_not_known(void **state)
{
    struct fake_peer *peer;
    struct probe *probe =
        greet_with(&peer, "+OK\\r\\n" DENIED DENIED DENIED DENIED DENIED DENIED,
                   "SEND -WRONGTYPE Operation against a key\\r\\n");
    struct ql_sight sight;

    (void)state;
    probe_until_state(probe, QL_NODE_READY);
    ql_node_sight(probe->node, &sight);
    assert_true(sight.reachable);
    assert_string_equal(sight.run_id, "");
    assert_int_equal(sight.uptime_s, -1);
    assert_false(sight.replica || sight.cluster || sight.evicts ||
                 sight.durable);
    assert_int_equal(sight.record.state, QL_RECORD_STRANGE);
    end_greeting(probe, peer);
}

static void a_run_id_of_another_length_is_none(void **state)
{
    struct fake_peer *peer;
    struct probe *probe =
        greet_with(&peer,
                   "+OK\\r\\n$12\\r\\nrun_id:short\\r\\n" DENIED DENIED DENIED
                       DENIED DENIED,
                   "SEND *2\\r\\n$1\\r\\n5\\r\\n$6\\r\\nabsent\\r\\n\n"
                   "EXPECT-WORDS ----------------------------------------\n"
                   "SEND *3\\r\\n:-1\\r\\n" NOW "$9\\r\\nnot ready\\r\\n");
    struct ql_sight sight;

    (void)state;
    probe_until_state(probe, QL_NODE_READY);
    ql_node_sight(probe->node, &sight);
    assert_string_equal(sight.run_id, "");
    assert_int_equal(sight.record.state, QL_RECORD_ABSENT);
    assert_int_equal(sight.record.now_us, 5);
    probe_send(probe, QL_CMD_SET, 1, "tok");
    probe_flush(probe);
    probe_until_answers(probe, 1);
    probe_expect(probe, 0, 1, QL_V_NOTREADY);
    end_greeting(probe, peer);
}

static void fails_with(const char *info, const char *rest, ql_verdict verdict,
                       const char *words)
{
    struct fake_peer *peer;
    struct probe *probe = greet_with(&peer, info, rest);
    ql_node_info told;
    struct ql_sight sight;

    probe_until_state(probe, QL_NODE_DOWN);
    ql_node_describe(probe->node, &told);
    assert_int_equal(told.verdict, verdict);
    if (!strstr(told.text, words))
        fail_msg("%s", told.text);
    ql_node_sight(probe->node, &sight);
    assert_false(sight.reachable);
    end_greeting(probe, peer);
}

static void a_greeting_that_cannot_look_fails(void **state)
{
    static const char good[] =
        "+OK\\r\\n" DENIED DENIED DENIED DENIED DENIED DENIED;
    static const char none[] = "no valid answer";

    (void)state;
    fails_with(good, "SEND -NOPERM no\\r\\n", QL_V_NOPERM,
               "~quorlock:*: NOPERM no");
    fails_with(good, "SEND -NOSCRIPT flushed\\r\\n", QL_V_ERROR, "NOSCRIPT");
    fails_with(good, "SEND -BUSY busy\\r\\n", QL_V_BUSY, "BUSY");
    fails_with(good, "SEND :1\\r\\n", QL_V_PROTOCOL, none);
    fails_with(good, "SEND *0\\r\\n", QL_V_PROTOCOL, none);
    fails_with(good, "SEND *2\\r\\n$1\\r\\nx\\r\\n$6\\r\\nabsent\\r\\n",
               QL_V_PROTOCOL, none);
    fails_with(good, "SEND *2\\r\\n$1\\r\\n5\\r\\n$7\\r\\npresent\\r\\n",
               QL_V_PROTOCOL, none);
    fails_with(good, "SEND *2\\r\\n:5\\r\\n$6\\r\\nabsent\\r\\n", QL_V_PROTOCOL,
               none);
    fails_with("+OK\\r\\n" DENIED DENIED DENIED "*0\\r\\n", "", QL_V_PROTOCOL,
               none);
    fails_with("+OK\\r\\n" DENIED DENIED DENIED DENIED "+OK\\r\\n", "",
               QL_V_PROTOCOL, none);
}

/* --- Replies ---------------------------------------------------------------
 */

static void nonsense_ends_the_connection(void **state)
{
    static const char *const nonsense[] = {
        "+OK\\r\\n",
        ":1\\r\\n",
        "$-1\\r\\n",
        "*0\\r\\n",
        "*2\\r\\n:1\\r\\n" NOW,
        "*6\\r\\n$1\\r\\n1\\r\\n" NOW ":8\\r\\n:0\\r\\n:0\\r\\n$0\\r\\n\\r\\n",
        "*17\\r\\n",
        "*2\\r\\n:-2\\r\\n*1\\r\\n:1\\r\\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        char script[512];
        struct fake_peer *peer;
        struct probe *probe;

        snprintf(script, sizeof(script),
                 "ACCEPT\nGREET-GUARDED\nEXPECT-WORDS " SEEN
                 "\nSEND %s\nPAUSE\nREFUSE\n",
                 nonsense[i]);
        peer = fake_peer_start(script);
        probe = probe_ready_guarded(fake_peer_url(peer));
        probe_send(probe, QL_CMD_SET, 1, "tok");
        probe_flush(probe);
        probe_until_answers(probe, 1);
        probe_expect(probe, 0, 1, QL_V_PROTOCOL);
        assert_int_equal(ql_node_state(probe->node), QL_NODE_DOWN);
        end_greeting(probe, peer);
    }
}

/* --- Scripts that were forgotten -------------------------------------------
 */

static void each_script_is_loaded_again(void **state)
{
    static const enum ql_command_kind kinds[] = {QL_CMD_SET,     QL_CMD_EXTEND,
                                                 QL_CMD_CONFIRM, QL_CMD_INSPECT,
                                                 QL_CMD_RELEASE, QL_CMD_RECORD};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct ql_script *script =
            ql_script_at((unsigned)ql_script_of(kinds[i], true));
        char text[1024];
        struct fake_peer *peer;
        struct probe *probe;

        snprintf(text, sizeof(text),
                 "ACCEPT\nGREET-GUARDED\n"
                 "EXPECT EVALSHA\\r\\n$40\\r\\n%s\n"
                 "SEND -NOSCRIPT No matching script.\\r\\n\n"
                 "EXPECT LOAD\n"
                 "EXPECT EVALSHA\\r\\n$40\\r\\n%s\n"
                 "SEND $40\\r\\n%s\\r\\n-ERR quorlock: enough\\r\\n\n"
                 "EXPECT-EOF\n",
                 script->sha1, script->sha1, script->sha1);
        peer = fake_peer_start(text);
        probe = probe_ready_guarded(fake_peer_url(peer));
        probe_send(probe, kinds[i], 1, "tok");
        probe_flush(probe);
        probe_until_answers(probe, 1);
        probe_expect(probe, 0, 1, QL_V_ERROR);
        assert_string_equal(probe->answers[0].text, "ERR quorlock: enough");
        finish(probe, peer);
    }
}

/* Sent again behind its release, an acquire would set what nobody releases. */
static void trap_an_acquire_sent_again_behind_its_release(void **state)
{
    struct fake_peer *peer =
        fake_peer_start("ACCEPT\n"
                        "GREET-GUARDED\n"
                        "EXPECT $3\\r\\none\\r\\n\n"
                        "EXPECT $3\\r\\ntwo\\r\\n\n"
                        "EXPECT $3\\r\\none\\r\\n\n"
                        "SEND -NOSCRIPT No matching script.\\r\\n\n"
                        "SEND -NOSCRIPT No matching script.\\r\\n\n"
                        "SEND *4\\r\\n:0\\r\\n" NOW "$0\\r\\n\\r\\n:0\\r\\n\n"
                        /* The other one is not released, and comes again. */
                        "EXPECT LOAD\n"
                        "EXPECT $3\\r\\ntwo\\r\\n\n"
                        "SEND $40\\r\\n0123456789012345678901234567890123456789"
                        "\\r\\n*2\\r\\n:-2\\r\\n" NOW "\n"
                        "EXPECT-EOF\n");
    struct probe *probe = probe_ready_guarded(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_SET, 1, "one");
    probe_send(probe, QL_CMD_SET, 2, "two");
    probe_send(probe, QL_CMD_RELEASE, 3, "one");
    probe_flush(probe);
    probe_until_answers(probe, 3);
    probe_expect(probe, 0, 1, QL_V_ERROR);
    probe_expect(probe, 1, 3, QL_V_MISSING);
    probe_expect(probe, 2, 2, QL_V_CLOCK);
    finish(probe, peer);
}

/* --- Breaks and bars -------------------------------------------------------
 */

/* The debt is the guarded release, byte for byte. */
static void a_guarded_release_is_owed(void **state)
{
    struct fake_peer *peer = fake_peer_start("ACCEPT\n"
                                             "GREET-GUARDED\n"
                                             "EXPECT EVALSHA\n"
                                             "CLOSE\n"
                                             "ACCEPT\n"
                                             "GREET-GUARDED\n"
                                             "EXPECT-WORDS " RELEASE "\n"
                                             "SEND *2\\r\\n:1\\r\\n" NOW "\n"
                                             "EXPECT-EOF\n");
    struct probe *probe = probe_ready_guarded(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_RELEASE, 1, "tok");
    probe_flush(probe);
    probe_until_answers(probe, 1);
    probe_expect(probe, 0, 1, QL_V_CONNECTION);
    probe_reconnect(probe);
    while (ql_node_pending_releases(probe->node) > 0)
        probe_once(probe, 10);
    assert_int_equal(probe->count, 1);
    finish(probe, peer);
}

/* Whoever bars a node may still tend it, and lift the bar. */
static void a_barred_node_can_be_tended(void **state)
{
    struct fake_peer *peer =
        fake_peer_start("ACCEPT\n"
                        "GREET-GUARDED\n"
                        "EXPECT look\n"
                        "SEND *2\\r\\n$1\\r\\n5\\r\\n$6\\r\\nabsent\\r\\n\n"
                        "EXPECT look\n"
                        "SEND *2\\r\\n$1\\r\\n5\\r\\n$6\\r\\nabsent\\r\\n\n"
                        "EXPECT-WORDS tok tok\\x20label\n"
                        "SEND *2\\r\\n:-2\\r\\n" NOW "\n"
                        "EXPECT-EOF\n");
    struct probe *probe = probe_ready_guarded(fake_peer_url(peer));

    (void)state;
    probe_send(probe, QL_CMD_RECORD, 1, "");
    ql_node_bar(probe->node, QL_V_NOTREADY, "not ready");
    probe_once(probe, 10);
    probe_until_answers(probe, 1);
    probe_expect(probe, 0, 1, QL_V_GRANTED);
    assert_int_equal(probe_send(probe, QL_CMD_SET, 2, "x"), QL_V_NOTREADY);
    assert_int_equal(probe_send(probe, QL_CMD_RECORD, 3, ""), QL_V_NONE);
    probe_flush(probe);
    probe_until_answers(probe, 2);
    ql_node_bar(probe->node, QL_V_NONE, "");
    assert_int_equal(probe_send(probe, QL_CMD_SET, 4, "tok"), QL_V_NONE);
    probe_once(probe, 10);
    probe_until_answers(probe, 3);
    probe_expect(probe, 2, 4, QL_V_CLOCK);
    finish(probe, peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_command_is_its_scripts),
        cmocka_unit_test(a_long_name_takes_memory_for_a_moment),
        cmocka_unit_test(what_was_seen_goes_along),
        cmocka_unit_test(trap_a_request_held_back_for_another_process),
        cmocka_unit_test(what_is_not_told_is_not_known),
        cmocka_unit_test(a_run_id_of_another_length_is_none),
        cmocka_unit_test(a_greeting_that_cannot_look_fails),
        cmocka_unit_test(nonsense_ends_the_connection),
        cmocka_unit_test(each_script_is_loaded_again),
        cmocka_unit_test(trap_an_acquire_sent_again_behind_its_release),
        cmocka_unit_test(a_guarded_release_is_owed),
        cmocka_unit_test(a_barred_node_can_be_tended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
