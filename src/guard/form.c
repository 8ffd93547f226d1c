/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes of which no group could be found. If none of them ever belonged to one,
 * and all have been up for so long that they cannot have forgotten a lock, they
 * are made one: all records are written first, and made to count only when all
 * have been seen. So a record that is missing beside one that counts was lost.
 * Otherwise it is said what somebody has to do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guard/judging.h"

#define ADDRESS_MAX 48
#define REASON_MAX  (ADDRESS_MAX + 48)

bool ql_derive_all(const struct ql_judging *j, char cfg[QL_CFG_MAX + 1])
{
    const char *run_id[QL_NODES_MAX];

    for (unsigned i = 0; i < j->view->nodes; i++) {
        run_id[i] = ql_sight_at(j, i)->run_id;
        if (!ql_is_heard(j, i) || !run_id[i][0])
            return false;
    }
    ql_group_derive(cfg, j->view->nodes, run_id);
    return true;
}

/* --- What stands in the way ------------------------------------------------
 */

/* What must be mended before anything else. */
static bool is_incomplete(const struct ql_judging *j, char reason[REASON_MAX])
{
    char name[ADDRESS_MAX];

    for (unsigned i = 0; i < j->view->nodes; i++) {
        if (ql_is_heard(j, i) && j->condition[i] != QL_UNFIT)
            continue;
        ql_say_address(name, sizeof(name), j, i);
        snprintf(reason, REASON_MAX, "%s %s", name,
                 j->condition[i] == QL_AWAY ? "does not answer"
                                            : "cannot vote");
        return true;
    }
    return false;
}

/*
 * A record that waits to count was written for the processes that ran then; and
 * if two have written with different limits, one group would have two.
 */
static bool is_broken(const struct ql_judging *j, const char *cfg,
                      char reason[REASON_MAX])
{
    for (unsigned i = 0; i < j->view->nodes; i++) {
        const struct ql_record *record = &ql_sight_at(j, i)->record;

        if (record->state != QL_RECORD_FORMING)
            continue;
        if (strcmp(record->cfg, cfg) != 0)
            snprintf(reason, REASON_MAX, "an earlier init was interrupted");
        else if (record->max_ttl_ms != j->group->max_ttl_ms ||
                 record->slack_ms != j->group->slack_ms)
            snprintf(reason, REASON_MAX, "two inits with different limits");
        else
            continue;
        return true;
    }
    return false;
}

/* A server that was started a moment ago may have forgotten a lock that it gave
 * before, to a client of the plain level, or of a group that it has lost. */
static bool is_too_young(const struct ql_judging *j, char reason[REASON_MAX])
{
    char name[ADDRESS_MAX];

    for (unsigned i = 0; i < j->view->nodes; i++) {
        int64_t up_s = ql_sight_at(j, i)->uptime_s;

        if (up_s >= 0 && (uint64_t)up_s > j->quarantine_us / QL_US_PER_S)
            continue;
        ql_say_address(name, sizeof(name), j, i);
        if (up_s < 0)
            snprintf(reason, REASON_MAX, "%s: uptime not known", name);
        else
            snprintf(reason, REASON_MAX, "%s is up for only %" PRIi64 " s",
                     name, up_s);
        return true;
    }
    return false;
}

/* --- Forming ---------------------------------------------------------------
 */

/* What was begun is carried on with its own limits. */
static void take_limits(struct ql_judging *j)
{
    struct ql_group *group = j->group;

    for (unsigned i = 0; i < j->view->nodes; i++) {
        const struct ql_record *record = &ql_sight_at(j, i)->record;

        if (record->state != QL_RECORD_FORMING || !ql_is_heard(j, i))
            continue;
        group->max_ttl_ms = record->max_ttl_ms;
        group->slack_ms = record->slack_ms;
        j->quarantine_us = ql_quarantine_us(group->max_ttl_ms, group->slack_ms,
                                            j->view->drift_ppm);
        return;
    }
}

/* Whole addresses only: a cut one could be mistaken for another. */
static void list_members(const struct ql_judging *j, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < j->view->nodes; i++) {
        const char *address = j->view->address[i];
        size_t len = strlen(address);

        if (used + (used > 0) + len >= size)
            return;
        if (used > 0)
            out[used++] = ',';
        memcpy(out + used, address, len + 1);
        used += len;
    }
}

/*
 * Numbers begin above the nodes' time: if there was a group once that nobody
 * remembers, its numbers were not larger, since no node takes a proposal that
 * is further ahead of its own.
 */
static void form(struct ql_judging *j, bool all_forming)
{
    struct ql_group *group = j->group;

    group->known = true;
    list_members(j, group->members, sizeof(group->members));
    if (j->view->ref_us)
        group->hw = j->view->ref_us + group->slack_ms * QL_US_PER_MS;
    for (unsigned i = 0; i < j->view->nodes; i++) {
        struct ql_standing *standing = &group->node[i];

        ql_say(j, i, QL_V_NOTREADY, "is being initialised");
        if (all_forming)
            standing->duty = QL_DUTY_ACTIVATE;
        else if (ql_sight_at(j, i)->record.state == QL_RECORD_ABSENT)
            standing->duty = QL_DUTY_FORM;
    }
}

/* The order that lets it go on comes first: a shorter one without the list, if
 * both do not fit. */
static void ask_for_init(struct ql_judging *j, const char *reason)
{
    static const char intro[] = "not initialised: run ";
    size_t taken = sizeof(intro) + strlen(reason) + strlen(" ()");
    char order[QL_TEXT_MAX];

    ql_say_init(j, order, "", QL_TEXT_MAX - taken);
    for (unsigned i = 0; i < j->view->nodes; i++)
        if (ql_is_heard(j, i) && j->condition[i] != QL_UNFIT)
            ql_say(j, i, QL_V_GROUP, reason[0] ? "%s%s (%s)" : "%s%s", intro,
                   order, reason);
}

static void judge_unformed(struct ql_judging *j, unsigned forming)
{
    bool all_forming = forming == j->view->nodes;
    char reason[REASON_MAX] = "", cfg[QL_CFG_MAX + 1];

    take_limits(j);
    if (is_incomplete(j, reason) || !ql_derive_all(j, cfg) ||
        is_broken(j, cfg, reason) ||
        (!all_forming && (!j->view->may_form || is_too_young(j, reason)))) {
        ask_for_init(j, reason);
        return;
    }
    memcpy(j->group->cfg, cfg, sizeof(cfg));
    form(j, all_forming);
}

/* --- Groups that cannot be used --------------------------------------------
 */

static void explain_absent(struct ql_judging *j, unsigned i)
{
    ql_say(j, i, QL_V_GROUP,
           "not initialised, but others of the list belong to a group: is it "
           "the right list? If data was lost: quorlock init --again");
}

static void explain_active(struct ql_judging *j, unsigned i)
{
    const struct ql_record *record = &ql_sight_at(j, i)->record;
    char members[64];

    ql_say_members(members, sizeof(members), record);
    ql_say(j, i, QL_V_GROUP,
           "too few of the list are of its group (%s): if a majority lost its "
           "data: quorlock init --again",
           members);
}

static void explain(struct ql_judging *j, unsigned i)
{
    const struct ql_record *record = &ql_sight_at(j, i)->record;
    struct ql_cfg parts;

    if (record->state == QL_RECORD_ABSENT || record->state == QL_RECORD_FORMING)
        explain_absent(j, i);
    else if (ql_record_is_active(record) && ql_cfg_parse(&parts, record->cfg) &&
             parts.nodes == j->view->nodes)
        explain_active(j, i);
    else
        ql_explain_outside(j, i);
}

void ql_judge_formless(struct ql_judging *j)
{
    unsigned forming = 0, others = 0;

    for (unsigned i = 0; i < j->view->nodes; i++) {
        enum ql_record_state state = ql_sight_at(j, i)->record.state;

        if (!ql_is_heard(j, i))
            continue;
        forming += state == QL_RECORD_FORMING;
        others += state != QL_RECORD_FORMING && state != QL_RECORD_ABSENT;
    }
    if (others == 0) {
        judge_unformed(j, forming);
        return;
    }
    for (unsigned i = 0; i < j->view->nodes; i++)
        if (ql_is_heard(j, i) && j->condition[i] != QL_UNFIT)
            explain(j, i);
}
