/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock acquire NAME: takes the lock, prints its token and leaves it to
 * whoever knows that. Nobody renews it: it lasts for the ttl.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/label.h"
#include "cli/say.h"
#include "cli/verb.h"
#include "cli/waiting.h"

static json_t *token_object(const struct session *session, const ql_lock *lock,
                            const char *label)
{
    json_t *object = json_object();

    json_object_set_new(object, "name", json_text(session->name));
    json_object_set_new(object, "token", json_text(ql_lock_token(lock)));
    json_object_set_new(object, "ttl_ms",
                        json_integer(session->options->ttl_ms));
    json_object_set_new(object, "valid_ms",
                        json_integer(ql_lock_valid_ms(lock)));
    json_object_set_new(object, "label", json_text(label));
    json_set_fence(object, lock);
    json_object_set_new(object, "owner_died",
                        json_boolean(ql_lock_owner_died(lock)));
    return object;
}

/* In single quotes; one of those itself becomes '\''. */
static void print_quoted(const char *name, const char *value)
{
    printf("%s='", name);
    for (; *value; value++) {
        if (*value == '\'')
            fputs("'\\'", stdout);
        putchar(*value);
    }
    fputs("'\n", stdout);
}

/* For eval: each variable is set, so that none is left from a lock before. */
static int print_variables(const struct session *session, const ql_lock *lock)
{
    uint64_t fence = ql_lock_fence(lock);

    print_quoted("QUORLOCK_NAME", session->name);
    print_quoted("QUORLOCK_TOKEN", ql_lock_token(lock));
    printf("QUORLOCK_TTL_MS=%" PRId64 "\n", session->options->ttl_ms);
    printf("QUORLOCK_VALID_UNTIL_MS=%" PRId64 "\n",
           now_ns() / NS_PER_MS + ql_lock_valid_ms(lock));
    if (fence)
        printf("QUORLOCK_FENCE=%" PRIu64 "\n", fence);
    else
        puts("QUORLOCK_FENCE=");
    printf("QUORLOCK_OWNER_DIED=%s\n", ql_lock_owner_died(lock) ? "1" : "");
    return ferror(stdout) || fflush(stdout);
}

/* A token that nobody has read would lock everybody out until the ttl ends. */
static int print_token(const struct session *session, ql_lock *lock,
                       const char *label)
{
    int failed;

    if (session->options->json)
        failed = json_print(token_object(session, lock, label), stdout);
    else if (session->options->env)
        failed = print_variables(session, lock);
    else
        failed = printf("%s\n", ql_lock_token(lock)) < 0 || fflush(stdout);
    if (!failed)
        return EXIT_DONE;
    say("the token could not be written, so the lock is released");
    ql_lock_release(lock);
    return EXIT_OS;
}

static bool all_answered(const struct session *session, const ql_lock *lock)
{
    const ql_node_report *report = ql_lock_report(lock);

    for (unsigned i = 0; report && i < ql_client_nodes(session->client); i++)
        if (report[i].verdict == QL_V_PENDING)
            return false;
    return true;
}

/* A majority has decided; the others get their key too, while they are waited
 * for anyway, so that the lock does not rest on a bare majority. */
static void settle(const struct session *session, const ql_lock *lock)
{
    int64_t until_ns = now_ns() + session->options->node_timeout_ms * NS_PER_MS;

    while (!all_answered(session, lock) && now_ns() < until_ns) {
        session_sleep(session, until_ns);
        if (ql_client_process(session->client) != QL_OK)
            return;
    }
}

static int acquire(const struct session *session, ql_lock *lock,
                   const char *label)
{
    int signal, result = waiting_acquire(session, lock, 0, &signal);
    char name[SAY_NAME];
    int code;

    if (result == QL_OK && signal)
        ql_lock_release(lock);
    if (result != QL_OK || signal)
        return waiting_failed(session, lock, result, signal);
    session_warn(session);
    session_say_died(session, lock);
    if (session->options->verbose)
        say("%s: acquired for %" PRId64 " ms", say_name(name, session->name),
            ql_lock_valid_ms(lock));
    code = print_token(session, lock, label);
    settle(session, lock);
    return code;
}

int verb_acquire(const struct options *options, int argc, char **argv)
{
    struct session session = {0};
    ql_lock_options lock_options;
    char made[LABEL_SIZE];
    const char *label = options->label ? options->label : label_of_parent(made);
    ql_lock *lock = NULL;
    int code = label_check(label);

    (void)argc;
    if (!code)
        code = session_listen(&session);
    if (!code)
        code = session_open(&session, options, argv[0], label);
    if (!code) {
        session_lock_options(&session, &lock_options);
        code = session_lock(&session, &lock, &lock_options);
    }
    if (!code)
        code = acquire(&session, lock, label);
    /* Whatever is still held was meant to stay. */
    ql_lock_leave(lock);
    session_close(&session);
    return code;
}
