/* SPDX-License-Identifier: BSD-2-Clause */
#include "story_actions.h"

#include <inttypes.h>

static bool has_ttl(const struct ql_action *action)
{
    return action->request == QL_REQ_ACQUIRE ||
           action->request == QL_REQ_EXTEND;
}

static bool has_fence(const struct ql_action *action)
{
    return action->request == QL_REQ_CONFIRM ||
           action->request == QL_REQ_EXTEND;
}

/* Requests that differ in the node alone. */
static bool is_alike(const struct ql_action *a, const struct ql_action *b)
{
    return b->kind == QL_DO_SEND && a->request == b->request &&
           a->round == b->round && (!has_ttl(a) || a->ttl_ns == b->ttl_ns) &&
           (!has_fence(a) || a->fence == b->fence);
}

/* "ask acquire of n1 n3": one phrase for all nodes that are sent the same. */
static unsigned write_asked(struct story_text *trace,
                            const struct ql_machine *m,
                            const struct ql_actions *actions, unsigned from)
{
    const struct ql_action *first = &actions->list[from];
    unsigned count = 0;
    bool in_order = true;

    while (from + count < actions->count &&
           is_alike(first, &actions->list[from + count])) {
        in_order = in_order && actions->list[from + count].node == count;
        count++;
    }
    story_write(trace, "ask %s", ql_request_name(first->request));
    if (has_fence(first) && first->fence > 0)
        story_write(trace, " #%" PRIu64, first->fence);
    if (has_ttl(first) && first->ttl_ns != m->terms->ttl_ns)
        story_write(trace, " %s", story_time(first->ttl_ns));
    story_write(trace, " of");
    if (in_order && count == m->rules->nodes)
        story_write(trace, " all");
    else
        for (unsigned i = 0; i < count; i++)
            story_write(trace, " n%u", actions->list[from + i].node + 1);
    return count;
}

static void write_told(struct story_text *trace, const struct ql_machine *m,
                       uint64_t now, enum ql_outcome outcome)
{
    uint64_t valid = ql_machine_valid_ns(m, now);

    story_write_capitals(trace, ql_outcome_name(outcome));
    if (m->fence > 0 &&
        (outcome == QL_OUT_ACQUIRED || outcome == QL_OUT_EXTENDED))
        story_write(trace, " #%" PRIu64, m->fence);
    if (m->died && outcome == QL_OUT_ACQUIRED)
        story_write(trace, " after a death");
    if (valid > 0 && outcome != QL_OUT_HELD)
        story_write(trace, ", valid for %s", story_time(valid));
}

void story_write_actions(struct story_text *trace, const struct ql_machine *m,
                         uint64_t now, const struct ql_actions *actions)
{
    unsigned i = 0;

    while (i < actions->count) {
        const struct ql_action *action = &actions->list[i];

        story_write_action(trace);
        switch (action->kind) {
        case QL_DO_TOKEN:
            story_write(trace, "token");
            i++;
            break;
        case QL_DO_SEND:
            i += write_asked(trace, m, actions, i);
            break;
        case QL_DO_TELL:
            write_told(trace, m, now, action->outcome);
            i++;
            break;
        }
    }
}
