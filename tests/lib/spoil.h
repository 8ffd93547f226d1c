/* SPDX-License-Identifier: BSD-2-Clause */
/* Brings a real server into a state in which it refuses a lock. */
#ifndef TESTS_LIB_SPOIL_H
#define TESTS_LIB_SPOIL_H

#include "quorlock/quorlock.h"
#include "servers.h"

struct fault {
    /* Words for the command line of a server that is to be spoiled. */
    const char *const *config;
    void (*spoil)(struct server *server); /* NULL: the words are enough */
    void (*mend)(struct server *server);  /* NULL: there is no way back */
    ql_verdict verdict;
    int majority_result; /* of an acquire, if a majority is spoiled */
    bool keeps_old;      /* whoever is connected already does not notice */
    bool late;           /* an extension is refused, an acquire is just held */
};

extern const struct fault fault_loading, fault_readonly, fault_misconf,
    fault_oom, fault_busy, fault_noperm, fault_noauth, fault_wrongpass,
    fault_wrongtype, fault_clusterdown, fault_noreplicas, fault_maxclients;

/* The name for which fault_wrongtype makes a list; and the user that
 * fault_noperm takes rights from. His password is SPOIL_PASSWORD everywhere. */
#define SPOIL_NAME     "the name"
#define SPOIL_USER     "locker"
#define SPOIL_PASSWORD "right"

#endif
