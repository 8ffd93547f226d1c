/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files that judge a group share. judge.c goes from the servers to
 * the standings; choose.c finds the group that is spoken for; form.c deals with
 * nodes that belong to none yet; recover.c with nodes that have lost something;
 * sentence.c has the words.
 */
#ifndef QL_GUARD_JUDGING_H
#define QL_GUARD_JUDGING_H

#include "guard/group.h"

#define QL_US_PER_MS UINT64_C(1000)
#define QL_US_PER_S  UINT64_C(1000000)
#define QL_UNKNOWN   UINT64_MAX

/* "<16 hex digits>.<epoch>.<nodes>", taken apart. */
struct ql_cfg {
    char group[17];
    uint64_t epoch;
    unsigned nodes;
};

bool ql_cfg_parse(struct ql_cfg *ret_cfg, const char *text);

/* How a node stands to the group that this client speaks for. */
enum ql_condition {
    QL_AWAY,       /* nothing is known of it */
    QL_UNFIT,      /* something to be changed keeps it from voting */
    QL_OUTSIDE,    /* not of the group, and nothing that we do changes that */
    QL_READY,      /* may vote */
    QL_RETURNING,  /* may vote as soon as its duty is done */
    QL_LOST,       /* its record is gone: so may be everything else */
    QL_RESTARTED,  /* another process than was declared ready */
    QL_QUARANTINE, /* its quarantine has begun */
};

struct ql_judging {
    struct ql_group *group;
    const struct ql_group_view *view;
    unsigned quorum;
    bool settled; /* a quorum has group->cfg */
    bool mixed;   /* nodes of another group are listed too */
    /* The newest record of the group that was seen. */
    const struct ql_record *model;
    uint64_t quarantine_us;
    enum ql_condition condition[QL_NODES_MAX];
};

static inline const struct ql_sight *ql_sight_at(const struct ql_judging *j,
                                                 unsigned i)
{
    return j->view->sight[i];
}

static inline bool ql_record_is_active(const struct ql_record *record)
{
    return record->state == QL_RECORD_READY ||
           record->state == QL_RECORD_QUARANTINE;
}

/* Whether a node's record has something to tell us: it is a master, and not
 * one that was counted already. */
static inline bool ql_is_heard(const struct ql_judging *j, unsigned i)
{
    return j->condition[i] != QL_AWAY && j->condition[i] != QL_OUTSIDE;
}

unsigned ql_count(const struct ql_judging *j, enum ql_condition condition);

/* choose.c: finds group->cfg and what goes with it, or returns false. */
bool ql_choose(struct ql_judging *j);
/* Whether the record serves `cfg`, as the present one or the one before. */
bool ql_record_serves(const struct ql_record *record, const char *cfg);
/* Whether the group knows the node under the name in our list. */
bool ql_is_member(const struct ql_judging *j, unsigned i);

/* form.c: no group was found. */
void ql_judge_formless(struct ql_judging *j);
/* The config that all nodes, as they run now, would be given. */
bool ql_derive_all(const struct ql_judging *j, char cfg[QL_CFG_MAX + 1]);

/* judge.c: why the node is not of our group, by its record; makes it so. */
void ql_explain_outside(struct ql_judging *j, unsigned i);

/* recover.c: nodes that are LOST, RESTARTED, or in QUARANTINE. */
void ql_judge_recovery(struct ql_judging *j);

/* sentence.c */

/* Sets the verdict and its words, in printf's manner. */
void ql_say(struct ql_judging *j, unsigned i, ql_verdict verdict,
            const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "42 s", "17 min". */
void ql_say_duration(char *out, size_t size, uint64_t us);
/* "quorlock init WORDS-S a,b,c", as far as it fits into `room` bytes. */
void ql_say_init(const struct ql_judging *j, char out[QL_TEXT_MAX],
                 const char *words, size_t room);
/* The group's members by a record, or as much of them as fits. */
void ql_say_members(char *out, size_t size, const struct ql_record *record);
/* The node's address. */
void ql_say_address(char *out, size_t size, const struct ql_judging *j,
                    unsigned i);

#endif
