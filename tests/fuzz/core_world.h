/* SPDX-License-Identifier: BSD-2-Clause */
/* The world of the fuzz target core.c. */
#ifndef TESTS_FUZZ_CORE_WORLD_H
#define TESTS_FUZZ_CORE_WORLD_H

#include "core/machine.h"

#define MACHINES  3
#define NODES_MAX 5
#define QUEUE_MAX 64
#define SAID_MAX  8 /* numbers that a node said to one owner */
#define GIVEN_MAX 8192
#define TTL_NS    UINT64_C(100000000)

struct message {
    enum ql_request_kind request;
    uint32_t round;
    uint32_t token;
    uint64_t ttl_ns;
    uint64_t fence;      /* sent: ACQUIRE: the proposal */
    enum ql_vote answer; /* ASKED: the node has not had it yet */
    uint32_t holder;
    uint64_t remaining_ns;
    uint64_t number; /* answered */
    bool repaired;
    struct ql_prev prev;
};

/* One connection: requests go down it, and answers come up, in order. */
struct link {
    struct message queue[QUEUE_MAX];
    unsigned head, served, count;
};

struct player {
    struct ql_machine *machine;
    uint32_t token;
    bool asked; /* the caller waits for an outcome */
    struct link link[NODES_MAX];

    uint64_t proposal;        /* of the last attempt */
    uint64_t fence;           /* that was given out for it; 0: none */
    uint64_t floor;           /* the largest given out before it, */
    uint64_t extension_floor; /* and before the last extension */
    uint64_t said[NODES_MAX][SAID_MAX];
};

struct node {
    uint32_t token; /* 0: no key */
    uint64_t expires_at;
    uint64_t number;      /* fenced, like all that follows */
    uint32_t last;        /* who has, or had, the lease */
    uint64_t lease_until; /* unless it was released */
    int end;              /* QL_PREV_... */
};

struct world {
    const uint8_t *data;
    size_t size;
    uint64_t now;
    uint32_t tokens;
    struct ql_rules rules;
    struct ql_terms terms;
    struct player player[MACHINES];
    struct node node[NODES_MAX];
    bool vanish; /* leases do */
    uint64_t given[GIVEN_MAX], largest;
    unsigned given_out;
};

/* The node does what it is asked for, by the same clock. */
void serve(struct world *w, unsigned n, struct message *m);

#endif
