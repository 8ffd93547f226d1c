/* SPDX-License-Identifier: BSD-2-Clause */
/* A node's record from its fields, as a server has them and as it may not. */
#include "guard/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOW "1700000000000000"
#define RUN "0123456789abcdef0123456789abcdef01234567"

enum {
    CFG,
    PREV,
    RUN_ID,
    STATE,
    HW,
    MAX_TTL,
    SLACK,
    AT,
    REF,
    Q_RUN,
    SYNC,
    MEMBERS,
    PLAN
};

static const char *const good[QL_RECORD_FIELDS] = {
    [CFG] = "0123456789abcdef.2.3",
    [PREV] = "0123456789abcdef.1.2",
    [RUN_ID] = RUN,
    [STATE] = "ready",
    [HW] = "1795184369123457",
    [MAX_TTL] = "60000",
    [SLACK] = "500",
    [AT] = "1600000000000000",
    [REF] = "1600000000000001",
    [Q_RUN] = RUN,
    [SYNC] = "",
    [MEMBERS] = "unix:///a unix:///b",
    [PLAN] = "unix:///a"};

/* With one field changed. */
static bool read_with(struct ql_record *record, unsigned index,
                      const char *value)
{
    const char *field[QL_RECORD_FIELDS];

    memcpy(field, good, sizeof(field));
    field[index] = value;
    memset(record, 0x55, sizeof(*record));
    return ql_record_read(record, NOW, field);
}

static void all_fields_are_read(void **state)
{
    struct ql_record record;

    (void)state;
    assert_true(ql_record_read(&record, NOW, good));
    assert_int_equal(record.state, QL_RECORD_READY);
    assert_string_equal(record.cfg, good[CFG]);
    assert_string_equal(record.prev, good[PREV]);
    assert_string_equal(record.run, RUN);
    assert_string_equal(record.q_run, RUN);
    assert_string_equal(record.sync, "");
    assert_int_equal(record.hw, 1795184369123457);
    assert_int_equal(record.max_ttl_ms, 60000);
    assert_int_equal(record.slack_ms, 500);
    assert_int_equal(record.at_us, 1600000000000000);
    assert_int_equal(record.ref_us, 1600000000000001);
    assert_int_equal(record.now_us, 1700000000000000);
    assert_string_equal(record.members, good[MEMBERS]);
    assert_string_equal(record.plan, "unix:///a");
}

static void each_state_has_its_word(void **state)
{
    static const struct {
        const char *word;
        enum ql_record_state state;
    } rows[] = {{"forming", QL_RECORD_FORMING},
                {"ready", QL_RECORD_READY},
                {"quarantine", QL_RECORD_QUARANTINE},
                {"removed", QL_RECORD_REMOVED},
                {"", QL_RECORD_STRANGE},
                {"absent", QL_RECORD_STRANGE},
                {"Ready", QL_RECORD_STRANGE},
                {"ready ", QL_RECORD_STRANGE}};
    struct ql_record record;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(read_with(&record, STATE, rows[i].word));
        assert_int_equal(record.state, rows[i].state);
    }
}

/* Nothing of it is believed then but the time. */
static void one_strange_field_makes_it_strange(void **state)
{
    static const char *const numbers[] = {
        "-1",  "+1", "0x10", "1e3", "inf",
        " 1",  "1 ", "1.5",  "nan", "12345678901234567",
        "\xff"};
    static const unsigned fields[] = {HW, MAX_TTL, SLACK, AT, REF};
    static const unsigned words[] = {CFG, PREV, RUN_ID, Q_RUN, SYNC};
    char longer[QL_CFG_MAX + QL_RUN_ID_MAX];
    struct ql_record record;

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
            assert_true(read_with(&record, fields[i], numbers[k]));
            assert_int_equal(record.state, QL_RECORD_STRANGE);
            assert_string_equal(record.cfg, "");
            assert_int_equal(record.now_us, 1700000000000000);
        }
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    for (unsigned i = 0; i < 5; i++) {
        assert_true(read_with(&record, words[i], longer));
        assert_int_equal(record.state, QL_RECORD_STRANGE);
        assert_true(read_with(&record, words[i], "a b"));
        assert_int_equal(record.state, QL_RECORD_STRANGE);
        assert_true(read_with(&record, words[i], "a\x1b"));
        assert_int_equal(record.state, QL_RECORD_STRANGE);
        assert_true(read_with(&record, words[i], ""));
        assert_int_equal(record.state, QL_RECORD_READY);
    }
}

/* What was never noted; numbers that must be there are not among them. */
static void some_numbers_may_be_missing(void **state)
{
    struct ql_record record;

    (void)state;
    assert_true(read_with(&record, AT, ""));
    assert_int_equal(record.state, QL_RECORD_READY);
    assert_int_equal(record.at_us, 0);
    assert_true(read_with(&record, REF, ""));
    assert_int_equal(record.ref_us, 0);
    assert_true(read_with(&record, HW, ""));
    assert_int_equal(record.state, QL_RECORD_STRANGE);
    assert_true(read_with(&record, SLACK, ""));
    assert_int_equal(record.state, QL_RECORD_STRANGE);
}

static void members_are_cut_and_harmless(void **state)
{
    char many[2 * QL_MEMBERS_MAX];
    struct ql_record record;

    (void)state;
    assert_true(read_with(&record, MEMBERS, "a\x1b[31m\n\xff"));
    assert_int_equal(record.state, QL_RECORD_READY);
    assert_string_equal(record.members, "a?[31m??");
    memset(many, 'm', sizeof(many));
    many[sizeof(many) - 1] = '\0';
    assert_true(read_with(&record, MEMBERS, many));
    assert_int_equal(strlen(record.members), QL_MEMBERS_MAX);
}

static void without_a_time_it_is_no_answer(void **state)
{
    static const char *const times[] = {"", "x", "-1", "1e15",
                                        "17000000000000000"};
    struct ql_record record;

    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        assert_false(ql_record_read(&record, times[i], good));
        assert_int_equal(record.state, QL_RECORD_STRANGE);
        assert_false(ql_record_read_absent(&record, times[i]));
    }
    assert_true(ql_record_read_absent(&record, NOW));
    assert_int_equal(record.state, QL_RECORD_ABSENT);
    assert_int_equal(record.now_us, 1700000000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fields_are_read),
        cmocka_unit_test(each_state_has_its_word),
        cmocka_unit_test(one_strange_field_makes_it_strange),
        cmocka_unit_test(some_numbers_may_be_missing),
        cmocka_unit_test(members_are_cut_and_harmless),
        cmocka_unit_test(without_a_time_it_is_no_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
