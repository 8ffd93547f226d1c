/* SPDX-License-Identifier: BSD-2-Clause */
/* Which reply is which answer, for each command; and which is none at all. */
#include "redis/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct row {
    enum ql_command_kind kind;
    const char *bytes;
    ql_verdict verdict; /* QL_V_PROTOCOL: not an answer */
    int64_t remaining_ms;
    const char *text;
};

static const struct row rows[] = {
    {QL_CMD_SET, "+OK\r\n", QL_V_GRANTED, -1, ""},
    {QL_CMD_SET, "$-1\r\n", QL_V_HELD, -1, ""},
    {QL_CMD_SET, "+QUEUED\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_SET, "$2\r\nOK\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_SET, ":1\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_SET, "*0\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_SET, "-OOM no\r\n", QL_V_OOM, -1, "OOM no"},

    {QL_CMD_EXTEND, ":1\r\n", QL_V_GRANTED, -1, ""},
    {QL_CMD_EXTEND, ":0\r\n", QL_V_MISSING, -1, ""},
    {QL_CMD_EXTEND, "*2\r\n$3\r\nhim\r\n:7\r\n", QL_V_HELD, 7, "him"},
    /* The script itself would have found that it is ours. */
    {QL_CMD_EXTEND, "*2\r\n$3\r\ntok\r\n:7\r\n", QL_V_HELD, 7, "tok"},
    {QL_CMD_EXTEND, ":2\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_EXTEND, ":-1\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_EXTEND, "$-1\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_EXTEND, "+OK\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_EXTEND, "*1\r\n$3\r\nhim\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_EXTEND, "*3\r\n$1\r\nx\r\n:7\r\n:7\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_EXTEND, "*2\r\n:7\r\n$3\r\nhim\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_EXTEND, "*2\r\n$1\r\nx\r\n:-3\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_EXTEND, "-WRONGTYPE x\r\n", QL_V_WRONGTYPE, -1, "WRONGTYPE x"},

    {QL_CMD_RELEASE, ":1\r\n", QL_V_GRANTED, -1, ""},
    {QL_CMD_RELEASE, ":0\r\n", QL_V_MISSING, -1, ""},
    {QL_CMD_RELEASE, "*2\r\n$0\r\n\r\n:-1\r\n", QL_V_HELD, -1, ""},
    {QL_CMD_RELEASE, "+OK\r\n", QL_V_PROTOCOL, 0, NULL},

    {QL_CMD_INSPECT, ":0\r\n", QL_V_MISSING, -1, ""},
    {QL_CMD_INSPECT, ":1\r\n", QL_V_PROTOCOL, 0, NULL},
    {QL_CMD_INSPECT, "*2\r\n$3\r\ntok\r\n:9\r\n", QL_V_GRANTED, 9, ""},
    {QL_CMD_INSPECT, "*2\r\n$5\r\ntok b\r\n:9\r\n", QL_V_GRANTED, 9, ""},
    {QL_CMD_INSPECT, "*2\r\n$4\r\ntokb\r\n:9\r\n", QL_V_HELD, 9, "tokb"},
    {QL_CMD_INSPECT, "*2\r\n$2\r\nto\r\n:9\r\n", QL_V_HELD, 9, "to"},
    {QL_CMD_INSPECT, "*2\r\n$2\r\nto\r\n:-2\r\n", QL_V_HELD, -1, "to"},
};

static bool read_row(const struct row *row, const char *token,
                     struct ql_answer *answer, struct ql_reply *reply)
{
    struct ql_request request = {.kind = (uint8_t)row->kind};
    redisReader *reader = ql_reply_reader(reply);
    bool good;

    strcpy(request.token, token);
    assert_int_equal(
        ql_reply_feed(reader, reply, row->bytes, strlen(row->bytes)),
        QL_REPLY_DONE);
    assert_int_equal(ql_reply_next(reader, reply), QL_REPLY_DONE);
    good = ql_answer_read(answer, &request, reply, NULL);
    redisReaderFree(reader);
    return good;
}

static void each_reply_is_that_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        struct ql_answer answer = {0};
        struct ql_reply reply;
        bool good = read_row(row, "tok", &answer, &reply);

        if (good != (row->verdict != QL_V_PROTOCOL))
            fail_msg("row %zu: %s", i, row->bytes);
        if (!good)
            continue;
        assert_int_equal(answer.verdict, row->verdict);
        assert_int_equal(answer.remaining_ms, row->remaining_ms);
        assert_string_equal(answer.text, row->text);
        assert_int_equal(answer.text_len, strlen(row->text));
    }
}

static void without_a_token_nothing_is_ours(void **state)
{
    static const struct row row = {QL_CMD_INSPECT, "*2\r\n$2\r\n x\r\n:9\r\n",
                                   0, 0, NULL};
    struct ql_answer answer = {0};
    struct ql_reply reply;

    (void)state;
    assert_true(read_row(&row, "", &answer, &reply));
    assert_int_equal(answer.verdict, QL_V_HELD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reply_is_that_answer),
        cmocka_unit_test(without_a_token_nothing_is_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
