/* SPDX-License-Identifier: BSD-2-Clause */
/* Which reply is which answer of a guarded script; and which is none at all. */
#include "redis/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define T     ":1700000000000001\r\n"
#define EMPTY "$0\r\n\r\n"
#define NO    QL_V_PROTOCOL

struct row {
    enum ql_command_kind kind;
    const char *bytes;
    ql_verdict verdict; /* NO: not an answer */
    int64_t remaining_ms;
    uint64_t fence;
    const char *text;
};

static const struct row rows[] = {
    {QL_CMD_SET, "*7\r\n:1\r\n" T ":8\r\n:0\r\n:0\r\n" EMPTY EMPTY,
     QL_V_GRANTED, -1, 8, ""},
    {QL_CMD_SET,
     "*7\r\n:1\r\n" T ":9007199254740990\r\n:2\r\n:7\r\n$3\r\nold\r\n"
     "$2\r\n a\r\n",
     QL_V_GRANTED, -1, 9007199254740990, ""},
    {QL_CMD_SET,
     "*7\r\n:1\r\n" T ":9007199254740991\r\n:0\r\n:0\r\n" EMPTY EMPTY, NO, 0, 0,
     NULL},
    {QL_CMD_SET, "*7\r\n:1\r\n" T ":0\r\n:0\r\n:0\r\n" EMPTY EMPTY, NO, 0, 0,
     NULL},
    {QL_CMD_SET, "*7\r\n:1\r\n" T ":-8\r\n:0\r\n:0\r\n" EMPTY EMPTY, NO, 0, 0,
     NULL},
    {QL_CMD_SET, "*7\r\n:1\r\n" T ":8\r\n:3\r\n:0\r\n" EMPTY EMPTY, NO, 0, 0,
     NULL},
    {QL_CMD_SET, "*7\r\n:1\r\n" T ":8\r\n:-1\r\n:0\r\n" EMPTY EMPTY, NO, 0, 0,
     NULL},
    {QL_CMD_SET, "*7\r\n:1\r\n" T ":8\r\n:1\r\n:-1\r\n" EMPTY EMPTY, NO, 0, 0,
     NULL},
    {QL_CMD_SET, "*7\r\n:1\r\n" T ":8\r\n:0\r\n:0\r\n$-1\r\n" EMPTY, NO, 0, 0,
     NULL},
    {QL_CMD_SET, "*7\r\n:1\r\n" T ":8\r\n:0\r\n:0\r\n" EMPTY ":0\r\n", NO, 0, 0,
     NULL},
    {QL_CMD_SET, "*6\r\n:1\r\n" T ":8\r\n:0\r\n:0\r\n" EMPTY, NO, 0, 0, NULL},
    {QL_CMD_SET, "*3\r\n:1\r\n" T ":8\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*3\r\n:2\r\n" T ":8\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*4\r\n:0\r\n" T "$3\r\nhim\r\n:7\r\n", QL_V_HELD, 7, 0,
     "him"},
    {QL_CMD_SET, "*4\r\n:0\r\n" T "$3\r\nhim\r\n:-1\r\n", QL_V_HELD, -1, 0,
     "him"},
    /* It is refused only for what is there. */
    {QL_CMD_SET, "*4\r\n:0\r\n" T EMPTY ":0\r\n", QL_V_HELD, 0, 0, ""},
    {QL_CMD_SET, "*4\r\n:0\r\n" T "$3\r\nhim\r\n:-2\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*4\r\n:0\r\n" T ":7\r\n:7\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*3\r\n:0\r\n" T "$3\r\nhim\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*3\r\n:-1\r\n" T "$3\r\ncfg\r\n", QL_V_GROUP, -1, 0, "cfg"},
    {QL_CMD_SET, "*3\r\n:-1\r\n" T "$3\r\nttl\r\n", QL_V_TTL, -1, 0, "ttl"},
    {QL_CMD_SET, "*3\r\n:-1\r\n" T "$7\r\nmissing\r\n", QL_V_NOTREADY, -1, 0,
     "missing"},
    {QL_CMD_SET, "*3\r\n:-1\r\n" T "$9\r\nnot ready\r\n", QL_V_NOTREADY, -1, 0,
     "not ready"},
    {QL_CMD_SET, "*3\r\n:-1\r\n" T "$9\r\nexhausted\r\n", QL_V_NOTREADY, -1, 0,
     "exhausted"},
    {QL_CMD_SET, "*3\r\n:-1\r\n" T "$1\r\n?\r\n", QL_V_NOTREADY, -1, 0, "?"},
    {QL_CMD_SET, "*2\r\n:-1\r\n" T, NO, 0, 0, NULL},
    {QL_CMD_SET, "*3\r\n:-1\r\n" T ":1\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*2\r\n:-2\r\n" T, QL_V_CLOCK, -1, 0, ""},
    {QL_CMD_SET, "*3\r\n:-2\r\n" T ":1\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*2\r\n:-3\r\n" T, NO, 0, 0, NULL},
    {QL_CMD_SET, "*2\r\n:-2\r\n:0\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*2\r\n:-2\r\n:-5\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*2\r\n:-2\r\n:9007199254740992\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*2\r\n:-2\r\n$1\r\n5\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "*1\r\n:-2\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "+OK\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "$-1\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, ":1\r\n", NO, 0, 0, NULL},
    {QL_CMD_SET, "-ERR quorlock: no\r\n", QL_V_ERROR, -1, 0,
     "ERR quorlock: no"},
    {QL_CMD_SET, "-WRONGTYPE x\r\n", QL_V_WRONGTYPE, -1, 0, "WRONGTYPE x"},

    {QL_CMD_CONFIRM, "*3\r\n:1\r\n" T ":8\r\n", QL_V_GRANTED, -1, 8, ""},
    {QL_CMD_CONFIRM, "*4\r\n:0\r\n" T EMPTY ":0\r\n", QL_V_MISSING, -1, 0, ""},
    {QL_CMD_CONFIRM, "*3\r\n:-1\r\n" T "$3\r\ncfg\r\n", QL_V_GROUP, -1, 0,
     "cfg"},
    {QL_CMD_CONFIRM, "*3\r\n:1\r\n" T ":0\r\n", NO, 0, 0, NULL},
    {QL_CMD_CONFIRM, "*3\r\n:2\r\n" T ":8\r\n", NO, 0, 0, NULL},
    {QL_CMD_CONFIRM, "*2\r\n:1\r\n" T, NO, 0, 0, NULL},
    {QL_CMD_CONFIRM, "*2\r\n:-2\r\n" T, NO, 0, 0, NULL},

    {QL_CMD_EXTEND, "*3\r\n:1\r\n" T ":8\r\n", QL_V_GRANTED, -1, 8, ""},
    {QL_CMD_EXTEND, "*3\r\n:2\r\n" T ":8\r\n", QL_V_REPAIRED, -1, 8, ""},
    {QL_CMD_EXTEND, "*3\r\n:2\r\n" T ":0\r\n", NO, 0, 0, NULL},
    {QL_CMD_EXTEND, "*2\r\n:2\r\n" T, NO, 0, 0, NULL},
    {QL_CMD_EXTEND, "*3\r\n:3\r\n" T ":8\r\n", NO, 0, 0, NULL},
    {QL_CMD_EXTEND, "*4\r\n:0\r\n" T EMPTY ":0\r\n", QL_V_MISSING, -1, 0, ""},
    {QL_CMD_EXTEND, "*4\r\n:0\r\n" T EMPTY ":-1\r\n", QL_V_HELD, -1, 0, ""},
    {QL_CMD_EXTEND, "*4\r\n:0\r\n" T "$3\r\nhim\r\n:0\r\n", QL_V_HELD, 0, 0,
     "him"},
    {QL_CMD_EXTEND, "*2\r\n:-2\r\n" T, QL_V_CLOCK, -1, 0, ""},

    {QL_CMD_RELEASE, "*2\r\n:1\r\n" T, QL_V_GRANTED, -1, 0, ""},
    {QL_CMD_RELEASE, "*4\r\n:0\r\n" T EMPTY ":0\r\n", QL_V_MISSING, -1, 0, ""},
    {QL_CMD_RELEASE, "*4\r\n:0\r\n" T "$3\r\nhim\r\n:7\r\n", QL_V_HELD, 7, 0,
     "him"},
    {QL_CMD_RELEASE, "*3\r\n:1\r\n" T ":8\r\n", NO, 0, 0, NULL},
    {QL_CMD_RELEASE, "*3\r\n:-1\r\n" T "$3\r\ncfg\r\n", NO, 0, 0, NULL},
    {QL_CMD_RELEASE, "*2\r\n:-2\r\n" T, NO, 0, 0, NULL},
    {QL_CMD_RELEASE, ":1\r\n", NO, 0, 0, NULL},

    {QL_CMD_INSPECT,
     "*6\r\n:1\r\n" T "$5\r\ntok b\r\n:9\r\n:8\r\n$4\r\nheld\r\n", QL_V_GRANTED,
     9, 8, ""},
    {QL_CMD_INSPECT,
     "*6\r\n:1\r\n" T "$4\r\ntokb\r\n:-1\r\n:8\r\n$4\r\nheld\r\n", QL_V_HELD,
     -1, 8, "tokb"},
    {QL_CMD_INSPECT,
     "*6\r\n:1\r\n" T "$3\r\nhim\r\n:9\r\n:0\r\n$5\r\nplain\r\n", QL_V_HELD, 9,
     0, "him"},
    {QL_CMD_INSPECT,
     "*6\r\n:0\r\n" T "$3\r\nhim\r\n:0\r\n:8\r\n$5\r\nended\r\n", QL_V_MISSING,
     -1, 0, ""},
    {QL_CMD_INSPECT, "*6\r\n:0\r\n" T EMPTY ":0\r\n:0\r\n" EMPTY, QL_V_MISSING,
     -1, 0, ""},
    {QL_CMD_INSPECT, "*6\r\n:2\r\n" T EMPTY ":0\r\n:0\r\n" EMPTY, NO, 0, 0,
     NULL},
    {QL_CMD_INSPECT, "*6\r\n:1\r\n" T EMPTY ":0\r\n:-1\r\n" EMPTY, NO, 0, 0,
     NULL},
    {QL_CMD_INSPECT, "*6\r\n:1\r\n" T EMPTY ":0\r\n:0\r\n:0\r\n", NO, 0, 0,
     NULL},
    {QL_CMD_INSPECT, "*4\r\n:0\r\n" T EMPTY ":0\r\n", NO, 0, 0, NULL},

    {QL_CMD_RECORD, "*2\r\n$1\r\n5\r\n$6\r\nabsent\r\n", QL_V_GRANTED, -1, 0,
     ""},
    {QL_CMD_RECORD, "*2\r\n$1\r\nx\r\n$6\r\nabsent\r\n", NO, 0, 0, NULL},
    {QL_CMD_RECORD, "*2\r\n:5\r\n$6\r\nabsent\r\n", NO, 0, 0, NULL},
    {QL_CMD_RECORD, "*2\r\n$1\r\n5\r\n$7\r\npresent\r\n", NO, 0, 0, NULL},
    {QL_CMD_RECORD, "*1\r\n$1\r\n5\r\n", NO, 0, 0, NULL},
    {QL_CMD_RECORD, "*0\r\n", NO, 0, 0, NULL},
    {QL_CMD_RECORD, "+OK\r\n", NO, 0, 0, NULL},
};

static bool read_row(const struct row *row, struct ql_answer *answer,
                     struct ql_reply *reply, struct ql_record *record)
{
    struct ql_request request = {
        .kind = (uint8_t)row->kind, .guarded = true, .token = "tok"};
    redisReader *reader = ql_reply_reader(reply);
    bool good;

    assert_int_equal(
        ql_reply_feed(reader, reply, row->bytes, strlen(row->bytes)),
        QL_REPLY_DONE);
    assert_int_equal(ql_reply_next(reader, reply), QL_REPLY_DONE);
    good = ql_answer_read(answer, &request, reply, record);
    redisReaderFree(reader);
    return good;
}

static void each_reply_is_that_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        struct ql_answer answer = {0};
        struct ql_record record;
        struct ql_reply reply;
        bool good = read_row(row, &answer, &reply, &record);

        if (good != (row->verdict != NO))
            fail_msg("row %zu: %s", i, row->bytes);
        if (!good)
            continue;
        if (answer.verdict != row->verdict)
            fail_msg("row %zu: %d: %s", i, answer.verdict, row->bytes);
        assert_int_equal(answer.remaining_ms, row->remaining_ms);
        assert_int_equal(answer.fence, row->fence);
        assert_string_equal(answer.text, row->text);
        assert_int_equal(answer.text_len, strlen(row->text));
    }
}

static void what_comes_along(void **state)
{
    static const char bytes[] =
        "*15\r\n$1\r\n5\r\n$7\r\npresent\r\n$1\r\nc\r\n" EMPTY
        "$1\r\nr\r\n$5\r\nready\r\n$1\r\n7\r\n$1\r\n8\r\n$1\r\n9\r\n" EMPTY
            EMPTY EMPTY EMPTY EMPTY EMPTY;
    static const struct row present = {QL_CMD_RECORD, bytes, 0, 0, 0, NULL};
    struct ql_answer answer = {0};
    struct ql_record record;
    struct ql_reply reply;

    (void)state;
    assert_true(read_row(&rows[1], &answer, &reply, &record));
    assert_int_equal(answer.time_us, 1700000000000001);
    assert_int_equal(answer.prev, 2);
    assert_int_equal(answer.prev_fence, 7);
    assert_string_equal(answer.prev_token, "old");
    assert_string_equal(answer.earlier, " a");
    assert_null(answer.record);
    answer = (struct ql_answer){0};
    assert_true(read_row(&present, &answer, &reply, &record));
    assert_ptr_equal(answer.record, &record);
    assert_int_equal(answer.time_us, 5);
    assert_int_equal(record.state, QL_RECORD_READY);
    assert_int_equal(record.hw, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reply_is_that_answer),
        cmocka_unit_test(what_comes_along),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
