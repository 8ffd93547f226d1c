/* SPDX-License-Identifier: BSD-2-Clause */
/* Who holds the lock, by what most nodes say. */
#include "cli/holder.h"

#include <stdio.h>
#include <string.h>

#include "cli/duration.h"

static struct holder holder_like(const ql_node_report *report, unsigned nodes,
                                 const char *label)
{
    struct holder holder = {label, -1, 0};

    for (unsigned i = 0; i < nodes; i++) {
        if (report[i].verdict != QL_V_HELD || strcmp(report[i].text, label))
            continue;
        holder.nodes++;
        if (report[i].remaining_ms > holder.remaining_ms)
            holder.remaining_ms = report[i].remaining_ms;
    }
    return holder;
}

bool holder_find(const ql_lock *lock, unsigned nodes, struct holder *ret_holder)
{
    const ql_node_report *report = ql_lock_report(lock);
    struct holder best = {"", -1, 0};

    for (unsigned i = 0; report && i < nodes; i++) {
        struct holder holder;

        if (report[i].verdict != QL_V_HELD)
            continue;
        holder = holder_like(report, nodes, report[i].text);
        if (holder.nodes > best.nodes ||
            (holder.nodes == best.nodes && !best.label[0]))
            best = holder;
    }
    if (best.nodes)
        *ret_holder = best;
    return best.nodes > 0;
}

const char *holder_text(char text[HOLDER_TEXT], const struct holder *holder)
{
    const char *label = holder->label[0] ? holder->label : "another";
    char remaining[DURATION_TEXT];

    if (holder->remaining_ms < 0)
        snprintf(text, HOLDER_TEXT, "held by %.*s", QL_LABEL_MAX, label);
    else
        snprintf(text, HOLDER_TEXT, "held by %.*s for another %s", QL_LABEL_MAX,
                 label, duration_text(remaining, holder->remaining_ms));
    return text;
}
