/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A change of a group's members: members.c goes from step to step,
 * members_place.c finds out how far it is, and refuses what cannot be done.
 */
#ifndef QL_CLI_MEMBERS_H
#define QL_CLI_MEMBERS_H

#include <string.h>

#include "cli/operator.h"

/* The node that comes or goes stands last in the list. */
struct change {
    struct operator operator;
    bool adds;
    bool begun;       /* an earlier call came as far as the first record */
    unsigned members; /* of both lists: all but the last */
    char old_cfg[QL_CFG_MAX + 1], new_cfg[QL_CFG_MAX + 1];
    char list[QL_MEMBERS_MAX + 1]; /* the new one */
};

static inline struct admin_node *change_node(const struct change *change,
                                             unsigned i)
{
    return &change->operator.admin.node[i];
}

static inline const struct ql_record *change_record(const struct change *change,
                                                    unsigned i)
{
    return &change_node(change, i)->sight.record;
}

static inline const char *change_address(const struct change *change,
                                         unsigned i)
{
    return change_node(change, i)->address.display;
}

static inline struct admin_node *change_target(const struct change *change)
{
    return change_node(change, change->members);
}

/* Finds out how far the change is. Returns 0, or the exit status after saying
 * why there is none to be made. */
int change_find_place(struct change *change);

/* The newest record of a member; NULL: said why there is none. */
const struct ql_record *change_newest(const struct change *change);

/* Whether this is the present config of all members. */
bool change_all_serve(const struct change *change, const char *cfg);

/* Has the change planned where it must be; `first` is asked first. */
int change_plan(struct change *change, unsigned first);
/* Has all forget what was planned, and not begun. Both return 0, or the exit
 * status after saying why not. */
int change_abandon(struct change *change);

static inline bool change_is_old(const struct change *change, unsigned i)
{
    return !strcmp(change_record(change, i)->cfg, change->old_cfg);
}

/* Says that the list is not the group's; returns the exit status. */
int change_refuse_list(const struct ql_record *newest);

/* Of this group, but of a list that is not served any more. */
bool change_left_over(const struct change *change,
                      const struct ql_record *record);

#endif
