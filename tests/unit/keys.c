/* SPDX-License-Identifier: BSD-2-Clause */
/* The key of a lock's lease record: in the lock's slot, and its own. */
#include "redis/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void each_name_has_its_key(void **state)
{
    static const struct {
        const char *name, *key;
    } rows[] = {
        {"a", "quorlock:lock:{a}"},
        {"a b:c", "quorlock:lock:{a b:c}"},
        {"}", "quorlock:lock:{}}"},
        {"{", "quorlock:lock:{{}"},
        {"{}", "quorlock:lock:{{}}"},
        {"a{b", "quorlock:lock:{a{b}"},
        {"}a{", "quorlock:lock:{}a{}"},
        {"{}{x}", "quorlock:lock:{{}{x}}"}, /* as a cluster sees it: no tag */
        {"{a}", "quorlock:tagged:{a}"},
        {"x{a}y", "quorlock:tagged:x{a}y"},
        {"}{a}", "quorlock:tagged:}{a}"},
        {"{{}", "quorlock:tagged:{{}"},
        {"{a}{b", "quorlock:tagged:{a}{b"},
    };
    char key[64];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t name_len = strlen(rows[i].name);
        size_t len = ql_key_lease(key, rows[i].name, name_len);

        assert_true(len <= name_len + QL_KEY_MORE);
        assert_int_equal(len, strlen(rows[i].key));
        assert_memory_equal(key, rows[i].key, len);
    }
}

static void any_bytes_are_a_name(void **state)
{
    static const char name[] = "a\0{\r\n\0}";
    char key[64];

    (void)state;
    assert_int_equal(ql_key_lease(key, name, 7), 16 + 7);
    assert_memory_equal(key, "quorlock:tagged:a\0{\r\n\0}", 16 + 7);
    assert_int_equal(ql_key_lease(key, "\0", 1), 15 + 1 + 1);
    assert_memory_equal(key, "quorlock:lock:{\0}", 15 + 1 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_has_its_key),
        cmocka_unit_test(any_bytes_are_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
