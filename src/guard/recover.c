/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes that may have forgotten something: a lock they gave, or the largest
 * number they answered. Such a node waits until every attempt that could have
 * counted its vote is over, and is then told the largest number that enough of
 * the others know.
 */
#include <stdio.h>
#include <string.h>

#include "guard/judging.h"

#define WAIT_MAX 24

/* --- Time ------------------------------------------------------------------
 */

static uint64_t slack_us(const struct ql_judging *j)
{
    return j->group->slack_ms * QL_US_PER_MS;
}

/* Its TIME now; or what it was when it was looked at. */
static uint64_t time_of(const struct ql_judging *j, unsigned i)
{
    uint64_t time_us = j->view->time_us[i];

    return time_us ? time_us : ql_sight_at(j, i)->record.now_us;
}

/* It was restarted once more, or its clock was set back. */
static bool must_begin_again(const struct ql_judging *j, unsigned i)
{
    const struct ql_sight *sight = ql_sight_at(j, i);
    const struct ql_record *record = &sight->record;

    return strcmp(record->q_run, sight->run_id) != 0 ||
           record->now_us < record->at_us ||
           time_of(j, i) + slack_us(j) < record->at_us;
}

static uint64_t left_by(uint64_t now, uint64_t began, uint64_t quarantine)
{
    if (now >= began)
        return now - began >= quarantine ? 0 : quarantine - (now - began);
    return began - now < QL_UNKNOWN - quarantine ? quarantine + (began - now)
                                                 : QL_UNKNOWN;
}

/* By the node's own clock and by the others': one of them may have jumped. */
static uint64_t left_us(const struct ql_judging *j, unsigned i)
{
    const struct ql_record *record = &ql_sight_at(j, i)->record;
    uint64_t own = left_by(time_of(j, i), record->at_us, j->quarantine_us);
    uint64_t others =
        left_by(j->view->ref_us, record->ref_us, j->quarantine_us);

    return own > others ? own : others;
}

/* --- Whom to read back from ------------------------------------------------
 */

/* With so many of the others there is one of every majority among them that
 * may have counted this node. */
static unsigned needed(const struct ql_judging *j)
{
    return j->view->nodes - j->quorum + 1;
}

/*
 * Whether what node k said of its numbers was said just now. Up to the end of
 * the quarantine an attempt that had this node's vote before it was forgotten
 * may still have won with k's, and told it a larger number. What is a second
 * old is good enough, since the quarantine is a second longer than any attempt.
 */
static bool is_fresh(const struct ql_judging *j, unsigned k)
{
    uint64_t then = ql_sight_at(j, k)->record.now_us;
    uint64_t now = j->view->time_us[k];

    if (now + slack_us(j) < then) /* it was set back, or is not known */
        return false;
    return now <= then || now - then <= QL_US_PER_S;
}

/* Whether enough are; else those that are not are to be looked at. */
static bool can_read_back(struct ql_judging *j)
{
    unsigned fresh = 0;

    for (unsigned k = 0; k < j->view->nodes; k++)
        fresh += j->condition[k] == QL_READY && is_fresh(j, k);
    if (fresh >= needed(j))
        return true;
    for (unsigned k = 0; k < j->view->nodes; k++)
        if (j->condition[k] == QL_READY && !is_fresh(j, k) &&
            j->group->node[k].duty == QL_DUTY_NONE)
            j->group->node[k].duty = QL_DUTY_LOOK;
    return false;
}

static void take_hw(struct ql_judging *j)
{
    for (unsigned k = 0; k < j->view->nodes; k++) {
        uint64_t hw = ql_sight_at(j, k)->record.hw;

        if (j->condition[k] == QL_READY && hw > j->group->hw)
            j->group->hw = hw;
    }
}

/* --- One node --------------------------------------------------------------
 */

/* A record that was made anew for its quarantine knows no number. */
static const char *what_happened(const struct ql_judging *j, unsigned i)
{
    const struct ql_sight *sight = ql_sight_at(j, i);

    switch (j->condition[i]) {
    case QL_LOST:
        return "lost its data";
    case QL_QUARANTINE:
        return sight->record.hw ? "restarted" : "lost its data";
    default:
        if (sight->uptime_s >= 0 &&
            (uint64_t)sight->uptime_s > j->quarantine_us / QL_US_PER_S)
            return "restarted or promoted";
        return "restarted";
    }
}

/* Too few are left that remember: no waiting mends that, and only somebody who
 * knows that no lock is in use can say that it may go on. */
static bool is_majority_lost(const struct ql_judging *j)
{
    unsigned hope = ql_count(j, QL_AWAY) + ql_count(j, QL_UNFIT) +
                    ql_count(j, QL_READY) + ql_count(j, QL_RETURNING);

    return j->view->nodes > 1 && hope < needed(j);
}

static void say_majority_lost(struct ql_judging *j, unsigned i)
{
    static const char words[] = ", as too many others have: run ";
    const char *what = what_happened(j, i);
    char order[QL_TEXT_MAX];

    ql_say_init(j, order, "--again ",
                QL_TEXT_MAX - strlen(what) - sizeof(words));
    ql_say(j, i, QL_V_NOTREADY, "%s%s%s", what, words, order);
    j->group->node[i].left_us = QL_UNKNOWN;
}

static void say_wait(struct ql_judging *j, unsigned i, uint64_t left)
{
    char wait[WAIT_MAX];

    j->group->node[i].left_us = left;
    ql_say_duration(wait, sizeof(wait), left);
    ql_say(j, i, QL_V_NOTREADY, "%s: votes again in %s", what_happened(j, i),
           wait);
}

/*
 * A single node has nobody to read back from. But no node takes a proposal that
 * is more than the slack ahead of its TIME, so no number of the time before was
 * as large as this; nor can it have been counted up so far, one by one, since
 * the quarantine took longer than the slack.
 */
static void return_alone(struct ql_judging *j)
{
    uint64_t floor = time_of(j, 0) + slack_us(j);

    if (floor > j->group->hw)
        j->group->hw = floor;
    j->group->node[0].duty = QL_DUTY_READY;
}

static void end_quarantine(struct ql_judging *j, unsigned i)
{
    unsigned ready = ql_count(j, QL_READY);

    j->group->node[i].left_us = 0;
    ql_say(j, i, QL_V_NOTREADY, "%s: votes again in a moment",
           what_happened(j, i));
    if (j->view->nodes == 1) {
        return_alone(j);
    } else if (ready < needed(j)) {
        j->group->node[i].left_us = QL_UNKNOWN;
        ql_say(j, i, QL_V_NOTREADY,
               "%s: votes again when %u other nodes are ready, now %u are",
               what_happened(j, i), needed(j), ready);
    } else if (can_read_back(j)) {
        j->group->node[i].duty = QL_DUTY_READY;
    }
}

/* The others' time was not known when it began: it is to be noted now, which
 * that verb does, and counts from then. */
static bool lacks_ref(const struct ql_judging *j, unsigned i)
{
    return j->condition[i] == QL_QUARANTINE &&
           ql_sight_at(j, i)->record.ref_us == 0;
}

static void recover(struct ql_judging *j, unsigned i)
{
    bool begins = j->condition[i] != QL_QUARANTINE || must_begin_again(j, i);
    uint64_t left =
        begins || lacks_ref(j, i) ? j->quarantine_us : left_us(j, i);

    if (j->condition[i] == QL_LOST && !j->settled) {
        j->group->node[i].left_us = QL_UNKNOWN;
        ql_say(j, i, QL_V_NOTREADY,
               "has no record of the group; too few nodes answer to tell why");
        return;
    }
    if (j->view->ref_us == 0) {
        j->group->node[i].left_us = QL_UNKNOWN;
        ql_say(j, i, QL_V_NOTREADY,
               "%s: votes again some time after a majority can be reached",
               what_happened(j, i));
        return;
    }
    if (begins)
        j->group->node[i].duty = QL_DUTY_QUARANTINE;
    else if (lacks_ref(j, i))
        j->group->node[i].duty = QL_DUTY_READY;
    if (is_majority_lost(j))
        say_majority_lost(j, i);
    else if (left > 0)
        say_wait(j, i, left);
    else
        end_quarantine(j, i);
}

void ql_judge_recovery(struct ql_judging *j)
{
    take_hw(j);
    for (unsigned i = 0; i < j->view->nodes; i++)
        if (j->condition[i] == QL_LOST || j->condition[i] == QL_RESTARTED ||
            j->condition[i] == QL_QUARANTINE)
            recover(j, i);
}
