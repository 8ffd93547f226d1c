/* SPDX-License-Identifier: BSD-2-Clause */
/* One lock, node by node. */
#include "cli/lock_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/say.h"

/* As ql_lock_inspect() decides. */
void lock_view_count(struct lock_view *view, const struct operator* operator)
{
    const struct admin *admin = &operator->admin;
    struct admin_holder holder = admin_holder_of(view->lock, admin->count);

    view->holder = holder;
    if (holder.nodes >= admin->quorum)
        view->result = QL_HELD;
    else if (holder.free >= admin->quorum)
        view->result = QL_OK;
    else if (holder.known < admin->quorum)
        view->result = QL_E_QUORUM;
    else
        view->result = QL_E_SPLIT;
}

void lock_view_look(struct lock_view *view, struct operator* operator,
                    const struct admin_name * name)
{
    struct admin *admin = &operator->admin;

    view->name = *name;
    for (unsigned i = 0; i < admin->count; i++)
        admin_lock_look(admin, &admin->node[i], &view->name, &view->lock[i]);
    lock_view_count(view, operator);
}

const char *lock_view_state(const struct lock_view *view)
{
    switch (view->result) {
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

/* --- For people
 * ------------------------------------------------------------------ */

const char *lock_view_text(char text[LOCK_VIEW_TEXT],
                           const struct lock_view *view,
                           const struct operator* operator)
{
    const struct admin_holder *holder = &view->holder;
    unsigned nodes = operator->admin.count;
    char label[QL_TEXT_MAX], left[DURATION_TEXT];
    int used;

    if (view->result == QL_OK)
        return strcpy(text, "free");
    if (view->result == QL_E_QUORUM) {
        snprintf(text, LOCK_VIEW_TEXT,
                 "cannot tell: %u of %u nodes answered, %u must", holder->known,
                 nodes, operator->admin.quorum);
        return text;
    }
    if (view->result == QL_E_SPLIT) {
        snprintf(text, LOCK_VIEW_TEXT,
                 "split: no holder has a majority of the %u nodes", nodes);
        return text;
    }
    admin_lock_label(label, holder->lock);
    used = snprintf(text, LOCK_VIEW_TEXT, "held by %s",
                    label[0] ? label : "another");
    if (holder->remaining_ms >= 0)
        used += snprintf(text + used, LOCK_VIEW_TEXT - (size_t)used,
                         " for another %s",
                         duration_text(left, holder->remaining_ms));
    if (holder->fence)
        used += snprintf(text + used, LOCK_VIEW_TEXT - (size_t)used,
                         ", fence %" PRIu64, holder->fence);
    snprintf(text + used, LOCK_VIEW_TEXT - (size_t)used, " (%u of %u nodes)",
             holder->nodes, nodes);
    return text;
}

static int width_of(const struct operator* operator)
{
    int width = 0;

    for (unsigned i = 0; i < operator->admin.count; i++) {
        int length = (int)strlen(operator_address(operator, i));

        if (length > width && length < 200)
            width = length;
    }
    return width;
}

static const char *word_of(const struct admin_lock *lock,
                           const struct admin_node *node)
{
    if (!lock->known)
        return ql_verdict_word(node->verdict);
    return lock->held ? "held" : "free";
}

static void print_node(const struct lock_view *view,
                       const struct operator* operator, unsigned i)
{
    const struct admin_node *node = &operator->admin.node[i];
    const struct admin_lock *lock = &view->lock[i];
    char left[DURATION_TEXT] = "-", fence[32] = "-", label[QL_TEXT_MAX] = "";

    if (lock->held && lock->remaining_ms >= 0)
        duration_text(left, lock->remaining_ms);
    if (lock->fence)
        snprintf(fence, sizeof(fence), "%" PRIu64, lock->fence);
    if (lock->held)
        admin_lock_label(label, lock);
    printf("  %-*s  %-10s  %10s  %16s  %-8s  %s\n", width_of(operator),
           node->address.display, word_of(lock, node), left, fence,
           lock->state[0] ? lock->state : "-",
           lock->known ? label : node->text);
}

/* A node that has missed a lock is no trouble; two holders are. */
static void print_disagreement(const struct lock_view *view)
{
    const struct admin_holder *holder = &view->holder;

    if (!holder->lock || (!holder->others && !holder->free &&
                          holder->fences % holder->nodes == 0))
        return;
    printf("the nodes disagree: %u have this holder, %u another one, %u "
           "nobody",
           holder->nodes, holder->others, holder->free);
    if (holder->fences && holder->fences != holder->nodes)
        printf("; %u of %u have this fence", holder->fences, holder->nodes);
    putchar('\n');
}

void lock_view_print(const struct lock_view *view,
                     const struct operator* operator)
{
    char shown[SAY_NAME], text[LOCK_VIEW_TEXT];

    printf("%s: %s\n", say_name(shown, view->name.text),
           lock_view_text(text, view, operator));
    for (unsigned i = 0; i < operator->admin.count; i++)
        print_node(view, operator, i);
    print_disagreement(view);
}

/* --- JSON
 * -------------------------------------------------------------------------- */

static json_t *number_or_null(bool known, int64_t number)
{
    return known ? json_integer(number) : json_null();
}

static const char *json_word(const struct admin_lock *lock,
                             const struct admin_node *node)
{
    if (!lock->known)
        return ql_verdict_word(node->verdict);
    return ql_verdict_word(lock->held ? QL_V_HELD : QL_V_MISSING);
}

static json_t *node_object(const struct lock_view *view,
                           const struct operator* operator, unsigned i)
{
    const struct admin_node *node = &operator->admin.node[i];
    const struct admin_lock *lock = &view->lock[i];
    json_t *object = json_object();
    char label[QL_TEXT_MAX] = "";

    if (lock->held)
        admin_lock_label(label, lock);
    json_object_set_new(object, "address", json_text(node->address.display));
    json_object_set_new(object, "verdict", json_text(json_word(lock, node)));
    json_object_set_new(object, "text",
                        json_text(lock->known ? label : node->text));
    json_object_set_new(object, "remaining_ms",
                        number_or_null(lock->held && lock->remaining_ms >= 0,
                                       lock->remaining_ms));
    json_object_set_new(object, "fence",
                        number_or_null(lock->fence, (int64_t)lock->fence));
    json_object_set_new(object, "record", json_text(lock->state));
    return object;
}

static json_t *holder_object(const struct lock_view *view)
{
    const struct admin_holder *holder = &view->holder;
    char label[QL_TEXT_MAX];
    json_t *object;

    if (!holder->lock)
        return json_null();
    object = json_object();
    json_object_set_new(object, "label",
                        json_text(admin_lock_label(label, holder->lock)));
    json_object_set_new(
        object, "remaining_ms",
        number_or_null(holder->remaining_ms >= 0, holder->remaining_ms));
    json_object_set_new(object, "nodes", json_integer(holder->nodes));
    return object;
}

json_t *lock_view_json(const struct lock_view *view,
                       const struct operator* operator)
{
    json_t *object = json_object(), *nodes = json_array();

    for (unsigned i = 0; i < operator->admin.count; i++)
        json_array_append_new(nodes, node_object(view, operator, i));
    json_object_set_new(object, "name", json_text(view->name.text));
    json_object_set_new(object, "result",
                        json_text(ql_result_name(view->result)));
    json_object_set_new(object, "message",
                        json_text(ql_result_text(view->result)));
    json_object_set_new(object, "exit_code",
                        json_integer(exit_code_of(view->result)));
    json_object_set_new(object, "quorum", json_integer(operator->admin.quorum));
    json_object_set_new(object, "state", json_text(lock_view_state(view)));
    json_object_set_new(
        object, "fence",
        number_or_null(view->holder.fence, (int64_t)view->holder.fence));
    json_object_set_new(object, "holder", holder_object(view));
    json_object_set_new(object, "nodes", nodes);
    return object;
}
