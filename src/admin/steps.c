/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs of lua/node.lua, with numbers made text. Each of them says whether
 * the record is then as it was to become. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "admin/group.h"

#define NUMBER 24

static const char *number(char text[NUMBER], uint64_t value)
{
    snprintf(text, NUMBER, "%" PRIu64, value);
    return text;
}

/* In which process's life every write is saved, if it is. */
static const char *sync_of(const struct admin_node *node)
{
    return node->sight.durable ? node->sight.run_id : "";
}

static const struct ql_record *record_of(const struct admin *admin,
                                         unsigned index)
{
    return &admin->node[index].sight.record;
}

bool admin_form(struct admin *admin, unsigned index, const char *cfg,
                uint64_t max_ttl_ms, uint64_t slack_ms, const char *members,
                uint64_t hw)
{
    struct admin_node *node = &admin->node[index];
    char ttl[NUMBER], slack[NUMBER], high[NUMBER];
    const char *words[] = {"form",
                           cfg,
                           number(ttl, max_ttl_ms),
                           number(slack, slack_ms),
                           node->sight.run_id,
                           members,
                           number(high, hw),
                           NULL};

    return admin_record(admin, node, words) &&
           !strcmp(record_of(admin, index)->cfg, cfg);
}

bool admin_activate(struct admin *admin, unsigned index, const char *cfg)
{
    struct admin_node *node = &admin->node[index];
    const char *words[] = {"activate", cfg, node->sight.run_id, sync_of(node),
                           NULL};

    return admin_record(admin, node, words) &&
           record_of(admin, index)->state == QL_RECORD_READY;
}

bool admin_again(struct admin *admin, unsigned index, const char *cfg,
                 uint64_t max_ttl_ms, uint64_t slack_ms, const char *members,
                 uint64_t hw, uint64_t extra_us)
{
    struct admin_node *node = &admin->node[index];
    char ttl[NUMBER], slack[NUMBER], high[NUMBER], ref[NUMBER];
    /* It ends by the node's clock and by the others'; theirs begins late. */
    const char *words[] = {"again",
                           cfg,
                           number(ttl, max_ttl_ms),
                           number(slack, slack_ms),
                           members,
                           node->sight.run_id,
                           number(ref, admin_median(admin) + extra_us),
                           number(high, hw),
                           NULL};

    return admin_record(admin, node, words) &&
           record_of(admin, index)->state == QL_RECORD_QUARANTINE &&
           !strcmp(record_of(admin, index)->cfg, cfg);
}

bool admin_ready(struct admin *admin, unsigned index, uint64_t hw)
{
    struct admin_node *node = &admin->node[index];
    struct ql_record record = node->sight.record;
    char high[NUMBER], ref[NUMBER], wait[NUMBER];
    uint64_t wait_us = admin_wait_us(admin, record.max_ttl_ms, record.slack_ms);
    const char *words[] = {"ready",
                           record.cfg,
                           node->sight.run_id,
                           number(ref, admin_median(admin)),
                           number(high, hw),
                           number(wait, wait_us),
                           sync_of(node),
                           NULL};

    return admin_record(admin, node, words) &&
           record_of(admin, index)->state == QL_RECORD_READY;
}

bool admin_plan(struct admin *admin, unsigned index, const char *members)
{
    struct ql_record record = *record_of(admin, index);
    const char *words[] = {"plan", record.cfg, members, NULL};

    return admin_record(admin, &admin->node[index], words) &&
           !strcmp(record_of(admin, index)->plan, members);
}

bool admin_abandon(struct admin *admin, unsigned index)
{
    struct ql_record record = *record_of(admin, index);
    const char *words[] = {"abandon", record.cfg, record.plan, NULL};

    return admin_record(admin, &admin->node[index], words) &&
           !record_of(admin, index)->plan[0];
}

bool admin_next(struct admin *admin, unsigned index, const char *old_cfg,
                const char *new_cfg, const char *members)
{
    char high[NUMBER];
    const char *words[] = {
        "next", old_cfg, new_cfg, members, number(high, admin_hw(admin)), NULL};

    return admin_record(admin, &admin->node[index], words) &&
           !strcmp(record_of(admin, index)->cfg, new_cfg) &&
           admin_members_same(record_of(admin, index)->members, members);
}

/*
 * The new node serves the new list only. If it served the old one, too, a list
 * of the old length in which it stands in for a member could get a majority.
 */
bool admin_join(struct admin *admin, unsigned index,
                const struct ql_record *like, const char *members)
{
    struct admin_node *node = &admin->node[index];
    char ttl[NUMBER], slack[NUMBER], high[NUMBER];
    struct ql_record copy = *like;
    const char *words[] = {"join",
                           copy.cfg,
                           "",
                           number(ttl, copy.max_ttl_ms),
                           number(slack, copy.slack_ms),
                           node->sight.run_id,
                           members,
                           number(high, admin_hw(admin)),
                           NULL};

    return admin_record(admin, node, words) &&
           !strcmp(record_of(admin, index)->cfg, copy.cfg);
}

bool admin_settle(struct admin *admin, unsigned index)
{
    struct ql_record record = *record_of(admin, index);
    const char *words[] = {"settle", record.cfg, NULL};

    return admin_record(admin, &admin->node[index], words) &&
           !record_of(admin, index)->prev[0];
}

bool admin_remove(struct admin *admin, unsigned index)
{
    struct ql_record record = *record_of(admin, index);
    const char *words[] = {"remove", record.cfg, NULL};

    return admin_record(admin, &admin->node[index], words) &&
           record_of(admin, index)->state == QL_RECORD_REMOVED;
}
