/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of any bytes and any length, and names that are taken by data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"

/* Locks, extends, looks at and releases the name of `len` bytes. */
static void use_name(struct live *live, const char *name, size_t len)
{
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock, *other;

    options.name_len = len;
    options.ttl_ms = 600000;
    lock = live_lock_with(live->client, name, &options);
    other = live_lock_with(live->client, name, &options);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_HELD, ql_lock_try(other), other);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_HELD, ql_lock_inspect(other), other);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    for (unsigned i = 0; i < servers_count(live->servers); i++)
        assert_true(server_has_key_n(servers_at(live->servers, i), name, len));
    assert_result(QL_OK, ql_lock_release(lock), lock);
    /* It comes behind the release on every connection. */
    assert_result(QL_OK, ql_lock_inspect(other), other);
    assert_servers_empty(live->servers);
    ql_lock_free(lock);
    ql_lock_free(other);
}

static void use_string(struct live *live, const char *name)
{
    use_name(live, name, strlen(name));
}

static void use_long_name(struct live *live, size_t len)
{
    char *name = malloc(len);

    assert_non_null(name);
    for (size_t i = 0; i < len; i++)
        name[i] = (char)(i * 7 + i / 251);
    use_name(live, name, len);
    free(name);
}

static void trap_15_spaces(void **state)
{
    use_string(*state, " ");
    use_string(*state, " a  b ");
}

static void trap_15_percent_signs(void **state)
{
    use_string(*state, "100%");
    use_string(*state, "%s%n%b%20%%");
}

static void trap_15_newlines(void **state)
{
    use_string(*state, "\r\n");
    use_string(*state, "a\r\n$3\r\nDEL\r\n");
}

static void trap_15_nul_bytes(void **state)
{
    use_name(*state, "\0", 1);
    use_name(*state, "a\0b", 3);
    use_name(*state, "a\0c", 3);
}

static void trap_15_a_hundred_kilobytes(void **state)
{
    use_long_name(*state, 100 * 1024);
}

static void a_mebibyte_is_the_longest_name(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    char *name = calloc(1, QL_NAME_MAX + 2);
    ql_lock *lock = NULL;

    use_long_name(live, QL_NAME_MAX);
    assert_non_null(name);
    options.name_len = QL_NAME_MAX + 1;
    assert_int_equal(ql_lock_new(&lock, live->client, name, &options),
                     QL_E_INVALID);
    memset(name, 'x', QL_NAME_MAX + 1);
    assert_int_equal(ql_lock_new(&lock, live->client, name, NULL),
                     QL_E_INVALID);
    assert_int_equal(ql_lock_new(&lock, live->client, "", NULL), QL_E_INVALID);
    assert_null(lock);
    free(name);
}

static void all_byte_values_and_what_is_no_utf_8(void **state)
{
    char name[256];

    for (int i = 0; i < 256; i++)
        name[i] = (char)i;
    use_name(*state, name, sizeof(name));
    use_string(*state, "\xff\xfe\x80");
    use_string(*state, "{tag}\x1b[2J");
}

static void names_with_a_common_start_are_different_locks(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    ql_lock *lock[4];

    for (unsigned i = 0; i < 4; i++) {
        options.name_len = i + 1;
        lock[i] = live_lock_with(live->client, "a\0\0\0", &options);
        assert_result(QL_OK, ql_lock_try(lock[i]), lock[i]);
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_result(QL_OK, ql_lock_release(lock[i]), lock[i]);
        ql_lock_free(lock[i]);
    }
}

static void many_long_names_at_once_are_refused_at_the_worst(void **state)
{
    struct live *live = *state;
    ql_lock_options options = QL_LOCK_OPTIONS_INIT;
    char *name = calloc(1, QL_NAME_MAX);
    ql_lock *lock[20];

    assert_non_null(name);
    options.name_len = QL_NAME_MAX;
    for (unsigned i = 0; i < 20; i++) {
        name[0] = (char)i;
        lock[i] = live_lock_with(live->client, name, &options);
        assert_result(QL_OK, ql_lock_try(lock[i]), lock[i]);
    }
    for (unsigned i = 0; i < 20; i++)
        ql_lock_free(lock[i]);
    free(name);
}

/* --- Names that are somebody's data --------------------------------------- */

static void make_lists(struct live *live, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        server_command(servers_at(live->servers, i), "RPUSH", "data", "a", "b",
                       NULL);
}

static void assert_lists_untouched(struct live *live, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct server *server = servers_at(live->servers, i);

        assert_int_equal(server_command(server, "LLEN", "data", NULL).integer,
                         2);
        assert_int_equal(server_command(server, "PTTL", "data", NULL).integer,
                         -1);
    }
}

static void trap_15_a_name_that_holds_another_type(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, "data", 0);

    make_lists(live, 3);
    assert_result(QL_E_CONFIG, ql_lock_try(lock), lock);
    assert_int_equal(count_verdicts(lock, 3, QL_V_WRONGTYPE), 3);
    assert_non_null(strstr(ql_lock_error(lock), "wrongtype"));
    /* Waiting would not help, so it does not wait. */
    assert_result(QL_E_CONFIG, ql_lock_acquire(lock), lock);
    assert_result(QL_E_CONFIG, ql_lock_inspect(lock), lock);
    assert_lists_untouched(live, 3);
    ql_lock_free(lock);
}

static void another_type_on_a_minority_does_not_hinder(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, "data", 0);

    make_lists(live, 1);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_verdict_soon(live->client, lock, 0, QL_V_WRONGTYPE);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_lists_untouched(live, 1);
    ql_lock_free(lock);
}

static void another_type_on_one_of_two_is_no_majority(void **state)
{
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, "data", 0);

    make_lists(live, 1);
    assert_result(QL_E_CONFIG, ql_lock_try(lock), lock);
    assert_lists_untouched(live, 1);
    assert_false(server_has_key(servers_at(live->servers, 1), "data"));
    ql_lock_free(lock);
}

static void a_string_that_is_no_lock_is_somebody_elses(void **state)
{
    static const char *const value[] = {"a", "x", "42"};
    struct live *live = *state;
    ql_lock *lock = live_lock(live->client, "data", 0);

    for (unsigned i = 0; i < 3; i++)
        server_command(servers_at(live->servers, i), "SET", "data", value[i],
                       NULL);
    assert_result(QL_E_SPLIT, ql_lock_try(lock), lock);
    assert_int_equal(count_verdicts(lock, 3, QL_V_HELD), 3);
    assert_int_equal(servers_with_key(live->servers, "data"), 3);
    ql_lock_free(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(3, trap_15_spaces),
        ON(3, trap_15_percent_signs),
        ON(3, trap_15_newlines),
        ON(3, trap_15_nul_bytes),
        ON(3, trap_15_a_hundred_kilobytes),
        ON(3, a_mebibyte_is_the_longest_name),
        ON(3, all_byte_values_and_what_is_no_utf_8),
        ON(1, names_with_a_common_start_are_different_locks),
        ON(3, many_long_names_at_once_are_refused_at_the_worst),
        ON(3, trap_15_a_name_that_holds_another_type),
        ON(3, another_type_on_a_minority_does_not_hinder),
        ON(2, another_type_on_one_of_two_is_no_majority),
        ON(3, a_string_that_is_no_lock_is_somebody_elses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
