/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A world for machines to contend in: a few nodes, each of them one key with a
 * holder and an expiry, and a line from each machine to each node that keeps
 * the order, as src/core/machine.h asks for. Time is virtual. What is random
 * comes from one seed, so that a run can be had again.
 *
 * With rules.fenced nodes also have a number, and a record of the lease; then
 * whatever is told of tokens is checked, see world_fence.c.
 */
#ifndef TESTS_LIB_WORLD_H
#define TESTS_LIB_WORLD_H

#include "core/machine.h"

#define WORLD_NODES    7
#define WORLD_MACHINES 4
#define WORLD_LINE     64 /* requests without an answer on one line */
#define WORLD_SAID     8  /* numbers that a node answered to one token */
#define WORLD_GIVEN    1000

struct world_node {
    bool up;
    bool bars;         /* refuses everything, for good */
    uint32_t fast_ppm; /* its clock runs faster than ours */
    uint64_t token;    /* of the key that is there; 0: none */
    uint64_t expires_at;

    /* Fenced: */
    uint64_t fence;       /* the number */
    uint64_t last;        /* whose lease it is, or was; 0: nobody's yet */
    int end;              /* QL_PREV_...: how it ended, or is about to */
    uint64_t lease_until; /* unless it was released */
};

struct world_request {
    enum ql_request_kind kind;
    uint32_t round;
    uint64_t ttl_ns;
    uint64_t token;
    uint64_t fence; /* ACQUIRE: what is proposed */
    uint64_t arrives_at, answers_at;
    bool done; /* by the node */
    struct ql_event answer;
};

/* First in, first out, both ways; `request[0]` is the oldest. */
struct world_line {
    unsigned count;
    struct world_request request[WORLD_LINE];
};

struct world_machine {
    struct ql_machine *machine;
    struct ql_terms terms;
    uint64_t token;        /* of the last attempt; 0: none yet */
    uint64_t attempted_at; /* the last attempt */
    uint64_t paused_until; /* the process is stopped */
    uint64_t lag;          /* its timers are late by this */
    unsigned spins;        /* calls by its timer that led nowhere */
    bool token_fails;      /* the next one cannot be drawn */
    uint64_t proposal;     /* of the last attempt */
    uint64_t fence;        /* that its token was given; 0: none yet */
    uint64_t floor;        /* the largest given out before it */
    uint64_t extension_floor;
    uint64_t said[WORLD_NODES][WORLD_SAID];
    struct world_line line[WORLD_NODES];
};

struct world {
    uint64_t now;
    struct ql_rand rand;
    struct ql_rules rules;
    unsigned machines;
    struct world_node node[WORLD_NODES];
    struct world_machine machine[WORLD_MACHINES];
    uint64_t tokens; /* drawn so far */
    bool releases_lost;
    uint64_t given[WORLD_GIVEN]; /* fencing tokens, so far */
    unsigned given_out;
    uint64_t largest;

    /* How a message fares: at least, usually, and now and then at most. */
    uint64_t latency_least_ns, latency_ns, latency_most_ns;
    unsigned late_per_mille;
    unsigned refused_per_mille; /* requests that cannot be sent just now */
    unsigned skewed_per_mille;  /* that a fenced node refuses for its clock */

    /* Called when a machine attempts to acquire, and for all it tells. */
    void (*attempts)(struct world *w, unsigned machine);
    void (*tells)(struct world *w, unsigned machine, enum ql_outcome outcome);
};

void world_open(struct world *w, unsigned nodes, unsigned machines,
                uint64_t seed);
/* Also to start a machine anew: what it had on its lines is lost. */
void world_start_machine(struct world *w, unsigned machine,
                         const struct ql_terms *terms);
void world_close(struct world *w);

/* `low` to `high`, both included. */
uint64_t world_random(struct world *w, uint64_t low, uint64_t high);
bool world_chance(struct world *w, unsigned per_mille);

/* The event happens to the machine now, and its actions are carried out. */
void world_event(struct world *w, unsigned machine, struct ql_event event);

/* When something happens next by itself; QL_NEVER: nothing will. */
uint64_t world_due(const struct world *w);
/* Goes on to that moment and lets it happen; false: nothing will. */
bool world_step(struct world *w);

/* The connection breaks: what was not delivered is lost. */
void world_break_line(struct world *w, unsigned machine, unsigned node);
/* All connections to it break, and none can be made until it is up. */
void world_down(struct world *w, unsigned node);

/* Whose lease the node has, the key's or the record's; 0: nobody's. */
uint64_t world_owner(const struct world *w, const struct world_node *node);
/* Nodes on which the token's key is, now. */
unsigned world_keys(const struct world *w, uint64_t token);
uint64_t world_valid_ns(const struct world *w, unsigned machine);
bool world_lines_empty(const struct world *w);

#endif
