/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * quorlock init: makes the listed servers a group, once and for all their
 * clients. Whatever is done already is left as it is.
 */
#include "cli/init.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/group_table.h"
#include "cli/say.h"
#include "cli/verb.h"

#define WRITTEN "initialised"
#define KEPT    "was initialised before"

struct init {
    struct operator operator;
    const char *done[QL_NODES_MAX + 1];
    char derived[QL_CFG_MAX + 1];
    char members[QL_MEMBERS_MAX + 1];
    uint64_t max_ttl_ms, slack_ms;
    unsigned absent, forming, active;
};

static const struct ql_record *record_of(const struct init *init, unsigned i)
{
    return &init->operator.admin.node[i].sight.record;
}

static unsigned count_of(const struct init *init)
{
    return init->operator.admin.count;
}

static bool is_active(const struct ql_record *record)
{
    return record->state == QL_RECORD_READY ||
           record->state == QL_RECORD_QUARANTINE;
}

/* --- What is there ---------------------------------------------------------
 */

static void take_stock(struct init *init)
{
    const char *run_id[QL_NODES_MAX];

    init->absent = init->forming = init->active = 0;
    for (unsigned i = 0; i < count_of(init); i++) {
        const struct ql_record *record = record_of(init, i);

        run_id[i] = init->operator.admin.node[i].sight.run_id;
        init->absent += record->state == QL_RECORD_ABSENT;
        init->forming += record->state == QL_RECORD_FORMING;
        init->active += is_active(record);
    }
    ql_group_derive(init->derived, count_of(init), run_id);
    admin_members_text(init->members, &init->operator.admin, -1);
}

static int look(struct init *init)
{
    int code;

    admin_look_all(&init->operator.admin);
    code = operator_refuse_unfit(&init->operator, - 1);
    if (!code)
        take_stock(init);
    return code;
}

/* What one record says against this list; `newest` is the cfg that it should
 * serve. Returns 0, or the exit status after saying it. */
static int refuse_record(const struct init *init, unsigned i,
                         const struct admin_cfg *newest)
{
    const struct ql_record *record = record_of(init, i);
    const char *address = operator_address(&init->operator, i);
    struct admin_cfg cfg = *newest;

    if (record->state == QL_RECORD_STRANGE ||
        (is_active(record) && !admin_cfg_read(&cfg, record->cfg)))
        say("%s: its key %s is not what this version writes: is a newer "
            "quorlock in use? If it is nobody's, DEL it",
            address, ADMIN_NODE_KEY);
    else if (record->state == QL_RECORD_REMOVED)
        say("%s was removed from a group: quorlock members add puts it back; "
            "to begin a new group with it: quorlock init --again",
            address);
    else if (is_active(record) && cfg.nodes != count_of(init))
        say("%s belongs to a group of %u nodes, the list has %u: list %s; to "
            "change the group: quorlock members",
            address, cfg.nodes, count_of(init), record->members);
    else if (is_active(record) && strcmp(cfg.group, newest->group))
        say("%s belongs to another group than the nodes before it: its "
            "members are %s. To make one group of the nodes listed, if no lock "
            "on any of them is in use: quorlock init --again",
            address, record->members);
    else if (is_active(record) && cfg.epoch != newest->epoch)
        say("%s: a change of the group's members has not ended: run the "
            "quorlock members command again that began it",
            address);
    else
        return 0;
    return EXIT_BAD_CONFIG;
}

static int refuse_records(const struct init *init)
{
    struct admin_cfg newest = {"", 0, 0};
    int code = 0;

    for (unsigned i = 0; i < count_of(init); i++)
        if (is_active(record_of(init, i)) && !newest.group[0])
            admin_cfg_read(&newest, record_of(init, i)->cfg);
    for (unsigned i = 0; i < count_of(init); i++)
        if (refuse_record(init, i, &newest))
            code = EXIT_BAD_CONFIG;
    return code;
}

/* A group keeps the limits that it was made with. */
static int refuse_limits(const struct init *init)
{
    const struct options *options = init->operator.options;

    for (unsigned i = 0; i < count_of(init); i++) {
        const struct ql_record *record = record_of(init, i);
        char text[DURATION_TEXT];

        if (record->state == QL_RECORD_ABSENT)
            continue;
        if (options->max_ttl_ms != OPTION_UNSET &&
            (uint64_t)options->max_ttl_ms != record->max_ttl_ms)
            say("the group's longest ttl is %s",
                duration_text(text, (int64_t)record->max_ttl_ms));
        else if (options->clock_slack_ms != OPTION_UNSET &&
                 (uint64_t)options->clock_slack_ms != record->slack_ms)
            say("the group's clock slack is %s",
                duration_text(text, (int64_t)record->slack_ms));
        else
            continue;
        say("nothing was changed: other limits need quorlock init --again, "
            "while no lock is in use");
        return EXIT_BAD_CONFIG;
    }
    return 0;
}

/* --- A group that is new ----------------------------------------------------
 */

static int refuse_forming(const struct init *init)
{
    for (unsigned i = 0; i < count_of(init); i++) {
        const struct ql_record *record = record_of(init, i);

        if (record->state != QL_RECORD_FORMING ||
            (!strcmp(record->cfg, init->derived) &&
             record->max_ttl_ms == init->max_ttl_ms &&
             record->slack_ms == init->slack_ms))
            continue;
        say("%s: another initialisation was begun and has not ended: of other "
            "servers, with other limits, or before a restart. If nobody is at "
            "it now: quorlock init --again",
            operator_address(&init->operator, i));
        return EXIT_BAD_CONFIG;
    }
    return 0;
}

static int form(struct init *init)
{
    struct admin *admin = &init->operator.admin;
    uint64_t hw = admin_hw_new(admin, init->slack_ms);
    int code = refuse_forming(init);

    for (unsigned i = 0; !code && i < count_of(init); i++)
        if (!admin_form(admin, i, init->derived, init->max_ttl_ms,
                        init->slack_ms, init->members, hw))
            code = operator_say_failed(&init->operator, i,
                                       "not initialised; run the same again");
    for (unsigned i = 0; !code && i < count_of(init); i++) {
        init->done[i] = WRITTEN;
        if (!admin_activate(admin, i, init->derived))
            code = operator_say_failed(&init->operator, i,
                                       "not initialised; run the same again");
    }
    return code;
}

/* --- A group that is known --------------------------------------------------
 */

static unsigned count_ready(const struct init *init)
{
    unsigned ready = 0;

    for (unsigned i = 0; i < count_of(init); i++)
        ready += init->operator.group.node[i].verdict == QL_V_GRANTED;
    return ready;
}

/* Until when the node's quarantine lasts, by its clock and the others'. */
static uint64_t left_us(const struct init *init, unsigned i)
{
    const struct admin *admin = &init->operator.admin;
    const struct ql_record *record = record_of(init, i);
    uint64_t own = admin_time_now(&admin->node[i]), ref = admin_median(admin);
    uint64_t wait = admin_wait_us(admin, record->max_ttl_ms, record->slack_ms);
    uint64_t until = record->at_us + wait, until_ref = record->ref_us + wait;
    uint64_t left = until > own ? until - own : 0;

    return until_ref > ref && until_ref - ref > left ? until_ref - ref : left;
}

/* Waits until every quarantine is over. */
static void wait_for_quarantine(struct init *init)
{
    uint64_t longest = 0;

    for (unsigned i = 0; i < count_of(init); i++)
        if (record_of(init, i)->state == QL_RECORD_QUARANTINE &&
            left_us(init, i) > longest)
            longest = left_us(init, i);
    operator_wait(&init->operator, now_ns() + (int64_t)longest * 1000,
                  "locks that may have been forgotten to end");
}

/*
 * Ends the quarantine of nodes that have too few others to be told their
 * numbers by: numbers begin anew above all clocks, which no number of the time
 * before has reached, since no node takes one that is further ahead.
 */
static int end_quarantine(struct init *init)
{
    struct admin *admin = &init->operator.admin;
    uint64_t hw;
    int code;

    wait_for_quarantine(init);
    code = look(init);
    if (code)
        return code;
    hw = admin_hw_new(admin, record_of(init, 0)->slack_ms);
    for (unsigned i = 0; !code && i < count_of(init); i++) {
        if (record_of(init, i)->state != QL_RECORD_QUARANTINE)
            continue;
        if (strcmp(record_of(init, i)->q_run, admin->node[i].sight.run_id)) {
            say("%s was restarted meanwhile: run quorlock init once more",
                operator_address(&init->operator, i));
            code = EXIT_SPLIT;
        } else if (!admin_ready(admin, i, hw)) {
            code = operator_say_failed(&init->operator, i,
                                       "not ready; run quorlock init again");
        } else {
            init->done[i] = "votes again";
        }
    }
    admin_judge(admin, &init->operator.group);
    return code;
}

/* What is not of this group will not be, by waiting. */
static int refuse_strangers(const struct init *init)
{
    int code = 0;

    for (unsigned i = 0; i < count_of(init); i++) {
        const struct ql_standing *standing = &init->operator.group.node[i];

        if (standing->verdict == QL_V_GRANTED ||
            standing->verdict == QL_V_NOTREADY)
            continue;
        say("%s: %s", operator_address(&init->operator, i), standing->text);
        code = EXIT_BAD_CONFIG;
    }
    return code;
}

/*
 * One or a few nodes that have forgotten come back by themselves, with what the
 * others know; any client sees to that, and so do we. If too many have, it
 * takes an operator's word, which `init --again` is.
 */
static int complete(struct init *init)
{
    struct operator* operator= & init->operator;
    unsigned needed = count_of(init) - operator->admin.quorum + 1;
    int code = refuse_limits(init);

    /* Another init may be at work, and a node that was looked at first have a
     * record by now. */
    if (!code && init->absent > 0)
        code = look(init);
    if (code)
        return code;
    for (unsigned i = 0; i < count_of(init); i++)
        init->done[i] = is_active(record_of(init, i)) ? KEPT : NULL;
    if (init->absent > 0 && init->active + init->forming < needed) {
        say("%u of %u nodes have lost their records, which is too many to "
            "recover from the others. If no lock is in use, or all may be "
            "taken away: quorlock init --again",
            init->absent, count_of(init));
        return EXIT_BAD_CONFIG;
    }
    if (!admin_tend(&operator->admin, &operator->group)) {
        say("a node could not be reached any more: run the same again");
        return EXIT_NO_QUORUM;
    }
    code = refuse_strangers(init);
    if (code)
        return code;
    take_stock(init);
    if (init->active == count_of(init) && count_ready(init) < needed)
        return end_quarantine(init);
    return 0;
}

/* --- Once more ---------------------------------------------------------------
 */

/* The new config: a higher epoch than any that a node remembers. */
static void next_cfg(const struct init *init, char cfg[QL_CFG_MAX + 1])
{
    const struct ql_record *record = NULL;
    struct admin_cfg parts, known;

    admin_cfg_read(&parts, init->derived);
    for (unsigned i = 0; i < count_of(init); i++) {
        record = record_of(init, i);
        if (admin_cfg_read(&known, record->cfg) && known.epoch >= parts.epoch)
            parts.epoch = known.epoch + 1;
    }
    admin_cfg_write(cfg, &parts);
}

/* By how much what was granted by longer limits may outlast the new ones. */
static uint64_t extra_us(const struct init *init)
{
    const struct admin *admin = &init->operator.admin;
    uint64_t now = admin_wait_us(admin, init->max_ttl_ms, init->slack_ms);
    uint64_t longest = now;

    for (unsigned i = 0; i < count_of(init); i++) {
        const struct ql_record *record = record_of(init, i);
        uint64_t before =
            admin_wait_us(admin, record->max_ttl_ms, record->slack_ms);

        if (record->state != QL_RECORD_ABSENT && before > longest)
            longest = before;
    }
    return longest - now;
}

static int confirm_again(const struct init *init)
{
    uint64_t wait_us =
        admin_wait_us(&init->operator.admin, init->max_ttl_ms, init->slack_ms) +
        extra_us(init);
    int64_t wait_ms = (int64_t)(wait_us / 1000);
    char text[DURATION_TEXT], question[512];

    snprintf(question, sizeof(question),
             "init --again: all locks of the guarded level on these %u nodes "
             "are taken from their holders, and nobody can get one for %s",
             count_of(init), duration_text(text, wait_ms));
    return operator_confirm(&init->operator, question);
}

/* Limits that are not given stay as they were, the longest of them. */
static void keep_limits(struct init *init)
{
    const struct options *options = init->operator.options;
    uint64_t max_ttl_ms = 0, slack_ms = 0;

    for (unsigned i = 0; i < count_of(init); i++) {
        const struct ql_record *record = record_of(init, i);

        if (record->max_ttl_ms > max_ttl_ms)
            max_ttl_ms = record->max_ttl_ms;
        if (record->slack_ms > slack_ms)
            slack_ms = record->slack_ms;
    }
    if (options->max_ttl_ms == OPTION_UNSET && max_ttl_ms)
        init->max_ttl_ms = max_ttl_ms;
    if (options->clock_slack_ms == OPTION_UNSET && slack_ms)
        init->slack_ms = slack_ms;
}

static int again(struct init *init)
{
    struct admin *admin = &init->operator.admin;
    char cfg[QL_CFG_MAX + 1];
    uint64_t hw, extra;
    int code;

    keep_limits(init);
    next_cfg(init, cfg);
    code = confirm_again(init);
    hw = admin_hw_new(admin, init->slack_ms);
    extra = extra_us(init);
    for (unsigned i = 0; !code && i < count_of(init); i++)
        if (!admin_again(admin, i, cfg, init->max_ttl_ms, init->slack_ms,
                         init->members, hw, extra))
            code = operator_say_failed(
                &init->operator, i,
                "not initialised; run the same again, with --again");
    if (code)
        return code;
    say("begun anew; locks can be had again when all nodes are ready, which "
        "quorlock init completes if this is interrupted");
    return end_quarantine(init);
}

/* --- All of it
 * ---------------------------------------------------------------- */

static int initialise(struct init *init)
{
    const struct options *options = init->operator.options;
    int code = look(init);

    init->max_ttl_ms = options->max_ttl_ms == OPTION_UNSET
                           ? QL_MAX_TTL_DEFAULT_MS
                           : (uint64_t)options->max_ttl_ms;
    init->slack_ms = options->clock_slack_ms == OPTION_UNSET
                         ? QL_SLACK_DEFAULT_MS
                         : (uint64_t)options->clock_slack_ms;
    if (code)
        return code;
    if (options->again)
        return again(init);
    code = refuse_records(init);
    if (code)
        return code;
    if (init->active > 0)
        return complete(init);
    code = form(init);
    admin_judge(&init->operator.admin, &init->operator.group);
    return code;
}

int init_servers(const struct options *options)
{
    struct init init = {.absent = 0};
    int code = operator_open(&init.operator, options);

    init.operator.admin.user = init.operator.admin.password = NULL;
    if (!code)
        code = initialise(&init);
    operator_close(&init.operator);
    return code;
}

int verb_init(const struct options *options, int argc, char **argv)
{
    struct init init = {.absent = 0};
    int code = operator_open(&init.operator, options);

    (void)argc;
    (void)argv;
    if (!code)
        code = initialise(&init);
    if (!code)
        code = group_table_print(&init.operator, init.done);
    operator_close(&init.operator);
    return code;
}
