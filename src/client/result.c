/* SPDX-License-Identifier: BSD-2-Clause */
/* The words that go with results and verdicts. */
#include "quorlock/quorlock.h"

#define NAME_CASE(name, value, text)                                           \
    case name:                                                                 \
        return #name;
#define TEXT_CASE(name, value, text)                                           \
    case name:                                                                 \
        return text;
#define WORD_CASE(name, word)                                                  \
    case name:                                                                 \
        return word;

const char *ql_version(void)
{
    return QL_VERSION;
}

const char *ql_result_name(int result)
{
    switch (result) {
        QL_RESULT_MAP(NAME_CASE)
    default:
        return "unknown";
    }
}

const char *ql_result_text(int result)
{
    switch (result) {
        QL_RESULT_MAP(TEXT_CASE)
    default:
        return "unknown result";
    }
}

const char *ql_verdict_word(ql_verdict verdict)
{
    switch (verdict) {
        QL_VERDICT_MAP(WORD_CASE)
    default:
        return "unknown";
    }
}
