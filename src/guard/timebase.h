/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What time the nodes show, as far as their answers told, and which of them
 * are too far from the others to be counted. Pure.
 */
#ifndef QL_GUARD_TIMEBASE_H
#define QL_GUARD_TIMEBASE_H

#include <stdbool.h>
#include <stdint.h>

struct ql_timebase_node {
    uint64_t time_us; /* its TIME, 0: never heard */
    uint64_t at_ns;   /* at this moment of our clock: half way */
};

struct ql_timebase {
    unsigned nodes, quorum;
    /* What is known is not given up for an answer that took longer, unless
     * the answer shows that it is wrong. */
    uint64_t trusted_ns;
    struct ql_timebase_node *node; /* `nodes` of them, the caller's memory */
};

/* An answer with TIME has come. */
void ql_timebase_note(struct ql_timebase *base, unsigned node, uint64_t time_us,
                      uint64_t sent_ns, uint64_t got_ns);
/* What was heard is not true any more: another process answers there. */
void ql_timebase_forget(struct ql_timebase *base, unsigned node);

/* The node's TIME at `now_ns`; 0: not known. */
uint64_t ql_timebase_of(const struct ql_timebase *base, unsigned node,
                        uint64_t now_ns);

struct ql_band {
    uint64_t low_us, high_us; /* a node's TIME must be within, bounds too */
    uint64_t median_us;       /* for a proposal: the lower end's middle */
};

/* False: fewer than a quorum are known, or no node could be counted. */
bool ql_timebase_band(const struct ql_timebase *base, uint64_t slack_us,
                      uint64_t now_ns, struct ql_band *ret_band);

#endif
