/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses as people type them, good and bad. */
#include "redis/address.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe.h"

struct good {
    const char *text;
    const char *display;
    const char *host, *path, *user, *password;
    unsigned port, db;
};

static const struct good goods[] = {
    {"db1", "db1", "db1", NULL, NULL, NULL, 6379, 0},
    {"db1:7000", "db1:7000", "db1", NULL, NULL, NULL, 7000, 0},
    {"10.0.0.1:1", "10.0.0.1:1", "10.0.0.1", NULL, NULL, NULL, 1, 0},
    {"h:65535", "h:65535", "h", NULL, NULL, NULL, 65535, 0},
    {"[::1]", "[::1]", "::1", NULL, NULL, NULL, 6379, 0},
    {"[fe80::1%eth0]:7", "[fe80::1%eth0]:7", "fe80::1%eth0", NULL, NULL, NULL,
     7, 0},
    {"redis://db1", "redis://db1", "db1", NULL, NULL, NULL, 6379, 0},
    {"REDIS://db1/", "redis://db1/", "db1", NULL, NULL, NULL, 6379, 0},
    {"redis://db1:7000/3", "redis://db1:7000/3", "db1", NULL, NULL, NULL, 7000,
     3},
    {"redis://[::1]:7000/15", "redis://[::1]:7000/15", "::1", NULL, NULL, NULL,
     7000, 15},
    {"redis://:secret@db1", "redis://db1", "db1", NULL, NULL, "secret", 6379,
     0},
    {"redis://ann:secret@db1:7/1", "redis://db1:7/1", "db1", NULL, "ann",
     "secret", 7, 1},
    {"redis://ann:@db1", "redis://db1", "db1", NULL, "ann", "", 6379, 0},
    {"redis://a%3Ab:p%40%2f%25@db1", "redis://db1", "db1", NULL, "a:b", "p@/%",
     6379, 0},
    {"redis://:p:q@r@db1", "redis://db1", "db1", NULL, NULL, "p:q@r", 6379, 0},
    {"/run/redis.sock", "/run/redis.sock", NULL, "/run/redis.sock", NULL, NULL,
     6379, 0},
    {"unix:///run/redis.sock", "unix:///run/redis.sock", NULL,
     "/run/redis.sock", NULL, NULL, 6379, 0},
    {"unix:///r.sock?db=12", "unix:///r.sock?db=12", NULL, "/r.sock", NULL,
     NULL, 6379, 12},
};

static void same(const char *got, const char *wanted)
{
    if (wanted)
        assert_string_equal(got, wanted);
    else
        assert_null(got);
}

static void good_addresses_come_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        const struct good *good = &goods[i];
        struct ql_address address;
        char error[256] = "";

        if (ql_address_parse(&address, &probe_mem, good->text,
                             strlen(good->text), error, sizeof error) != QL_OK)
            fail_msg("%s: %s", good->text, error);
        same(address.display, good->display);
        same(address.host, good->host);
        same(address.path, good->path);
        same(address.user, good->user);
        same(address.password, good->password);
        assert_int_equal(address.port, good->port);
        assert_int_equal(address.db, good->db);
        ql_address_free(&address, &probe_mem);
    }
    assert_int_equal(probe_mem_used, 0);
}

struct bad {
    const char *text;
    const char *says; /* a part of the sentence */
};

static const struct bad bads[] = {
    {"", "empty"},
    {"db1:", "\"db1\": the port"},
    {"db1:0", "\"db1\": the port"},
    {"db1:65536", "the port must be a number from 1 to 65535"},
    {"db1:99999999999999999999", "the port"},
    {"db1:6379x", "the port"},
    {"db1:-1", "the port"},
    {":6379", "no host name"},
    {"redis://", "no host name"},
    {"redis:///1", "no host name"},
    {"redis://db1/x", "\"db1\": the database"},
    {"redis://db1/-1", "the database"},
    {"redis://db1/4294967296", "the database"},
    {"redis://db1?db=1", "behind the host"},
    {"::1", "brackets"},
    {"::1:6379", "brackets"},
    {"[::1", "brackets"},
    {"[::1]6379", "brackets"},
    {"[]:6379", "no host name"},
    {"rediss://db1", "TLS is not supported yet"},
    {"http://db1", "\"http\": unknown scheme"},
    {"db one", "spaces"},
    {"db1\n", "control"},
    {"db/1", "character"},
    {"unix://run/redis.sock", "absolute path"},
    {"unix:///r.sock?password=geheim", "?db=N only"},
    {"unix:///r.sock?db=", "the database"},
    {"/", "absolute path"},
    {"/0123456789012345678901234567890123456789012345678901234567890123456789"
     "0123456789012345678901234567890123456789",
     "too long"},
    /* Whatever is wrong, "geheim" is a password or a piece of one. */
    {"geheim@db1", "redis://user:password@host"},
    {"ann:geheim@db1", "redis://user:password@host"},
    {"redis://geheim@db1", "user:password"},
    {"redis://:geheim@", "no host name"},
    {"redis://:geheim@db1:x", "the port"},
    {"redis://:geheim@db1/x", "the database"},
    {"redis://:geheim%@db1", "%25"},
    {"redis://:geheim%zz@db1", "%25"},
    {"redis://:geheim%00@db1", "%25"},
    {"redis://:geheim", "no host name"},
    {"redis://ann:geheim", "\"ann\": the port"},
    {"redis://ann:geheim/x@db1", "the port"},
    {"redis://ann:12/geheim@db1", "the database"},
    {"unix://ann:geheim@/run/r.sock", "absolute path"},
    {"rediss://ann:geheim@db1", "TLS"},
    {"redis+tls://ann:geheim@db1", "unknown scheme"},
};

static void bad_addresses_get_a_sentence_without_password(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        struct ql_address address = {0};
        char error[256] = "";

        assert_int_equal(ql_address_parse(&address, &probe_mem, bads[i].text,
                                          strlen(bads[i].text), error,
                                          sizeof error),
                         QL_E_INVALID);
        if (!strstr(error, bads[i].says) || strstr(error, "geheim"))
            fail_msg("%s: %s", bads[i].text, error);
        assert_null(address.display);
    }
    assert_int_equal(probe_mem_used, 0);
}

static void a_small_buffer_is_no_harm(void **state)
{
    struct ql_address address;
    char error[8];

    (void)state;
    assert_int_equal(
        ql_address_parse(&address, &probe_mem, "x:0", 3, error, sizeof error),
        QL_E_INVALID);
    assert_int_equal(strlen(error), 7);
    assert_int_equal(ql_address_parse(&address, &probe_mem, "x:0", 3, NULL, 0),
                     QL_E_INVALID);
}

static void no_byte_is_read_beyond_the_length(void **state)
{
    static const char text[] = "redis://ann:secret@db1:6380/2";
    char *copy;

    (void)state;
    for (size_t len = 0; len < sizeof text; len++) {
        struct ql_address address;
        char error[256];

        copy = malloc(len + 1);
        memcpy(copy, text, len);
        /* The byte behind would change the meaning, if it were looked at. */
        copy[len] = '9';
        if (ql_address_parse(&address, &probe_mem, copy, len, error,
                             sizeof error) == QL_OK)
            ql_address_free(&address, &probe_mem);
        free(copy);
    }
    assert_int_equal(probe_mem_used, 0);
}

static unsigned fail_at;

static void *fail_allocate(size_t size, void *arg)
{
    (void)arg;
    return fail_at-- == 0 ? NULL : probe_mem.allocate(size, NULL);
}

static void every_allocation_may_fail(void **state)
{
    static const char text[] = "redis://ann:secret@db1:6380/2";
    ql_allocator mem = probe_mem;
    int result = QL_E_NOMEM;
    unsigned tries = 0;

    (void)state;
    mem.allocate = fail_allocate;
    while (result == QL_E_NOMEM) {
        struct ql_address address;

        fail_at = tries++;
        result = ql_address_parse(&address, &mem, text, strlen(text), NULL, 0);
        if (result == QL_OK)
            ql_address_free(&address, &mem);
    }
    assert_int_equal(result, QL_OK);
    assert_int_equal(tries, 5); /* user, password, host, display; then none */
    assert_int_equal(probe_mem_used, 0);
}

static void a_list_comes_apart(void **state)
{
    const char *cursor = " ,a:1,,\tb\n c ,";
    size_t len;
    const char *one;

    (void)state;
    one = ql_address_next(&cursor, &len);
    assert_int_equal(len, 3);
    assert_memory_equal(one, "a:1", 3);
    one = ql_address_next(&cursor, &len);
    assert_int_equal(len, 1);
    assert_memory_equal(one, "b", 1);
    one = ql_address_next(&cursor, &len);
    assert_int_equal(len, 1);
    assert_memory_equal(one, "c", 1);
    assert_null(ql_address_next(&cursor, &len));
    assert_null(ql_address_next(&cursor, &len));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_addresses_come_apart),
        cmocka_unit_test(bad_addresses_get_a_sentence_without_password),
        cmocka_unit_test(a_small_buffer_is_no_harm),
        cmocka_unit_test(no_byte_is_read_beyond_the_length),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_list_comes_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
