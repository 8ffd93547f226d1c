/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The nodes' records, taken together: what they say of the group, and what an
 * operator's verbs do to them.
 */
#ifndef QL_ADMIN_GROUP_H
#define QL_ADMIN_GROUP_H

#include "admin/node.h"

/* Judges the nodes as a client with this list would. */
void admin_judge(const struct admin *admin, struct ql_group *ret_group);

/*
 * Does what a client would do now for nodes that have lost something, and
 * judges them again. False: a node could not be reached any more.
 */
bool admin_tend(struct admin *admin, struct ql_group *ret_group);

/* The parts of a cfg; false: it is none. */
struct admin_cfg {
    char group[17];
    uint64_t epoch;
    unsigned nodes;
};
bool admin_cfg_read(struct admin_cfg *ret_cfg, const char *text);
void admin_cfg_write(char text[QL_CFG_MAX + 1], const struct admin_cfg *cfg);

/*
 * The addresses for the record, for people to read; where they do not fit, the
 * end says how many there are, and a hash tells two such texts apart. `except`
 * is left out: an index, or -1.
 */
void admin_members_text(char text[QL_MEMBERS_MAX + 1],
                        const struct admin *admin, int except);

/* Whether such a text names the address; and two of them the same ones, in any
 * order. */
bool admin_members_list(const char *members, const char *address);
bool admin_members_same(const char *one, const char *other);

/*
 * Why the node cannot be part of a group, as a sentence that goes on from its
 * address and says what to do; NULL: it can. Not about its record.
 */
#define ADMIN_TEXT 512
const char *admin_unfit(char text[ADMIN_TEXT], const struct admin *admin,
                        unsigned index);

/* The node that is the same server as this one, earlier in the list; -1. */
int admin_twin(const struct admin *admin, unsigned index);

/* How long it takes until what was granted before is over, in us. */
uint64_t admin_wait_us(const struct admin *admin, uint64_t max_ttl_ms,
                       uint64_t slack_ms);

/* The largest fencing number that any node may have given, and the largest
 * TIME of all plus the slack: what a group begins above. */
uint64_t admin_hw(const struct admin *admin);
uint64_t admin_hw_new(const struct admin *admin, uint64_t slack_ms);

/* The verbs of lua/node.lua that a client never uses, with numbers as text. */
bool admin_form(struct admin *admin, unsigned index, const char *cfg,
                uint64_t max_ttl_ms, uint64_t slack_ms, const char *members,
                uint64_t hw);
bool admin_activate(struct admin *admin, unsigned index, const char *cfg);
/* The quarantine lasts `extra_us` longer than the limits say. */
bool admin_again(struct admin *admin, unsigned index, const char *cfg,
                 uint64_t max_ttl_ms, uint64_t slack_ms, const char *members,
                 uint64_t hw, uint64_t extra_us);
bool admin_ready(struct admin *admin, unsigned index, uint64_t hw);
/* What the members shall be: on a majority first, then `next` on each. */
bool admin_plan(struct admin *admin, unsigned index, const char *members);
bool admin_abandon(struct admin *admin, unsigned index);
/* Above the largest number of all that are in the list. */
bool admin_next(struct admin *admin, unsigned index, const char *old_cfg,
                const char *new_cfg, const char *members);
bool admin_join(struct admin *admin, unsigned index,
                const struct ql_record *like, const char *members);
bool admin_settle(struct admin *admin, unsigned index);
bool admin_remove(struct admin *admin, unsigned index);

#endif
