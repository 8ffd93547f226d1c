/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock members: shows the group, or changes it by one server.
 *
 * Majorities of two lists that differ by one server always meet, those of lists
 * that differ by two need not. So while clients go over from one list to the
 * next, both are served; and before a further step the older one is retired and
 * what it granted is waited for. Each step leaves on the nodes how far it came,
 * so the same command carries on where it was interrupted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/exit_code.h"
#include "cli/group_table.h"
#include "cli/members.h"
#include "cli/say.h"
#include "cli/verb.h"

/* --- Which servers -----------------------------------------------------------
 */

/* The same as the last one: the same process, or the same words. */
static int find_twin(const struct change *change)
{
    const struct admin_node *last = change_target(change);

    for (unsigned i = 0; i < change->members; i++) {
        const struct admin_node *node = change_node(change, i);

        if (!strcmp(node->address.display, last->address.display) ||
            (last->sight.run_id[0] &&
             !strcmp(node->sight.run_id, last->sight.run_id)))
            return (int)i;
    }
    return -1;
}

static int open_list(struct change *change, const struct options *options,
                     char *url)
{
    int code = operator_open(&change->operator, options), result;
    char error[512];

    if (code)
        return code;
    result = admin_add(&change->operator.admin, url, error, sizeof(error));
    options_hide_password(url);
    if (result) {
        say("%s", result == QL_E_INVALID ? error : ql_result_text(result));
        return result == QL_E_INVALID ? EXIT_BAD_USAGE : EXIT_OS;
    }
    return 0;
}

static int look(struct change *change)
{
    struct admin *admin = &change->operator.admin;
    int twin;

    admin_look_all(admin);
    change->members = admin->count - 1;
    twin = find_twin(change);
    if (twin >= 0) { /* the list may have its password */
        struct admin_node last = *change_target(change);

        *change_target(change) = *change_node(change, (unsigned)twin);
        *change_node(change, (unsigned)twin) = last;
        admin_drop(admin, (unsigned)twin);
        change->members--;
    }
    if (change->members == 0) {
        say(change->adds ? "the list of servers must have the group's members"
                         : "the last member cannot be removed");
        return EXIT_BAD_USAGE;
    }
    if (change->adds && change->members == QL_NODES_MAX) {
        say("a group has at most %d nodes", QL_NODES_MAX);
        return EXIT_BAD_USAGE;
    }
    admin_members_text(change->list, admin,
                       change->adds ? -1 : (int)change->members);
    return operator_refuse_unfit(&change->operator,
                                 change->adds ? -1 : (int)change->members);
}

/* --- Before the step
 * ----------------------------------------------------------- */

/* A node that has just lost something would be told of neither list. */
static int refuse_unready(struct change *change)
{
    struct operator* operator= & change->operator;
    struct admin *admin = &operator->admin;
    int code = 0;

    admin->count = change->members + !change->adds; /* as the old list says */
    admin_tend(admin, &operator->group);
    for (unsigned i = 0; i < change->members; i++) {
        const struct ql_standing *standing = &operator->group.node[i];

        if (standing->verdict == QL_V_GRANTED)
            continue;
        say("%s %s (%s): every member must be ready; run the same again then",
            change_address(change, i), ql_verdict_word(standing->verdict),
            standing->text);
        code = EXIT_NO_QUORUM;
    }
    admin->count = change->members + 1;
    return code;
}

static bool is_settled(const struct change *change)
{
    for (unsigned i = 0; i < change->members; i++)
        if (change_record(change, i)->prev[0])
            return false;
    return true;
}

static int settle(struct change *change)
{
    char question[QL_MEMBERS_MAX + 256];
    int code;

    if (is_settled(change))
        return 0;
    snprintf(question, sizeof(question),
             "the list before the last change is retired now: clients that "
             "still use it will be refused. By now all must use %s",
             change_record(change, 0)->members);
    code = operator_confirm(&change->operator, question);
    for (unsigned i = 0; !code && i < change->members; i++)
        if (!admin_settle(&change->operator.admin, i))
            code = operator_say_failed(&change->operator, i,
                                       "the list before is not retired; run "
                                       "the same again");
    return code;
}

/* What is left until all that the retired list granted has ended. The first
 * list has none before it. */
static uint64_t left_us(const struct change *change)
{
    const struct admin *admin = &change->operator.admin;
    uint64_t longest = 0;
    struct admin_cfg cfg;

    for (unsigned i = 0; i < change->members; i++) {
        const struct ql_record *record = change_record(change, i);
        uint64_t until =
            record->at_us +
            admin_wait_us(admin, record->max_ttl_ms, record->slack_ms);
        uint64_t now = admin_time_now(change_node(change, i));

        if (admin_cfg_read(&cfg, record->cfg) && cfg.epoch > 1 && until > now &&
            until - now > longest)
            longest = until - now;
    }
    return longest;
}

/* Returns when the step may be taken; all has been looked at then. */
static int prepare(struct change *change)
{
    int code = change_find_place(change);

    while (!code && !change->begun) {
        uint64_t left;

        code = refuse_unready(change);
        if (!code)
            code = settle(change);
        left = left_us(change);
        if (code || left == 0)
            return code;
        operator_wait(&change->operator, now_ns() + (int64_t)left * 1000,
                      "locks of the retired list to end");
        code = look(change);
        if (!code)
            code = change_find_place(change);
    }
    return code;
}

/* --- The step
 * ------------------------------------------------------------------ */

/*
 * The member that all who would change the group at once begin with: only one
 * of them gets beyond it.
 */
static unsigned find_first(const struct change *change)
{
    unsigned first = 0;

    for (unsigned i = 1; i < change->members; i++)
        if (strcmp(change_node(change, i)->sight.run_id,
                   change_node(change, first)->sight.run_id) < 0)
            first = i;
    return first;
}

static int next(struct change *change, unsigned i)
{
    if (admin_next(&change->operator.admin, i, change->old_cfg, change->new_cfg,
                   change->list))
        return 0;
    return operator_say_failed(&change->operator, i,
                               "not told of the new list; run the same again");
}

/* An unreachable node that goes is not told: what it grants counts for nothing
 * as soon as the members do not serve its list any more. */
static int dismiss(struct change *change)
{
    struct admin_node *target = change_target(change);

    if (!target->sight.reachable)
        say("%s could not be told (%s): do not put it to use elsewhere before "
            "its key %s has been deleted",
            target->address.display, ql_verdict_word(target->verdict),
            ADMIN_NODE_KEY);
    else if (change_left_over(change, &target->sight.record) &&
             !admin_remove(&change->operator.admin, change->members))
        return operator_say_failed(&change->operator, change->members,
                                   "not told that it is removed; run the same "
                                   "again");
    return 0;
}

static int join(struct change *change)
{
    struct admin *admin = &change->operator.admin;
    unsigned i = change->members;

    if (change_left_over(change, change_record(change, i)) &&
        !admin_remove(admin, i))
        return operator_say_failed(&change->operator, i,
                                   "not added; run the same again");
    if (!admin_join(admin, i, change_record(change, 0), change->list))
        return operator_say_failed(&change->operator, i,
                                   "not added; run the same again");
    return 0;
}

static int step(struct change *change)
{
    unsigned first = find_first(change);
    int code = change_plan(change, first);

    if (!code && change_is_old(change, first))
        code = next(change, first);
    for (unsigned i = 0; !code && i < change->members; i++)
        if (i != first && change_is_old(change, i))
            code = next(change, i);
    if (!code)
        code = change->adds ? join(change) : dismiss(change);
    return code;
}

static int report(struct change *change)
{
    struct operator* operator= & change->operator;
    unsigned count;
    int code;

    if (!change->adds)
        admin_drop(&operator->admin, change->members);
    count = operator->admin.count;
    operator->admin.quorum = count / 2 + 1;
    admin_judge(&operator->admin, &operator->group);
    code = group_table_print(operator, NULL);
    if (code || operator->options->json || operator->options->quiet)
        return code;
    printf("clients must now use %s\n", change->list);
    if (count % 2 == 0)
        printf("%u nodes survive the loss of no more than %u do: add another "
               "one\n",
               count, count - 1);
    return fflush(stdout) ? EXIT_OS : 0;
}

static int change_list(struct change *change)
{
    int code = look(change);

    if (!code)
        code = prepare(change);
    if (!code)
        code = step(change);
    return code ? code : report(change);
}

/* --- The verb
 * ------------------------------------------------------------------- */

static int change_by(const struct options *options, bool adds, char *url)
{
    struct change change = {.adds = adds};
    char *copy = strdup(url);
    int code = EXIT_OS;

    options_hide_password(url);
    if (copy)
        code = open_list(&change, options, copy);
    else
        say("out of memory");
    if (!code)
        code = change_list(&change);
    if (copy)
        explicit_bzero(copy, strlen(copy));
    free(copy);
    operator_close(&change.operator);
    return code;
}

static int retire(struct change *change)
{
    struct operator* operator= & change->operator;
    const struct ql_record *newest;
    struct admin_cfg cfg;
    int code;

    admin_look_all(&operator->admin);
    change->members = operator->admin.count;
    code = operator_refuse_unfit(operator, - 1);
    if (code)
        return code;
    newest = change_newest(change);
    if (!newest)
        return EXIT_BAD_CONFIG;
    admin_cfg_read(&cfg, newest->cfg);
    if (cfg.nodes != change->members)
        return change_refuse_list(newest);
    if (!change_all_serve(change, newest->cfg)) {
        say("the last change has not ended, to the members %s: complete that "
            "first",
            newest->members);
        return EXIT_BAD_CONFIG;
    }
    code = settle(change);
    admin_judge(&operator->admin, &operator->group);
    return code ? code : group_table_print(operator, NULL);
}

static int show(struct operator* operator)
{
    unsigned ready = 0;
    int code;

    admin_look_all(&operator->admin);
    admin_judge(&operator->admin, &operator->group);
    for (unsigned i = 0; i < operator->admin.count; i++)
        ready += operator->group.node[i].verdict == QL_V_GRANTED;
    code = group_table_print(operator, NULL);
    if (code)
        return code;
    return ready >= operator->admin.quorum ? EXIT_DONE : EXIT_NO_QUORUM;
}

int verb_members(const struct options *options, int argc, char **argv)
{
    struct change change = {.adds = false};
    int code;

    if (argc == 2 && !strcmp(argv[0], "add"))
        return change_by(options, true, argv[1]);
    if (argc == 2 && !strcmp(argv[0], "remove"))
        return change_by(options, false, argv[1]);
    if (argc == 2 || (argc == 1 && strcmp(argv[0], "settle") &&
                      strcmp(argv[0], "abandon"))) {
        say("usage: quorlock members [options] [add URL | remove URL | "
            "settle | abandon]");
        return EXIT_BAD_USAGE;
    }
    code = operator_open(&change.operator, options);
    if (!code && argc)
        code = *argv[0] == 's' ? retire(&change) : change_abandon(&change);
    else if (!code)
        code = show(&change.operator);
    operator_close(&change.operator);
    return code;
}
