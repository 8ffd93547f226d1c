/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock force-release: takes a lock away from whoever holds it, and from
 * nobody who gets it meanwhile.
 */
#include <stdio.h>
#include <string.h>

#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/lock_view.h"
#include "cli/say.h"
#include "cli/verb.h"

struct force {
    struct operator operator;
    struct lock_view before, after;
    char name[SAY_NAME];
    unsigned released; /* nodes */
};

/* What is no token of anybody's could be data. */
static int refuse(const struct force *force)
{
    const struct operator* operator= & force->operator;

    for (unsigned i = 0; i < operator->admin.count; i++) {
        const struct admin_lock *lock = &force->before.lock[i];

        if (!lock->held || lock->token_len > 0)
            continue;
        say("%s: on %s the key %s holds something that is no lock: nothing was "
            "changed",
            force->name, operator_address(operator, i), force->name);
        return EXIT_BAD_CONFIG;
    }
    return 0;
}

static void say_victims(const struct force *force)
{
    const struct operator* operator= & force->operator;
    char text[LOCK_VIEW_TEXT], label[QL_TEXT_MAX];

    say("%s: %s", force->name, lock_view_text(text, &force->before, operator));
    if (force->before.result == QL_HELD && !force->before.holder.others)
        return;
    for (unsigned i = 0; i < operator->admin.count; i++)
        if (force->before.lock[i].held)
            say("  %s: held by %s", operator_address(operator, i),
                admin_lock_label(label, &force->before.lock[i])[0] ? label
                                                                   : "another");
}

static int confirm(const struct force *force)
{
    if (!force->operator.options->quiet || !force->operator.options->yes)
        say_victims(force);
    return operator_confirm(
        &force->operator,
        "it is taken away, and its holder is not told: until he notices, at "
        "his next renewal, there may be two");
}

/* On each node from the one whom it shows; on the others from the one whom most
 * show, who may have got there since. */
static void take_away(struct force *force)
{
    struct admin *admin = &force->operator.admin;

    for (unsigned i = 0; i < admin->count; i++) {
        const struct admin_lock *seen = &force->before.lock[i];
        int done;

        if (!seen->held)
            seen = force->before.holder.lock;
        done =
            admin_lock_force(admin, &admin->node[i], &force->before.name, seen);
        if (done < 0)
            say("%s: not released: %s (%s)", admin->node[i].address.display,
                ql_verdict_word(admin->node[i].verdict), admin->node[i].text);
        force->released += done > 0;
    }
}

static int report(struct force *force)
{
    const struct operator* operator= & force->operator;
    char text[LOCK_VIEW_TEXT];
    int code;

    lock_view_look(&force->after, &force->operator, & force->before.name);
    code = force->after.holder.free >=
                   operator->admin.quorum ||(
                       force->after.holder.lock &&
                       force->after.holder.nodes >=
                           operator->admin.quorum && !admin_lock_same(
                               force->after.holder.lock,
                               force->before.holder.lock))
               ? EXIT_DONE
               : EXIT_NO_QUORUM;
    if (operator->options->json && !operator->options->quiet) {
        json_t *object = lock_view_json(&force->after, operator);

        json_object_set_new(object, "released", json_integer(force->released));
        json_object_set_new(object, "exit_code", json_integer(code));
        return json_print(object, stdout) ? EXIT_OS : code;
    }
    if (!operator->options->quiet || code)
        say("%s: released on %u of %u nodes; now %s", force->name,
            force->released, operator->admin.count,
            lock_view_text(text, &force->after, operator));
    return code;
}

static int force_release(struct force *force, const char *name)
{
    struct admin_name key = {name, strlen(name)};
    struct operator* operator= & force->operator;
    int code;

    say_name(force->name, name);
    lock_view_look(&force->before, operator, & key);
    if (!force->before.holder.lock) {
        code = force->before.result == QL_OK ? EXIT_HELD : EXIT_NO_QUORUM;
        if (force->before.result == QL_OK)
            say("%s: nobody holds it", force->name);
        else
            lock_view_print(&force->before, operator);
        return code;
    }
    code = refuse(force);
    if (!code)
        code = confirm(force);
    if (code)
        return code;
    take_away(force);
    return report(force);
}

int verb_force_release(const struct options *options, int argc, char **argv)
{
    struct force force = {.released = 0};
    int code = operator_open(&force.operator, options);

    (void)argc;
    if (!code)
        code = force_release(&force, argv[0]);
    operator_close(&force.operator);
    return code;
}
