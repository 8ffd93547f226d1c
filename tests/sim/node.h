/* SPDX-License-Identifier: BSD-2-Clause */
/* A node of the world: a server process on a machine with a clock. */
#ifndef TESTS_SIM_NODE_H
#define TESTS_SIM_NODE_H

#include "network.h"
#include "redis_model.h"
#include "vclock.h"

enum node_state {
    NODE_RUNS,
    NODE_FROZEN, /* SIGSTOP: the kernel still accepts and stores */
    NODE_DOWN,   /* no process: the machine refuses connections */
    NODE_OFF,    /* no machine */
};

enum acceptance { NODE_ACCEPTS, NODE_REFUSES, NODE_IS_SILENT };

/* How a clock that is kept right strays from true time: to and fro, never
 * further than the slack allows. */
struct wobble {
    uint64_t since, phase; /* then it was so far on its way */
    uint64_t ppm;          /* so fast it goes */
};

struct sim_node {
    struct redis redis;
    enum node_state state;
    struct vclock clock; /* the wall clock, by which keys expire */
    uint64_t slow_ns;    /* what each batch of commands takes */
    uint64_t loading_until;
    struct keyspace synced; /* as it would be after a crash with everysec */
    uint64_t synced_at;
    /* Until when it may lack votes that it gave: what it did is outside the
     * fault model. */
    uint64_t tainted_until;
    /* The guarded level; see soundness.c. */
    struct wobble wobble;
    uint64_t struck_at; /* the last time that anything went wrong */
    bool clock_wrong;
    uint64_t clock_set;   /* so many times */
    uint64_t clock_until; /* it was, and a lease of then may live */
    uint64_t data_until;  /* it may lack a lease, or keep it by one key alone */
    bool lost;            /* data; and has not been declared ready since */
    bool was_ready, in_quarantine;
    bool disguised;          /* another server answers on old connections */
    struct keyspace replica; /* what a replica has of it */
    uint64_t replica_at;
    /* Until when it may have keys for longer than their ttl: nobody is harmed,
     * but they cannot be followed. */
    uint64_t odd_until;
};

void node_open(struct world *w, unsigned index);
void node_free(struct sim_node *node);

/* Something has arrived on a connection. */
void node_receive(struct world *w, struct conn *conn);
enum acceptance node_accept(struct world *w, unsigned index);

/* Its wall clock, in microseconds as Redis reads it. */
int64_t node_clock_us(const struct world *w, const struct sim_node *node);

/* Whether the lock's key there has this token, now. */
const struct key *node_key(const struct world *w, unsigned index,
                           const char *name, const char *token);

/* Whether a lock's lease record there is this token's, and live. */
bool node_lease(const struct world *w, unsigned index, const char *record,
                const char *token);

void node_freeze(struct world *w, unsigned index);
void node_thaw(struct world *w, unsigned index);
/* `off`: with its machine. */
void node_kill(struct world *w, unsigned index, bool off);
void node_start(struct world *w, unsigned index);
/* Another process takes its place at once, and nobody is told. */
void node_swap(struct world *w, unsigned index);
void node_hang_up_all(struct world *w, unsigned index);
void node_taint(struct world *w, unsigned index, uint64_t ns);
unsigned nodes_tainted(const struct world *w);

#endif
