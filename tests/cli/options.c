/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line: which arguments are options, and what becomes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The command is no library: its files are part of this test. */
#include "cli/duration.c"
#include "cli/option_table.c"
#include "cli/options.c"
#include "cli/say.c"

#define ARGUMENTS_MAX 32

/* Parses `line`, split at single spaces, and leaves what is left in `left`,
 * joined by spaces. */
static int parse(struct options *options, enum verb_bit verb, bool stop,
                 const char *line, char *left)
{
    char copy[512], *argv[ARGUMENTS_MAX + 1], *rest = copy;
    int argc = 1, code;

    snprintf(copy, sizeof(copy), "%s", line);
    argv[0] = copy;
    while (argc < ARGUMENTS_MAX && *line &&
           (argv[argc] = strsep(&rest, " ")) != NULL)
        argc++;
    argv[argc] = NULL;
    options_init(options);
    code = options_parse(options, verb, stop, &argc, argv);
    left[0] = '\0';
    for (int i = 0; !code && i < argc; i++) {
        strcat(left, i ? " " : "");
        strcat(left, argv[i]);
    }
    if (!code)
        assert_null(argv[argc]);
    return code;
}

static int clear_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (OPTION_TABLE[i].variable)
            unsetenv(OPTION_TABLE[i].variable);
    return 0;
}

static void arguments_that_are_left(void **state)
{
    static const struct {
        const char *line, *stopping, *going_on;
    } table[] = {
        {"", "", ""},
        {"a", "a", "a"},
        {"-q a", "a", "a"},
        {"a b -q c", "a b -q c", "a b c"},
        {"a -- -q", "a -- -q", "a -q"},
        {"-- a -q", "a -q", "a -q"},
        {"-- -- a", "-- a", "-- a"},
        {"-q -- -- a", "-- a", "-- a"},
        {"- a", "- a", "- a"},
        {"-w 5 a", "a", "a"},
        {"-w5 a -- b", "a -- b", "a b"},
        {"--wait 5 --ttl=5 -nq a", "a", "a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct options options;
        char left[512];

        assert_int_equal(parse(&options, VERB_RUN, true, table[i].line, left),
                         0);
        assert_string_equal(left, table[i].stopping);
        options_free(&options);
        assert_int_equal(parse(&options, VERB_RUN, false, table[i].line, left),
                         0);
        assert_string_equal(left, table[i].going_on);
        options_free(&options);
    }
}

static void values_arrive(void **state)
{
    struct options options;
    char left[512];

    (void)state;
    assert_int_equal(parse(&options, VERB_RUN, true,
                           "-S a -Sb --server c --server=d,e -w 1.5 -E0 "
                           "--ttl 2m --on-lost ignore --label x -qv a",
                           left),
                     0);
    assert_string_equal(options.servers, "a,b,c,d,e");
    assert_int_equal(options.wait_ms, 1500);
    assert_int_equal(options.conflict_code, 0);
    assert_int_equal(options.ttl_ms, 120000);
    assert_int_equal(options.on_lost, ON_LOST_IGNORE);
    assert_string_equal(options.label, "x");
    assert_true(options.quiet && options.verbose);
    assert_false(options.nonblock || options.json);
    options_free(&options);
}

static void defaults(void **state)
{
    struct options options;
    char left[512];

    (void)state;
    assert_int_equal(parse(&options, VERB_RUN, true, "a", left), 0);
    assert_null(options.servers);
    assert_int_equal(options.wait_ms, OPTION_UNSET);
    assert_int_equal(options.kill_after_ms, OPTION_UNSET);
    assert_int_equal(options.conflict_code, 1);
    assert_int_equal(options.ttl_ms, 10000);
    assert_int_equal(options.node_timeout_ms, 50);
    assert_int_equal(options.retry_delay_ms, 200);
    assert_int_equal(options.on_lost, ON_LOST_TERM);
    options_free(&options);
}

static void one_letter_for_two_verbs(void **state)
{
    struct options options;
    char left[512];

    (void)state;
    assert_int_equal(parse(&options, VERB_DEV, true, "-n 3 a", left), 0);
    assert_int_equal(options.nodes, 3);
    assert_false(options.nonblock);
    options_free(&options);
    assert_int_equal(parse(&options, VERB_RUN, true, "-n 3 a", left), 0);
    assert_true(options.nonblock);
    assert_string_equal(left, "3 a");
    options_free(&options);
}

static void the_environment_comes_second(void **state)
{
    struct options options;
    char left[512];

    (void)state;
    setenv("QUORLOCK_SERVERS", "env", 1);
    setenv("QUORLOCK_TTL", "7", 1);
    setenv("QUORLOCK_USER", "", 1);
    assert_int_equal(parse(&options, VERB_RUN, true, "a", left), 0);
    assert_string_equal(options.servers, "env");
    assert_int_equal(options.ttl_ms, 7000);
    assert_null(options.user);
    options_free(&options);
    assert_int_equal(parse(&options, VERB_RUN, true, "-S flag --ttl 8 a", left),
                     0);
    assert_string_equal(options.servers, "flag");
    assert_int_equal(options.ttl_ms, 8000);
    options_free(&options);
}

static void a_bad_variable_is_configuration(void **state)
{
    struct options options;
    char left[512];

    (void)state;
    setenv("QUORLOCK_TTL", "soon", 1);
    assert_int_equal(parse(&options, VERB_RUN, true, "a", left),
                     EXIT_BAD_CONFIG);
    options_free(&options);
    /* It is nobody's business here. */
    assert_int_equal(parse(&options, VERB_STATUS, true, "a", left), 0);
    options_free(&options);
}

static void passwords_are_overwritten(void **state)
{
    static const struct {
        const char *url, *hidden;
    } table[] = {
        {"redis://:pw@h:1", "redis://***@h:1"},
        {"redis://u:p@w@h", "redis://*****@h"},
        {"u:pw@h", "****@h"},
        {"redis://h:1/2", "redis://h:1/2"},
        {"redis://:a@h,redis://:b@i", "redis://***************@i"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        char program[] = "run", flag[] = "-S", url[64];
        char *argv[] = {program, flag, url, NULL};
        struct options options;
        int argc = 3;

        snprintf(url, sizeof(url), "%s", table[i].url);
        options_init(&options);
        assert_int_equal(options_parse(&options, VERB_RUN, true, &argc, argv),
                         0);
        assert_string_equal(url, table[i].hidden);
        assert_string_equal(options.servers, table[i].url);
        options_free(&options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(arguments_that_are_left, clear_environment),
        cmocka_unit_test_setup(values_arrive, clear_environment),
        cmocka_unit_test_setup(defaults, clear_environment),
        cmocka_unit_test_setup(one_letter_for_two_verbs, clear_environment),
        cmocka_unit_test_setup(the_environment_comes_second, clear_environment),
        cmocka_unit_test_setup(a_bad_variable_is_configuration,
                               clear_environment),
        cmocka_unit_test_setup(passwords_are_overwritten, clear_environment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
