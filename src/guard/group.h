/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judges a group of nodes by what was seen of each: which may vote, and what
 * is to be done so that the others may again. Pure: no clock, no I/O.
 */
#ifndef QL_GUARD_GROUP_H
#define QL_GUARD_GROUP_H

#include <quorlock/quorlock.h>

#include "guard/record.h"

#define QL_MAX_TTL_DEFAULT_MS UINT64_C(300000)
#define QL_SLACK_DEFAULT_MS   UINT64_C(500)

/*
 * What this client should do about one node, now: a verb of lua/node.lua. Its
 * answer is the node's record, and all is judged anew. A duty that has changed
 * nothing need not be done again within a second.
 */
enum ql_duty {
    QL_DUTY_NONE,
    QL_DUTY_FORM,
    QL_DUTY_ACTIVATE,
    QL_DUTY_QUARANTINE,
    QL_DUTY_READY,
    QL_DUTY_DURABLE,
    QL_DUTY_VERIFIED,
    QL_DUTY_LOOK, /* what it said is too old for another's READY */
};

struct ql_standing {
    ql_verdict verdict; /* GRANTED: it may vote */
    enum ql_duty duty;
    uint64_t left_us; /* NOTREADY: of its quarantine; UINT64_MAX: not known */
    char text[QL_TEXT_MAX]; /* goes with the verdict; says what to do */
};

struct ql_group {
    bool known;               /* cfg and the rest are; else no node may vote */
    char cfg[QL_CFG_MAX + 1]; /* what this client speaks for */
    /* The newest that a record shows: what a node is given that has lost its
     * own. In the middle of a change of members it can be another than `cfg`.
     * No `prev` is given along: it may be a node that joined with the change.
     */
    char newest[QL_CFG_MAX + 1];
    uint64_t max_ttl_ms, slack_ms;
    char members[QL_MEMBERS_MAX + 1];
    uint64_t hw; /* for READY: of enough other nodes; for FORM */
    struct ql_standing node[QL_NODES_MAX];
};

struct ql_group_view {
    unsigned nodes;
    uint32_t drift_ppm;
    uint64_t max_ttl_ms, slack_ms; /* for a group that is formed now */
    /* Without being asked, if all have been up for long. Not for a client that
     * has known a group on these nodes: they would all have lost it. */
    bool may_form;
    const struct ql_sight *const *sight; /* `nodes` of them */
    const char *const *address;          /* likewise, for texts */
    /* The median of the nodes' TIME now. 0: not known; then no quarantine
     * begins or ends, because it is timed by this clock, too. */
    uint64_t ref_us;
    /* The nodes' TIME now, as estimated; 0: not known. */
    const uint64_t *time_us;
};

void ql_group_judge(struct ql_group *group, const struct ql_group_view *view);

/* How long a node that has lost something does not vote. */
uint64_t ql_quarantine_us(uint64_t max_ttl_ms, uint64_t slack_ms,
                          uint32_t drift_ppm);

/* The config string of nodes that were never initialised: the same for
 * whoever asks. `run_id` are their run_ids, in any order. */
void ql_group_derive(char cfg[QL_CFG_MAX + 1], unsigned nodes,
                     const char *const *run_id);

/*
 * The words of lua/node.lua for a duty: fills argv, NULL-terminated, from the
 * texts in `text`, the group's and the sight's, which must outlive them.
 */
#define QL_DUTY_WORDS 8 /* at most, and the NULL */
struct ql_duty_text {
    char number[3][24];
};
void ql_duty_words(enum ql_duty duty, const struct ql_group *group,
                   const struct ql_sight *sight, uint64_t ref_us,
                   uint32_t drift_ppm, struct ql_duty_text *text,
                   const char *argv[QL_DUTY_WORDS + 1]);

#endif
