/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes' answers as text. */
#include "cli/report.h"

#include <stdio.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/holder.h"
#include "cli/json.h"
#include "cli/say.h"

bool report_usable(ql_verdict verdict)
{
    return verdict == QL_V_GRANTED || verdict == QL_V_HELD ||
           verdict == QL_V_MISSING;
}

int report_width(const ql_lock *lock, unsigned nodes)
{
    const ql_node_report *report = ql_lock_report(lock);
    size_t width = 0;

    for (unsigned i = 0; report && i < nodes; i++)
        if (strlen(report[i].address) > width)
            width = strlen(report[i].address);
    return width < 200 ? (int)width : 200;
}

const char *report_node_text(char text[NODE_TEXT], const ql_node_report *node,
                             int width)
{
    char remaining[DURATION_TEXT];
    int used =
        snprintf(text, NODE_TEXT, "%-*.200s  %-10s  %.*s", width, node->address,
                 ql_verdict_word(node->verdict), QL_TEXT_MAX, node->text);

    if (node->verdict == QL_V_HELD && node->remaining_ms >= 0)
        used += snprintf(text + used, (size_t)(NODE_TEXT - used),
                         ", for another %s",
                         duration_text(remaining, node->remaining_ms));
    if (node->took_us >= 0)
        used += snprintf(text + used, (size_t)(NODE_TEXT - used), " (%.1f ms)",
                         (double)node->took_us / 1000);
    while (used > 0 && text[used - 1] == ' ')
        text[--used] = '\0';
    return text;
}

/* "too few nodes could be used: 2 of 5 answered, 3 must agree" */
static void say_count(const struct session *session,
                      const ql_node_report *report, const char *name,
                      int result)
{
    unsigned nodes = ql_client_nodes(session->client), usable = 0;

    for (unsigned i = 0; i < nodes; i++)
        usable += report_usable(report[i].verdict);
    say("%s: %s: %u of %u answered, %u must agree", name,
        ql_result_text(result), usable, nodes,
        ql_client_quorum(session->client));
}

static void say_nodes(const struct session *session, const ql_lock *lock)
{
    const ql_node_report *report = ql_lock_report(lock);
    unsigned nodes = ql_client_nodes(session->client);
    int width = report_width(lock, nodes);
    char line[NODE_TEXT];

    for (unsigned i = 0; i < nodes; i++)
        say("  %s", report_node_text(line, &report[i], width));
}

void report_failure(const struct session *session, const ql_lock *lock,
                    int result, int exit_code)
{
    const ql_node_report *report = ql_lock_report(lock);
    char name[SAY_NAME], text[HOLDER_TEXT];
    struct holder holder;

    if (session->options->quiet)
        return;
    say_name(name, session->name);
    if (session->options->json) {
        json_print(json_outcome(session, lock, result, exit_code), stderr);
    } else if (result == QL_HELD &&
               holder_find(lock, ql_client_nodes(session->client), &holder)) {
        say("%s: %s", name, holder_text(text, &holder));
    } else if (result == QL_HELD || !report) {
        say("%s: %s", name, ql_result_text(result));
    } else {
        say_count(session, report, name, result);
        say_nodes(session, lock);
    }
}
