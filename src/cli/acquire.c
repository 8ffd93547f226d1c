/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock acquire NAME: takes the lock, prints its token and leaves it to
 * whoever knows that. Nobody renews it: it lasts for the ttl.
 */
#include <inttypes.h>
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
    return object;
}

/* A token that nobody has read would lock everybody out until the ttl ends. */
static int print_token(const struct session *session, ql_lock *lock,
                       const char *label)
{
    int failed;

    if (session->options->json)
        failed = json_print(token_object(session, lock, label), stdout);
    else
        failed = printf("%s\n", ql_lock_token(lock)) < 0 || fflush(stdout);
    if (!failed)
        return EXIT_DONE;
    say("the token could not be written, so the lock is released");
    ql_lock_release(lock);
    return EXIT_OS;
}

static int acquire(const struct session *session, ql_lock *lock,
                   const char *label)
{
    int signal, result = waiting_acquire(session, lock, 0, &signal);
    char name[SAY_NAME];

    if (result == QL_OK && signal)
        ql_lock_release(lock);
    if (result != QL_OK || signal)
        return waiting_failed(session, lock, result, signal);
    session_warn(session);
    if (session->options->verbose)
        say("%s: acquired for %" PRId64 " ms", say_name(name, session->name),
            ql_lock_valid_ms(lock));
    return print_token(session, lock, label);
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
