/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One simulated world: nodes, clients, the network between them, and the true
 * time, which nobody in it can see.
 *
 *     swarm.c    what it is like: drawn from the seed
 *     node.c     a server: redis_model.c, lua.c, keyspace.c, and its troubles
 *     wire.c, network.c   connections
 *     client.c   a process that uses the library; kernel.c is its kernel
 *     program.c  what that process does with its locks
 *     guarded.c  what the guarded level writes on nodes
 *     faults.c, troubles.c   what goes wrong; soundness.c: how much of it
 *     oracle.c, follow.c, fences.c  what must never be
 *     tale.c     what happened, in words
 *
 * The library in it is the whole production library, unchanged and unaware: the
 * linker takes its system calls to kernel.c (see CMakeLists.txt).
 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

#include <setjmp.h>

#include "bounds.h"
#include "client.h"
#include "events.h"
#include "kernel.h"
#include "network.h"
#include "node.h"
#include "oracle.h"
#include "swarm.h"
#include "tale.h"
#include "tally.h"

struct world {
    uint64_t seed;
    uint64_t now; /* true nanoseconds */
    bool calm;    /* the faults are over: the liveness phase */
    bool patient; /* it only waits for nodes: programs do less */
    bool crowded; /* only the first client goes on trying for locks */
    bool over;    /* everybody is to go, and nobody comes back */
    struct dice dice;
    struct swarm swarm;
    struct events events;
    struct network network;
    struct sim_node node[NODES_MAX];
    struct sim_client client[CLIENTS_MAX];
    struct kernel kernel;
    struct oracle oracle;
    struct attempt attempt[ATTEMPTS_MAX];
    struct tale tale;
    struct tally tally;
    uint64_t hash; /* of all that happened */
    jmp_buf stop;  /* taken by world_fail() */
    char failure[256];
};

struct world_options {
    uint64_t seed;
    uint64_t acquisitions; /* when to begin to end */
    enum swarm_choice choice;
    enum swarm_level level;
    bool verbose;
};

/* The world's whole life. NULL: out of memory. To be given to world_free(). */
struct world *world_run(const struct world_options *options);
void world_free(struct world *w);
/* The one that lives now, or NULL: for a last word when the program aborts. */
extern struct world *world_alive;

/* Lets everything happen that is due until then. */
void world_pass(struct world *w, uint64_t until);

/* A promise is broken: this world ends here. */
_Noreturn void world_fail(struct world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* No key set by a client's request lives longer by a good clock. */
uint64_t world_lease_ns(const struct world *w);

#endif
