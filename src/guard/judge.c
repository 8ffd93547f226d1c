/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From what was seen of the nodes to who may vote. First each server by itself,
 * then the group that its record speaks of, then its place in it.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "guard/judging.h"

#define ADDRESS_MAX 64

unsigned ql_count(const struct ql_judging *j, enum ql_condition condition)
{
    unsigned count = 0;

    for (unsigned i = 0; i < j->view->nodes; i++)
        count += j->condition[i] == condition;
    return count;
}

/* --- The server ------------------------------------------------------------
 */

/* The node before it that is the same process; or itself. */
static unsigned first_of(const struct ql_judging *j, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (ql_sight_at(j, k)->reachable &&
            strcmp(ql_sight_at(j, k)->run_id, ql_sight_at(j, i)->run_id) == 0)
            return k;
    return i;
}

static void unfit(struct ql_judging *j, unsigned i, ql_verdict verdict,
                  const char *text)
{
    j->condition[i] = QL_UNFIT;
    ql_say(j, i, verdict, "%s", text);
}

static void judge_rights(struct ql_judging *j, unsigned i)
{
    const struct ql_sight *sight = ql_sight_at(j, i);

    if (!sight->run_id[0])
        unfit(j, i, QL_V_NOPERM,
              "the user needs the right +info: without it nobody sees that "
              "the server was restarted");
    else if (sight->evicts)
        unfit(j, i, QL_V_EVICTION,
              "it may throw locks away when memory is short: CONFIG SET "
              "maxmemory-policy noeviction");
}

static void judge_server(struct ql_judging *j, unsigned i)
{
    const struct ql_sight *sight = ql_sight_at(j, i);
    unsigned first = sight->run_id[0] ? first_of(j, i) : i;
    char name[ADDRESS_MAX];

    j->condition[i] = QL_OUTSIDE;
    if (!sight->reachable) {
        j->condition[i] = QL_AWAY;
    } else if (sight->cluster) {
        ql_say(j, i, QL_V_MOVED,
               "part of a Redis Cluster: list masters that are independent");
    } else if (sight->replica) {
        ql_say(j, i, QL_V_READONLY,
               "a replica: list masters that are independent");
    } else if (first != i) {
        ql_say_address(name, sizeof(name), j, first);
        ql_say(j, i, QL_V_DUPLICATE, "the same server as %s", name);
    } else {
        j->condition[i] = QL_READY; /* so far */
        judge_rights(j, i);
    }
}

/* --- Its place in the group ------------------------------------------------
 */

static void explain_other_group(struct ql_judging *j, unsigned i,
                                const struct ql_cfg *its)
{
    const struct ql_record *record = &ql_sight_at(j, i)->record;
    struct ql_cfg ours = {{0}};
    char members[96];

    ql_say_members(members, sizeof(members), record);
    if (j->group->known)
        ql_cfg_parse(&ours, j->group->cfg);
    if (strcmp(ours.group, its->group) == 0 && its->epoch < ours.epoch)
        ql_say(j, i, QL_V_GROUP,
               "a change of the group's members has not reached it: run "
               "quorlock members");
    else if (its->nodes != j->view->nodes)
        ql_say(j, i, QL_V_GROUP, "its group has %u nodes, the list %u: list %s",
               its->nodes, j->view->nodes, members);
    else if (strcmp(ours.group, its->group) == 0)
        ql_say(j, i, QL_V_GROUP, "the group's members have changed: list %s",
               members);
    else
        ql_say(j, i, QL_V_GROUP, "belongs to another group: %s", members);
}

void ql_explain_outside(struct ql_judging *j, unsigned i)
{
    const struct ql_record *record = &ql_sight_at(j, i)->record;
    struct ql_cfg its;

    j->condition[i] = QL_OUTSIDE;
    if (record->state == QL_RECORD_REMOVED)
        ql_say(j, i, QL_V_GROUP,
               "was removed from the group: take it off the list");
    else if (record->state == QL_RECORD_STRANGE ||
             !ql_cfg_parse(&its, record->cfg))
        ql_say(j, i, QL_V_GROUP,
               "its key quorlock:node is not what this version writes: is a "
               "newer quorlock in use?");
    else
        explain_other_group(j, i, &its);
}

static void place_absent(struct ql_judging *j, unsigned i)
{
    char members[64];

    if (!j->settled || ql_is_member(j, i)) {
        j->condition[i] = QL_LOST;
        return;
    }
    j->condition[i] = QL_OUTSIDE;
    ql_say_members(members, sizeof(members), j->model);
    ql_say(j, i, QL_V_GROUP,
           "no member under this name: list %s, or run quorlock members add",
           members);
}

/* Whether nodes of another group are listed too. */
static bool is_mixed(const struct ql_judging *j)
{
    for (unsigned i = 0; i < j->view->nodes; i++) {
        const struct ql_record *record = &ql_sight_at(j, i)->record;

        if (ql_is_heard(j, i) && ql_record_is_active(record) &&
            !ql_record_serves(record, j->group->cfg))
            return true;
    }
    return false;
}

/* That another record counts already proves that all had been written; and this
 * one counts as well if it is still the process of then. */
static void place_forming(struct ql_judging *j, unsigned i)
{
    const struct ql_sight *sight = ql_sight_at(j, i);
    const struct ql_record *record = &sight->record;

    if (j->mixed || record->max_ttl_ms != j->group->max_ttl_ms ||
        record->slack_ms != j->group->slack_ms) {
        j->condition[i] = QL_OUTSIDE;
        ql_say(j, i, QL_V_GROUP,
               "only half initialised, and others differently: run quorlock "
               "init --again");
    } else if (strcmp(record->run, sight->run_id) == 0) {
        j->condition[i] = QL_RETURNING;
        j->group->node[i].duty = QL_DUTY_ACTIVATE;
        ql_say(j, i, QL_V_NOTREADY, "is being initialised");
    } else {
        j->condition[i] = QL_RESTARTED;
    }
}

/* What was noted of how it saves is no longer so. */
static bool is_sync_stale(const struct ql_sight *sight)
{
    return strcmp(sight->record.sync, sight->durable ? sight->run_id : "") != 0;
}

static void place_ready(struct ql_judging *j, unsigned i)
{
    const struct ql_sight *sight = ql_sight_at(j, i);
    const struct ql_record *record = &sight->record;
    struct ql_standing *standing = &j->group->node[i];

    if (strcmp(record->run, sight->run_id) == 0) {
        ql_say(j, i, QL_V_GRANTED, "%s", "");
        if (is_sync_stale(sight))
            standing->duty = QL_DUTY_VERIFIED;
    } else if (sight->durable && record->sync[0] &&
               strcmp(record->sync, record->run) == 0) {
        j->condition[i] = QL_RETURNING;
        standing->duty = QL_DUTY_DURABLE;
        ql_say(j, i, QL_V_NOTREADY,
               "restarted, with all its data: votes again in a moment");
    } else {
        j->condition[i] = QL_RESTARTED;
    }
}

static void place(struct ql_judging *j, unsigned i)
{
    const struct ql_record *record = &ql_sight_at(j, i)->record;

    if (record->state == QL_RECORD_ABSENT)
        place_absent(j, i);
    else if (!ql_record_serves(record, j->group->cfg))
        ql_explain_outside(j, i);
    else if (record->state == QL_RECORD_FORMING)
        place_forming(j, i);
    else if (record->state == QL_RECORD_READY)
        place_ready(j, i);
    else
        j->condition[i] = QL_QUARANTINE;
}

static void judge_known(struct ql_judging *j)
{
    j->quarantine_us = ql_quarantine_us(j->group->max_ttl_ms,
                                        j->group->slack_ms, j->view->drift_ppm);
    j->mixed = is_mixed(j);
    for (unsigned i = 0; i < j->view->nodes; i++)
        if (j->condition[i] == QL_READY)
            place(j, i);
    ql_judge_recovery(j);
}

void ql_group_judge(struct ql_group *group, const struct ql_group_view *view)
{
    struct ql_judging j = {
        .group = group,
        .view = view,
        .quorum = view->nodes / 2 + 1,
        .quarantine_us =
            ql_quarantine_us(view->max_ttl_ms, view->slack_ms, view->drift_ppm),
    };

    assert(view->nodes >= 1 && view->nodes <= QL_NODES_MAX);
    *group = (struct ql_group){.max_ttl_ms = view->max_ttl_ms,
                               .slack_ms = view->slack_ms};
    for (unsigned i = 0; i < view->nodes; i++)
        judge_server(&j, i);
    if (ql_choose(&j))
        judge_known(&j);
    else
        ql_judge_formless(&j);
}
