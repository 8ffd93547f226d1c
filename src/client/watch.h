/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guarded level's eye on the nodes: which may vote, what time they show,
 * and what is to be done so that the others may vote again. The judgement is
 * pure (src/guard/); here its words are carried to the nodes and back.
 */
#ifndef QL_CLIENT_WATCH_H
#define QL_CLIENT_WATCH_H

#include "guard/group.h"
#include "guard/timebase.h"
#include "redis/node.h"

struct ql_client;
struct ql_lock;
struct ql_member;

struct ql_watch {
    struct ql_group group;
    struct ql_timebase base;
    struct ql_timebase_node time[QL_NODES_MAX];
    struct ql_sight *sight; /* one per node, as last seen */
    uint64_t looked_at[QL_NODES_MAX];
    uint8_t last_duty[QL_NODES_MAX]; /* enum ql_duty; and when it was done */
    uint64_t did_at[QL_NODES_MAX];
    uint32_t tending; /* nodes with a RECORD on its way */
    uint64_t fence;   /* the largest that any node answered */
    uint64_t keep_ms;
    bool strict;
    bool known; /* there was a group once */
};

/* False: out of memory. */
bool ql_watch_new(struct ql_client *client, bool strict, uint64_t keep_ms);
void ql_watch_free(struct ql_client *client);

/* A greeting has ended; a connection is gone. */
void ql_watch_ready(struct ql_member *member);
void ql_watch_gone(struct ql_member *member);

/* Whatever a node answers tells its time, and perhaps that it must be looked
 * at again. */
void ql_watch_heard(struct ql_member *member, const struct ql_answer *answer);

/* Before an attempt or an extension: looks again at nodes that did not vote,
 * or at all if their clocks seemed to disagree, at most once a second. */
void ql_watch_refresh(struct ql_client *client);

/* QL_V_GRANTED: it may vote. Else why not, in words too. */
ql_verdict ql_watch_verdict(const struct ql_member *member,
                            const char **ret_text);

/* Whether it may yet turn out to vote: something is on its way to it. */
bool ql_watch_hopeful(const struct ql_member *member);

/*
 * What a round of guarded requests carries: the same to each node. False: the
 * nodes' clocks do not allow any.
 */
bool ql_watch_aim(const struct ql_client *client, struct ql_guard *ret_guard);

#endif
