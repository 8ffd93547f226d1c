/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock release NAME TOKEN: gives the lock back, if the token holds it.
 */
#include <stdbool.h>
#include <stdio.h>

#include "cli/adopt.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/report.h"
#include "cli/say.h"
#include "cli/verb.h"

/* Where the servers refuse us, "cannot tell" would send people looking for
 * nodes that are down. */
static bool is_refused(const struct session *session, const ql_lock *lock)
{
    const ql_node_report *report = ql_lock_report(lock);
    unsigned nodes = ql_client_nodes(session->client), refused = 0;

    for (unsigned i = 0; report && i < nodes; i++)
        refused += report[i].verdict == QL_V_NOAUTH ||
                   report[i].verdict == QL_V_NOPERM;
    return nodes - refused < ql_client_quorum(session->client);
}

static int release(const struct session *session, ql_lock *lock)
{
    const struct options *options = session->options;
    int result = ql_lock_release(lock);
    int code = exit_code_of(result);
    char name[SAY_NAME];

    if (result == QL_E_UNSURE && is_refused(session, lock)) {
        result = QL_E_AUTH;
        code = EXIT_AUTH;
    }
    if (result == QL_GONE)
        adopt_say_gone(session, lock, "released");
    else if (result != QL_OK)
        report_failure(session, lock, result, code);
    else if (options->json && !options->quiet &&
             json_print(json_outcome(session, lock, QL_OK, EXIT_DONE), stdout))
        code = EXIT_OS;
    else if (options->verbose)
        say("%s: released", say_name(name, session->name));
    return code;
}

int verb_release(const struct options *options, int argc, char **argv)
{
    struct session session = {0};
    ql_lock *lock = NULL;
    int code = adopt_open(&session, options, argv[0], argv[1], &lock);

    (void)argc;
    if (!code)
        code = release(&session, lock);
    ql_lock_leave(lock);
    session_close(&session);
    return code;
}
