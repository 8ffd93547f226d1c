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

/* What this client should do about one node, now: a verb of lua/node.lua. */
enum ql_duty {
    QL_DUTY_NONE,
    QL_DUTY_FORM,
    QL_DUTY_ACTIVATE,
    QL_DUTY_QUARANTINE,
    QL_DUTY_READY,
    QL_DUTY_DURABLE,
    QL_DUTY_VERIFIED,
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
    uint64_t max_ttl_ms, slack_ms;
    char members[QL_MEMBERS_MAX + 1];
    uint64_t hw; /* for QL_DUTY_READY: of enough other nodes */
    struct ql_standing node[QL_NODES_MAX];
};

struct ql_group_view {
    unsigned nodes;
    uint32_t drift_ppm;
    uint64_t max_ttl_ms, slack_ms; /* for a group that is formed now */
    bool may_form;                 /* without being asked: see `uptime_s` */
    const struct ql_sight *const *sight; /* `nodes` of them */
    const char *const *address;          /* likewise, for texts */
    uint64_t ref_us; /* the median of the nodes' TIME now; 0: not known */
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

/* The words of lua/node.lua for a duty: fills argv, NULL-terminated, from the
 * texts in `text`. */
struct ql_duty_text {
    char number[3][24];
};
void ql_duty_words(enum ql_duty duty, const struct ql_group *group,
                   const struct ql_sight *sight, uint64_t ref_us,
                   uint32_t drift_ppm, struct ql_duty_text *text,
                   const char **argv);

#endif
