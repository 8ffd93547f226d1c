/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock extend NAME TOKEN: lets the lock last --ttl from now, if a majority
 * still has the token.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/adopt.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/report.h"
#include "cli/say.h"
#include "cli/verb.h"

static int extended(const struct session *session, const ql_lock *lock)
{
    char name[SAY_NAME];
    json_t *object;

    session_warn(session);
    if (session->options->verbose)
        say("%s: extended, valid for %" PRId64 " ms",
            say_name(name, session->name), ql_lock_valid_ms(lock));
    if (!session->options->json || session->options->quiet)
        return EXIT_DONE;
    object = json_outcome(session, lock, QL_OK, EXIT_DONE);
    json_object_set_new(object, "ttl_ms",
                        json_integer(session->options->ttl_ms));
    json_object_set_new(object, "valid_ms",
                        json_integer(ql_lock_valid_ms(lock)));
    json_set_fence(object, lock);
    return json_print(object, stdout) ? EXIT_OS : EXIT_DONE;
}

static int extend(const struct session *session, ql_lock *lock)
{
    int result = ql_lock_extend(lock, 0);
    int code = exit_code_of(result);

    if (result == QL_OK)
        return extended(session, lock);
    if (result == QL_GONE)
        adopt_say_gone(session, lock, "extended");
    else
        report_failure(session, lock, result, code);
    return code;
}

int verb_extend(const struct options *options, int argc, char **argv)
{
    struct session session = {0};
    ql_lock *lock = NULL;
    int code = adopt_open(&session, options, argv[0], argv[1], &lock);

    (void)argc;
    if (!code)
        code = extend(&session, lock);
    ql_lock_leave(lock);
    session_close(&session);
    return code;
}
