/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes to replies: good ones in any pieces, and what must be refused. */
#include "redis/reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct bench {
    redisReader *reader;
    struct ql_reply reply;
};

static int setup(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);

    if (!bench)
        return -1;
    bench->reader = ql_reply_reader(&bench->reply);
    *state = bench;
    return bench->reader ? 0 : -1;
}

static int teardown(void **state)
{
    struct bench *bench = *state;

    redisReaderFree(bench->reader);
    free(bench);
    return 0;
}

static enum ql_reply_result feed(struct bench *bench, const char *bytes,
                                 size_t len)
{
    enum ql_reply_result result =
        ql_reply_feed(bench->reader, &bench->reply, bytes, len);

    return result == QL_REPLY_DONE ? ql_reply_next(bench->reader, &bench->reply)
                                   : result;
}

static enum ql_reply_result feed_text(struct bench *bench, const char *text)
{
    return feed(bench, text, strlen(text));
}

static void scalars(void **state)
{
    struct bench *bench = *state;
    const struct ql_value *root = &bench->reply.root;

    assert_int_equal(feed_text(bench, "+OK\r\n"), QL_REPLY_DONE);
    assert_int_equal(root->type, QL_VALUE_STATUS);
    assert_string_equal(root->string, "OK");
    assert_int_equal(feed_text(bench, ":-42\r\n"), QL_REPLY_DONE);
    assert_int_equal(root->type, QL_VALUE_INTEGER);
    assert_int_equal(root->integer, -42);
    assert_int_equal(feed_text(bench, "$-1\r\n"), QL_REPLY_DONE);
    assert_int_equal(root->type, QL_VALUE_NIL);
    assert_int_equal(feed_text(bench, "*-1\r\n"), QL_REPLY_DONE);
    assert_int_equal(root->type, QL_VALUE_NIL);
    assert_int_equal(feed(bench, "$3\r\na\0b\r\n", 9), QL_REPLY_DONE);
    assert_int_equal(root->type, QL_VALUE_STRING);
    assert_int_equal(root->len, 3);
    assert_memory_equal(root->string, "a\0b", 4);
    assert_int_equal(feed(bench, "-ERR a\0\x1b!\r\n", 11), QL_REPLY_DONE);
    assert_int_equal(root->type, QL_VALUE_ERROR);
    assert_int_equal(root->len, 8);
    assert_memory_equal(root->string, "ERR a\0\x1b!", 9);
}

static void check_pair(const struct ql_reply *reply)
{
    assert_int_equal(reply->root.type, QL_VALUE_ARRAY);
    assert_int_equal(reply->count, 3);
    assert_int_equal(reply->item[0].type, QL_VALUE_STRING);
    assert_string_equal(reply->item[0].string, "hello");
    assert_int_equal(reply->item[1].type, QL_VALUE_INTEGER);
    assert_int_equal(reply->item[1].integer, 77);
    assert_int_equal(reply->item[2].type, QL_VALUE_NIL);
}

static void an_array_in_any_two_pieces(void **state)
{
    static const char text[] = "*3\r\n$5\r\nhello\r\n:77\r\n$-1\r\n";
    struct bench *bench = *state;

    for (size_t cut = 1; cut < sizeof text - 1; cut++) {
        assert_int_equal(feed(bench, text, cut), QL_REPLY_MORE);
        assert_int_equal(feed(bench, text + cut, sizeof text - 1 - cut),
                         QL_REPLY_DONE);
        check_pair(&bench->reply);
        assert_int_equal(ql_reply_next(bench->reader, &bench->reply),
                         QL_REPLY_MORE);
    }
}

static void several_in_one_piece(void **state)
{
    struct bench *bench = *state;

    assert_int_equal(feed_text(bench, "+A\r\n*0\r\n:3\r\n+"), QL_REPLY_DONE);
    assert_string_equal(bench->reply.root.string, "A");
    assert_int_equal(ql_reply_next(bench->reader, &bench->reply),
                     QL_REPLY_DONE);
    assert_int_equal(bench->reply.root.type, QL_VALUE_ARRAY);
    assert_int_equal(bench->reply.count, 0);
    assert_int_equal(ql_reply_next(bench->reader, &bench->reply),
                     QL_REPLY_DONE);
    assert_int_equal(bench->reply.root.integer, 3);
    assert_int_equal(ql_reply_next(bench->reader, &bench->reply),
                     QL_REPLY_MORE);
}

/* The longest string that fits, fed as a socket would. */
static void as_long_as_allowed(void **state)
{
    struct bench *bench = *state;
    enum ql_reply_result result;
    size_t left = QL_REPLY_BYTES;
    char bytes[1000];

    memset(bytes, 'x', sizeof bytes);
    result = feed_text(bench, "$16384\r\n");
    while (left > 0) {
        size_t n = left < sizeof bytes ? left : sizeof bytes;

        assert_int_equal(result, QL_REPLY_MORE);
        result = feed(bench, bytes, n);
        left -= n;
    }
    assert_int_equal(result, QL_REPLY_MORE);
    assert_int_equal(feed_text(bench, "\r\n"), QL_REPLY_DONE);
    assert_int_equal(bench->reply.root.len, QL_REPLY_BYTES);
}

static void refused(struct bench *bench, const char *text, const char *why)
{
    enum ql_reply_result result = feed_text(bench, text);

    if (result != QL_REPLY_BAD)
        fail_msg("%s: %d", text, result);
    assert_non_null(strstr(ql_reply_fault(bench->reader, &bench->reply), why));
    /* And nothing that comes after is believed. */
    assert_int_equal(feed_text(bench, "+OK\r\n"), QL_REPLY_BAD);
    redisReaderFree(bench->reader);
    bench->reader = ql_reply_reader(&bench->reply);
    assert_non_null(bench->reader);
}

static void what_is_refused_at_its_header(void **state)
{
    struct bench *bench = *state;

    refused(bench, "*17\r\n", "too many elements");
    refused(bench, "*2147483647\r\n", "too many elements");
    refused(bench, "*2147483648\r\n", "");
    refused(bench, "*99999999999999999999\r\n", "");
    refused(bench, "*-2\r\n", "");
    refused(bench, "*1\r\n*1\r\n", "inside an array");
    refused(bench, "*1\r\n*0\r\n", "inside an array");
    refused(bench, "$-2\r\n", "");
    refused(bench, "$x\r\n", "");
    refused(bench, ":x\r\n", "");
    refused(bench, ":99999999999999999999\r\n", "");
}

static void what_was_not_asked_for_is_refused(void **state)
{
    static const char *const resp3[] = {
        ">1\r\n+a\r\n",
        "%1\r\n+a\r\n+b\r\n",
        "~1\r\n+a\r\n",
        "_\r\n",
        "#t\r\n",
        ",1.5\r\n",
        "(123\r\n",
        "=5\r\ntxt:a\r\n",
        "|1\r\n+a\r\n+b\r\n",
    };
    struct bench *bench = *state;

    /* RESP3 has a null of its own, "_", which newer hiredis reads as such. */
    for (size_t i = 0; i < sizeof resp3 / sizeof resp3[0]; i++)
        if (resp3[i][0] != '_' || HIREDIS_MAJOR < 1)
            refused(bench, resp3[i], "");
    refused(bench, "HTTP/1.1 400 Bad Request\r\n", "");
    refused(bench, "\r\n", "");
    refused(bench, "\x16\x03\x01", "");
}

/* However the bytes come, no more than two readings are ever held. */
static void an_endless_reply_is_cut_off(void **state)
{
    static const char *const starts[] = {
        "$500000000\r\n", "+", "-", ":", "$", "*", "*2\r\n$9999999\r\n"};
    char bytes[512];

    (void)state;
    memset(bytes, '1', sizeof bytes);
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        struct bench bench = {.reader = ql_reply_reader(&bench.reply)};
        enum ql_reply_result result = feed_text(&bench, starts[i]);
        size_t fed = 0;

        while (result == QL_REPLY_MORE) {
            result = feed(&bench, bytes, sizeof bytes);
            fed += sizeof bytes;
            assert_true(fed <= QL_HELD_MAX + QL_READ_MAX);
        }
        assert_int_equal(result, QL_REPLY_BAD);
        redisReaderFree(bench.reader);
    }
}

static void strings_together_are_bounded(void **state)
{
    struct bench *bench = *state;
    enum ql_reply_result result = feed_text(bench, "*8\r\n");
    char bytes[8192 + 16];
    int n;

    memcpy(bytes, "$8192\r\n", 7);
    memset(bytes + 7, 'x', 8192);
    memcpy(bytes + 7 + 8192, "\r\n", 2);
    for (n = 0; n < 8 && result == QL_REPLY_MORE; n++)
        result = feed(bench, bytes, 7 + 8192 + 2);
    assert_int_equal(result, QL_REPLY_BAD);
    assert_int_equal(n, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scalars, setup, teardown),
        cmocka_unit_test_setup_teardown(an_array_in_any_two_pieces, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(several_in_one_piece, setup, teardown),
        cmocka_unit_test_setup_teardown(as_long_as_allowed, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_refused_at_its_header, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_was_not_asked_for_is_refused,
                                        setup, teardown),
        cmocka_unit_test(an_endless_reply_is_cut_off),
        cmocka_unit_test_setup_teardown(strings_together_are_bounded, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
