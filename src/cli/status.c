/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock status NAME: who holds the lock, node by node. Touches nothing.
 */
#include <stdio.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/holder.h"
#include "cli/json.h"
#include "cli/lock_view.h"
#include "cli/report.h"
#include "cli/say.h"
#include "cli/verb.h"

/* The one word for --json. */
static const char *state_word(int result)
{
    switch (result) {
    case QL_OK:
        return "free";
    case QL_HELD:
        return "held";
    case QL_E_SPLIT:
        return "split";
    default:
        return "unknown";
    }
}

static void print_headline(const struct session *session, const ql_lock *lock,
                           int result)
{
    unsigned nodes = ql_client_nodes(session->client);
    char name[SAY_NAME], text[HOLDER_TEXT];
    struct holder holder;

    say_name(name, session->name);
    if (result == QL_OK)
        printf("%s: free\n", name);
    else if (result == QL_HELD && holder_find(lock, nodes, &holder))
        printf("%s: %s (%u of %u nodes)\n", name, holder_text(text, &holder),
               holder.nodes, nodes);
    else if (result == QL_HELD)
        printf("%s: held\n", name);
    else if (result == QL_E_SPLIT)
        printf("%s: split: no holder has a majority of the %u nodes\n", name,
               nodes);
    else
        printf("%s: cannot tell: %s\n", name, ql_result_text(result));
}

/* The verdict of a node that has no key reads better as what it means here. */
static const char *word_of(const ql_node_report *node)
{
    return node->verdict == QL_V_MISSING ? "free"
                                         : ql_verdict_word(node->verdict);
}

static void print_nodes(const struct session *session, const ql_lock *lock)
{
    const ql_node_report *report = ql_lock_report(lock);
    unsigned nodes = ql_client_nodes(session->client);
    int width = report_width(lock, nodes);

    for (unsigned i = 0; report && i < nodes; i++) {
        const ql_node_report *node = &report[i];
        char remaining[DURATION_TEXT] = "-";

        if (node->remaining_ms >= 0)
            duration_text(remaining, node->remaining_ms);
        printf("  %-*s  %-10s  %10s  %s\n", width, node->address, word_of(node),
               remaining, node->text);
    }
}

static int print_json(const struct session *session, const ql_lock *lock,
                      int result, int code)
{
    json_t *object = json_outcome(session, lock, result, code);

    json_object_set_new(object, "state", json_text(state_word(result)));
    return json_print(object, stdout);
}

static int status(const struct session *session, ql_lock *lock)
{
    int result = ql_lock_inspect(lock);
    int code = exit_code_of(result), failed = 0;

    if (session->options->quiet)
        return code;
    if (session->options->json) {
        failed = print_json(session, lock, result, code);
    } else {
        print_headline(session, lock, result);
        print_nodes(session, lock);
        failed = fflush(stdout);
    }
    session_warn(session);
    return failed ? EXIT_OS : code;
}

/* --- Guarded -----------------------------------------------------------------
 */

static int status_guarded(struct operator* operator, const char * name)
{
    struct admin_name key = {name, strlen(name)};
    struct lock_view view;
    int code;

    lock_view_look(&view, operator, & key);
    code = exit_code_of(view.result);
    if (operator->options->quiet)
        return code;
    if (operator->options->json)
        return json_print(lock_view_json(&view, operator), stdout) ? EXIT_OS
                                                                   : code;
    lock_view_print(&view, operator);
    return fflush(stdout) ? EXIT_OS : code;
}

/* The lease records are seen by the operators' connections only. */
static int verb_status_guarded(const struct options *options, const char *name)
{
    struct operator operator;
    int code;

    if (!*name || !strncmp(name, "quorlock:", strlen("quorlock:"))) {
        say("the name '%s' must not be empty, or begin with quorlock:", name);
        return EXIT_BAD_USAGE;
    }
    code = operator_open(&operator, options);
    if (!code)
        code = status_guarded(&operator, name);
    operator_close(&operator);
    return code;
}

int verb_status(const struct options *options, int argc, char **argv)
{
    struct session session = {0};
    ql_lock_options lock_options;
    ql_lock *lock = NULL;
    int code;

    (void)argc;
    if (options->level != LEVEL_PLAIN)
        return verb_status_guarded(options, argv[0]);
    code = session_open(&session, options, argv[0], NULL);
    if (!code) {
        session_lock_options(&session, &lock_options);
        code = session_lock(&session, &lock, &lock_options);
    }
    if (!code)
        code = status(&session, lock);
    ql_lock_free(lock);
    session_close(&session);
    return code;
}
