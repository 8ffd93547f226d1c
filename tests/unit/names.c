/* SPDX-License-Identifier: BSD-2-Clause */
/* Every state, request, vote and outcome has a word of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/machine.h"

static const char *state_word(unsigned i)
{
    return ql_state_name(i);
}

static const char *request_word(unsigned i)
{
    return ql_request_name(i);
}

static const char *vote_word(unsigned i)
{
    return ql_vote_name(i);
}

static const char *outcome_word(unsigned i)
{
    return ql_outcome_name(i);
}

static void words_differ_up_to(const char *(*word)(unsigned), unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        assert_non_null(word(i));
        assert_string_not_equal(word(i), "?");
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(word(i), word(j));
    }
    assert_string_equal(word(count), "?");
    assert_string_equal(word(count + 1), "?");
}

static void every_name_has_a_word(void **state)
{
    (void)state;
    words_differ_up_to(state_word, QL_ST_COUNT);
    words_differ_up_to(request_word, QL_REQ_INSPECT + 1);
    words_differ_up_to(vote_word, QL_VOTES);
    words_differ_up_to(outcome_word, QL_OUT_LOST_CAPPED + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_has_a_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
