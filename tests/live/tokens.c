/* SPDX-License-Identifier: BSD-2-Clause */
/* Tokens of the caller's own making, and labels that anybody may have made. */
#include <stdio.h>
#include <string.h>

#include "live.h"

#define NAME "the name"

/* --- Tokens --------------------------------------------------------------- */

struct mint {
    const char *text;
    int result;
    unsigned asked;
};

static int give_text(char token[QL_TOKEN_MAX + 1], void *arg)
{
    struct mint *mint = arg;

    mint->asked++;
    strcpy(token, mint->text);
    return mint->result;
}

static ql_client *client_with_mint(struct live *live, struct mint *mint)
{
    ql_client_options options = PLAIN_OPTIONS_INIT;

    options.node_timeout_ms = PATIENT_MS;
    options.token = give_text;
    options.token_arg = mint;
    options.label = "";
    return live_client_with(servers_list(live->servers), &options);
}

static void a_token_of_the_callers_own_is_the_value(void **state)
{
    struct live *live = *state;
    struct mint mint = {"a-token-of-my-own", 0, 0};
    ql_client *client = client_with_mint(live, &mint);
    ql_lock *lock = live_lock(client, NAME, 0);
    struct server_reply reply;

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_string_equal(ql_lock_token(lock), mint.text);
    assert_int_equal(mint.asked, 1);
    assert_keys_soon(live->servers, NAME, 1);
    reply = server_command(servers_at(live->servers, 0), "GET", NAME, NULL);
    assert_string_equal(reply.text, mint.text);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_servers_empty(live->servers);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void tokens_of_one_and_of_64_characters_are_fine(void **state)
{
    struct live *live = *state;
    struct mint mint = {"~", 0, 0};
    ql_client *client = client_with_mint(live, &mint);
    ql_lock *lock = live_lock(client, NAME, 0);

    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    mint.text = "0123456789012345678901234567890123456789"
                "012345678901234567890123";
    assert_int_equal(strlen(mint.text), QL_TOKEN_MAX);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_OK, ql_lock_extend(lock, 0), lock);
    assert_result(QL_OK, ql_lock_verify(lock), lock);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    assert_servers_empty(live->servers);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void
a_token_that_is_none_is_refused_before_anything_is_sent(void **state)
{
    static const char *const bad[] = {"",     "a b",      "a\n",
                                      "\x7f", "\xc3\xa9", " "};
    struct live *live = *state;

    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct mint mint = {bad[i], 0, 0};
        ql_client *client = client_with_mint(live, &mint);
        ql_lock *lock = live_lock(client, NAME, 0);

        assert_result(QL_E_RANDOM, ql_lock_acquire(lock), lock);
        assert_int_equal(mint.asked, 1);
        assert_int_equal(ql_lock_valid_ms(lock), 0);
        assert_int_equal(count_verdicts(lock, 3, QL_V_NONE), 3);
        ql_lock_free(lock);
        ql_client_close(client);
    }
    assert_servers_empty(live->servers);
}

static void a_source_of_tokens_that_fails_leaves_nothing(void **state)
{
    struct live *live = *state;
    struct mint mint = {"fine", -1, 0};
    ql_client *client = client_with_mint(live, &mint);
    ql_lock *lock = live_lock(client, NAME, 0);

    assert_result(QL_E_RANDOM, ql_lock_acquire(lock), lock);
    assert_servers_empty(live->servers);
    /* It may recover. */
    mint.result = 0;
    assert_result(QL_OK, ql_lock_acquire(lock), lock);
    ql_lock_free(lock);
    ql_client_close(client);
    assert_servers_empty(live->servers);
}

static void a_source_of_tokens_may_fail_at_a_later_attempt(void **state)
{
    struct live *live = *state;
    struct mint mint = {"fine", 0, 0};
    ql_client *client = client_with_mint(live, &mint);
    ql_lock *holder = live_lock(live->client, NAME, 60000);
    ql_lock *lock = live_lock(client, NAME, 0);

    assert_result(QL_OK, ql_lock_try(holder), holder);
    assert_result(QL_HELD, ql_lock_try(lock), lock);
    mint.result = -1;
    assert_result(QL_E_RANDOM, ql_lock_acquire(lock), lock);
    assert_int_equal(mint.asked, 2);
    assert_result(QL_OK, ql_lock_verify(holder), holder);
    ql_lock_free(lock);
    ql_lock_free(holder);
    ql_client_close(client);
}

/* --- Labels --------------------------------------------------------------- */

/* What a second client reads of the holder, with the first one's label. */
static void assert_label_read(struct live *live, const char *label,
                              const char *expected)
{
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_lock *lock, *other = live_lock(live->client, NAME, 0);
    ql_client *client;

    options.node_timeout_ms = PATIENT_MS;
    options.label = label;
    client = live_client_with(servers_list(live->servers), &options);
    lock = live_lock(client, NAME, 60000);
    assert_result(QL_OK, ql_lock_try(lock), lock);
    assert_result(QL_HELD, ql_lock_inspect(other), other);
    assert_string_equal(ql_lock_report(other)[0].text, expected);
    assert_result(QL_OK, ql_lock_release(lock), lock);
    ql_lock_free(other);
    ql_lock_free(lock);
    ql_client_close(client);
}

static void a_label_is_read_by_others(void **state)
{
    assert_label_read(*state, "web-7:worker", "web-7:worker");
    assert_label_read(*state, "", "");
    assert_label_read(*state,
                      "b\xc3\xa9"
                      "b\xc3\xa9",
                      "b\xc3\xa9"
                      "b\xc3\xa9");
}

static void a_hostile_label_is_made_printable(void **state)
{
    assert_label_read(*state, "a\r\nb\x1b[2J", "a??b?[2J");
    assert_label_read(*state, "\xff\xc0\xaf", "???");
    assert_label_read(*state, "two words", "two_words");
    assert_label_read(*state, "100%s%n", "100%s%n");
}

static void a_long_label_is_cut(void **state)
{
    char label[201], expected[QL_LABEL_MAX + 1];

    memset(label, 'x', 200);
    label[200] = '\0';
    memset(expected, 'x', QL_LABEL_MAX);
    expected[QL_LABEL_MAX] = '\0';
    assert_label_read(*state, label, expected);
    /* Not in the middle of a character. */
    memcpy(label + QL_LABEL_MAX - 1, "\xe2\x82\xac", 3);
    expected[QL_LABEL_MAX - 1] = '\0';
    assert_label_read(*state, label, expected);
}

static void the_default_label_says_host_process_and_program(void **state)
{
    struct live *live = *state;
    ql_client_options options = PLAIN_OPTIONS_INIT;
    ql_client *client = live_client_with(servers_list(live->servers), &options);
    ql_lock *lock = live_lock(live->client, NAME, 0);
    ql_lock *ours = live_lock(client, NAME, 0);
    const char *text;

    assert_result(QL_OK, ql_lock_timed(ours, HANG_MS), ours);
    assert_result(QL_HELD, ql_lock_inspect(lock), lock);
    text = ql_lock_report(lock)[0].text;
    assert_non_null(strstr(text, ":test_live_tokens"));
    assert_int_equal(strspn(text, ":"), 0);
    ql_lock_free(ours);
    ql_lock_free(lock);
    ql_client_close(client);
}

/* What somebody else's client wrote there. */
static void assert_foreign_read(struct live *live, const char *value,
                                size_t len, const char *expected)
{
    const char *words[] = {"SET", NAME, value};
    const size_t lens[] = {3, strlen(NAME), len};
    ql_lock *lock = live_lock(live->client, NAME, 0);

    server_command_argv(servers_at(live->servers, 0), 3, words, lens);
    assert_result(QL_HELD, ql_lock_inspect(lock), lock);
    assert_string_equal(ql_lock_report(lock)[0].text, expected);
    assert_result(QL_HELD, ql_lock_try(lock), lock);
    assert_string_equal(ql_lock_report(lock)[0].text, expected);
    assert_null(strpbrk(ql_lock_error(lock), "\x1b\r\n\x7f"));
    ql_lock_free(lock);
}

static void a_foreign_value_is_shown_printable(void **state)
{
    assert_foreign_read(*state, "uuid-1", 6, "uuid-1");
    assert_foreign_read(*state, "", 0, "");
    assert_foreign_read(*state, "\x1b]0;evil\x07\r\n\0x", 13, "?]0;evil????x");
    assert_foreign_read(*state, "\xe2\x80\xae\xc2\x9b", 5, "?????");
    assert_foreign_read(*state, "\xed\xa0\x80", 3, "???");
}

static void a_huge_foreign_value_is_cut(void **state)
{
    static char value[1 << 20];
    char expected[QL_TEXT_MAX];

    memset(value, 'v', sizeof(value));
    memset(expected, 'v', sizeof(expected) - 1);
    expected[sizeof(expected) - 1] = '\0';
    assert_foreign_read(*state, value, sizeof(value), expected);
}

static void a_value_that_only_looks_like_ours_is_shown_whole(void **state)
{
    assert_foreign_read(*state, "0123456789abcdef0123456789abcdef0123456789",
                        42, "0123456789abcdef0123456789abcdef0123456789");
    /* Ours, by its form, without a label. */
    assert_foreign_read(*state, "0123456789abcdef0123456789abcdef01234567", 40,
                        "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(1, a_token_of_the_callers_own_is_the_value),
        ON(1, tokens_of_one_and_of_64_characters_are_fine),
        ON(3, a_token_that_is_none_is_refused_before_anything_is_sent),
        ON(3, a_source_of_tokens_that_fails_leaves_nothing),
        ON(3, a_source_of_tokens_may_fail_at_a_later_attempt),
        ON(1, a_label_is_read_by_others),
        ON(1, a_hostile_label_is_made_printable),
        ON(1, a_long_label_is_cut),
        ON(1, the_default_label_says_host_process_and_program),
        ON(1, a_foreign_value_is_shown_printable),
        ON(1, a_huge_foreign_value_is_cut),
        ON(1, a_value_that_only_looks_like_ours_is_shown_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
