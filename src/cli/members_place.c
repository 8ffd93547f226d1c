/* SPDX-License-Identifier: BSD-2-Clause */
/* How far a change of the group's members is, by the records of the nodes. */
#include <stdio.h>
#include <string.h>

#include "cli/exit_code.h"
#include "cli/group_table.h"
#include "cli/members.h"
#include "cli/say.h"

static bool is_active(const struct ql_record *record)
{
    return record->state == QL_RECORD_READY ||
           record->state == QL_RECORD_QUARANTINE;
}

/* --- How far it is
 * ------------------------------------------------------------ */

static int refuse_member(const struct change *change, unsigned i)
{
    const struct ql_record *record = change_record(change, i);

    if (record->state == QL_RECORD_ABSENT)
        say("%s has no record of a group: if it is a member it has lost its "
            "data; quorlock init, with the group's present list, sees to that",
            change_address(change, i));
    else if (record->state == QL_RECORD_REMOVED)
        say("%s was removed from the group: take it off the list of servers",
            change_address(change, i));
    else
        say("%s belongs to no group that this version can change: see quorlock "
            "init",
            change_address(change, i));
    return EXIT_BAD_CONFIG;
}

const struct ql_record *change_newest(const struct change *change)
{
    struct admin_cfg newest, cfg;
    const struct ql_record *best = NULL;

    for (unsigned i = 0; i < change->members; i++) {
        const struct ql_record *record = change_record(change, i);

        if (!is_active(record) || !admin_cfg_read(&cfg, record->cfg)) {
            refuse_member(change, i);
            return NULL;
        }
        if (best && strcmp(cfg.group, newest.group)) {
            say("%s belongs to another group than %s: its members are %s",
                change_address(change, i), change_address(change, 0),
                record->members);
            return NULL;
        }
        if (!best || cfg.epoch > newest.epoch) {
            best = record;
            newest = cfg;
        }
    }
    return best;
}

int change_refuse_list(const struct ql_record *newest)
{
    say("the list of servers is not the group's: the members are %s",
        newest->members);
    return EXIT_BAD_CONFIG;
}

bool change_all_serve(const struct change *change, const char *cfg)
{
    for (unsigned i = 0; i < change->members; i++)
        if (strcmp(change_record(change, i)->cfg, cfg))
            return false;
    return true;
}

/* A step that has begun is told by its list; which must be ours. */
static int carry_on(struct change *change, const struct ql_record *newest)
{
    if (!admin_members_same(newest->members, change->list)) {
        if (change_all_serve(change, newest->cfg) && !change->adds) {
            say("%s is no member: the members are %s",
                change_target(change)->address.display, newest->members);
            return EXIT_BAD_CONFIG;
        }
        if (change_all_serve(change, newest->cfg))
            return change_refuse_list(newest);
        say("another change has begun and not ended, to the members %s: "
            "complete that first",
            newest->members);
        return EXIT_BAD_CONFIG;
    }
    change->begun = true;
    if (change_all_serve(change, newest->cfg) &&
        !change->operator.options->quiet &&(
            !change->adds ||
            !strcmp(change_target(change)->sight.record.cfg, newest->cfg)))
        say("%s is %s", change_target(change)->address.display,
            change->adds ? "a member already" : "no member");
    snprintf(change->old_cfg, sizeof(change->old_cfg), "%s", newest->prev);
    snprintf(change->new_cfg, sizeof(change->new_cfg), "%s", newest->cfg);
    return 0;
}

static int begin(struct change *change, const struct ql_record *newest,
                 struct admin_cfg cfg)
{
    const struct ql_record *its = &change_target(change)->sight.record;

    if (!change_all_serve(change, newest->cfg)) {
        say("an earlier change has begun and not ended, to the members %s: "
            "complete that first",
            newest->members);
        return EXIT_BAD_CONFIG;
    }
    if (!change->adds && strcmp(its->cfg, newest->cfg) &&
        !admin_members_list(newest->members,
                            change_target(change)->address.display)) {
        say("%s is no member: the members are %s",
            change_target(change)->address.display, newest->members);
        return EXIT_BAD_CONFIG;
    }
    snprintf(change->old_cfg, sizeof(change->old_cfg), "%s", newest->cfg);
    cfg.epoch++;
    cfg.nodes = change->members + change->adds;
    admin_cfg_write(change->new_cfg, &cfg);
    return 0;
}

/* --- The node that comes
 * ------------------------------------------------------ */

bool change_left_over(const struct change *change,
                      const struct ql_record *record)
{
    struct admin_cfg its, ours;

    return is_active(record) && admin_cfg_read(&its, record->cfg) &&
           admin_cfg_read(&ours, change->new_cfg) &&
           !strcmp(its.group, ours.group) && its.epoch < ours.epoch;
}

static int refuse_newcomer(const struct change *change)
{
    const struct ql_record *record = &change_target(change)->sight.record;

    if (record->state == QL_RECORD_ABSENT ||
        record->state == QL_RECORD_REMOVED ||
        change_left_over(change, record) ||
        (is_active(record) && !strcmp(record->cfg, change->new_cfg)))
        return 0;
    say("%s belongs to another group already: its members are %s. If that is "
        "not in use any more, DEL %s there",
        change_target(change)->address.display,
        record->members[0] ? record->members : "not known", ADMIN_NODE_KEY);
    return EXIT_BAD_CONFIG;
}

static int find_step(struct change *change)
{
    const struct ql_record *newest = change_newest(change);
    unsigned before = change->members + !change->adds;
    unsigned after = change->members + change->adds;
    struct admin_cfg cfg;

    if (!newest)
        return EXIT_BAD_CONFIG;
    admin_cfg_read(&cfg, newest->cfg);
    if (cfg.nodes == after)
        return carry_on(change, newest);
    if (cfg.nodes == before)
        return begin(change, newest, cfg);
    return change_refuse_list(newest);
}

int change_find_place(struct change *change)
{
    int code = find_step(change);

    return code || !change->adds ? code : refuse_newcomer(change);
}

/* --- What is planned
 * ---------------------------------------------------------- */

/* The same members in another order are the same plan. */
static void take_words(struct change *change)
{
    for (unsigned i = 0; i < change->members; i++) {
        const char *plan = change_record(change, i)->plan;

        if (change_is_old(change, i) && admin_members_same(plan, change->list))
            snprintf(change->list, sizeof(change->list), "%s", plan);
    }
}

static int plan_on(struct change *change, unsigned i)
{
    if (admin_plan(&change->operator.admin, i, change->list))
        return 0;
    if (!change_record(change, i)->plan[0])
        return operator_say_failed(&change->operator, i,
                                   "not told of the plan; run the same again");
    say("another change is planned, to the members %s (on %s): complete that "
        "first; or, if nobody is at work on it, run quorlock members abandon",
        change_record(change, i)->plan, change_address(change, i));
    return EXIT_BAD_CONFIG;
}

/*
 * Before any node goes over all that are in both lists plan it, the first one
 * first; what they answer is as new as what is read of their numbers. The node
 * that goes counts, if it can be had: of two nodes, it is needed.
 */
int change_plan(struct change *change, unsigned first)
{
    unsigned planned = change->members;
    struct admin_cfg old;
    int code;

    if (change_all_serve(change, change->new_cfg))
        return 0;
    take_words(change);
    code = change_is_old(change, first) ? plan_on(change, first) : 0;
    for (unsigned i = 0; !code && i < change->members; i++)
        if (i != first && change_is_old(change, i))
            code = plan_on(change, i);
    if (code || change->begun || !admin_cfg_read(&old, change->old_cfg))
        return code;
    if (!change->adds && change_is_old(change, change->members))
        planned +=
            admin_plan(&change->operator.admin, change->members, change->list);
    if (planned > old.nodes / 2)
        return 0;
    say("no majority of the %u members can be told: the one that goes must be "
        "reachable, too, and ready",
        old.nodes);
    return EXIT_NO_QUORUM;
}

/* If a node has gone over to what was planned, that is to be completed. */
int change_abandon(struct change *change)
{
    struct operator* operator= & change->operator;
    const struct ql_record *newest;
    int code;

    admin_look_all(&operator->admin);
    change->members = operator->admin.count;
    code = operator_refuse_unfit(operator, - 1);
    if (code)
        return code;
    newest = change_newest(change);
    if (!newest)
        return EXIT_BAD_CONFIG;
    if (!change_all_serve(change, newest->cfg)) {
        say("a change has begun, to the members %s: complete that",
            newest->members);
        return EXIT_BAD_CONFIG;
    }
    for (unsigned i = 0; !code && i < change->members; i++)
        if (change_record(change, i)->plan[0] &&
            !admin_abandon(&operator->admin, i))
            code = operator_say_failed(operator, i,
                                       "the plan is not abandoned; run the "
                                       "same again");
    admin_judge(&operator->admin, &operator->group);
    return code ? code : group_table_print(operator, NULL);
}
