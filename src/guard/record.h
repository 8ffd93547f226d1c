/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A node's record of the group it belongs to (lua/node.lua), and what else is
 * seen of a node when it is greeted.
 */
#ifndef QL_GUARD_RECORD_H
#define QL_GUARD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#define QL_CFG_MAX     48 /* "<16 hex digits>.<epoch>.<nodes>" */
#define QL_RUN_ID_MAX  40
#define QL_MEMBERS_MAX 512 /* addresses for people to read; may be cut */

enum ql_record_state {
    QL_RECORD_ABSENT,
    QL_RECORD_FORMING,    /* written by an init that has not ended yet */
    QL_RECORD_READY,      /* for the process whose run_id stands in `run` */
    QL_RECORD_QUARANTINE, /* it lost something; does not vote for a while */
    QL_RECORD_REMOVED,    /* not a member any more */
    QL_RECORD_STRANGE,    /* not written by us, or by a later version */
};

struct ql_record {
    enum ql_record_state state;
    char cfg[QL_CFG_MAX + 1];
    char prev[QL_CFG_MAX + 1]; /* the cfg before, while both are served */
    char run[QL_RUN_ID_MAX + 1];
    char q_run[QL_RUN_ID_MAX + 1]; /* in whose life the quarantine began */
    char sync[QL_RUN_ID_MAX + 1];  /* in whose life it saved every write */
    uint64_t hw;                   /* no number of this node is larger */
    uint64_t max_ttl_ms, slack_ms;
    uint64_t at_us;  /* the node's TIME when this state began */
    uint64_t ref_us; /* QUARANTINE: the others' TIME then */
    uint64_t now_us; /* the node's TIME when it was looked at */
    char members[QL_MEMBERS_MAX + 1];
    char plan[QL_MEMBERS_MAX + 1]; /* members that they shall be; "": none */
};

/* A node as one greeting saw it. */
struct ql_sight {
    bool reachable;                 /* else nothing below is known */
    char run_id[QL_RUN_ID_MAX + 1]; /* "": INFO is not allowed */
    int64_t uptime_s;               /* -1: not known */
    bool replica;
    bool cluster; /* redis_mode:cluster */
    bool evicts;  /* maxmemory is set, and its policy not noeviction */
    bool durable; /* appendfsync always, as far as CONFIG GET may be asked */
    char eviction[32];
    struct ql_record record;
    uint64_t sent_ns, got_ns; /* by our clock: around record.now_us */
};

/* Fields as lua/node.lua answers them, from cfg on. What our scripts would not
 * have written makes it STRANGE; false: not even `now` is a time. */
#define QL_RECORD_FIELDS 13
bool ql_record_read(struct ql_record *record, const char *now,
                    const char *const field[QL_RECORD_FIELDS]);
/* The same for a node that has none. */
bool ql_record_read_absent(struct ql_record *record, const char *now);

#endif
