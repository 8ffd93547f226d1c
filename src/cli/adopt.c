/* SPDX-License-Identifier: BSD-2-Clause */
/* A lock that another process acquired. */
#include "cli/adopt.h"

#include "cli/exit_code.h"
#include "cli/holder.h"
#include "cli/json.h"
#include "cli/say.h"

int adopt_open(struct session *session, const struct options *options,
               const char *name, const char *token, ql_lock **ret_lock)
{
    ql_lock_options lock_options;
    int code = session_open(session, options, name, NULL), result;

    if (code)
        return code;
    session_lock_options(session, &lock_options);
    code = session_lock(session, ret_lock, &lock_options);
    if (code)
        return code;
    result = ql_lock_adopt(*ret_lock, token);
    if (result == QL_OK)
        return 0;
    if (result == QL_E_INVALID)
        say("the token must have 1 to %d printable characters and no space",
            QL_TOKEN_MAX);
    else
        say("cannot use the token: %s", ql_result_text(result));
    return exit_code_of(result);
}

void adopt_say_gone(const struct session *session, ql_lock *lock,
                    const char *what)
{
    char name[SAY_NAME], text[HOLDER_TEXT];
    struct holder holder;

    if (session->options->quiet)
        return;
    if (session->options->json)
        json_print(json_outcome(session, lock, QL_GONE, EXIT_HELD), stdout);
    else if (holder_find(lock, ql_client_nodes(session->client), &holder))
        say("%s: not %s: this token does not hold it, it is %s",
            say_name(name, session->name), what, holder_text(text, &holder));
    else
        say("%s: not %s: this token does not hold it, nobody does any more",
            say_name(name, session->name), what);
}
