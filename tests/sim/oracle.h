/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must never be, judged with the true time, after every event. The fault
 * model and the promises are in doc/proof.md.
 */
#ifndef TESTS_SIM_ORACLE_H
#define TESTS_SIM_ORACLE_H

#include "bounds.h"
#include "client.h"
#include "fences.h"

#define HOLDERS_MAX  (CLIENTS_MAX * HANDLES_MAX)
#define FOLLOWED_MAX 4096

/* One lock of the world, seen by somebody who knows everything. */
struct lock_record {
    char name[16];
    char record[40];                    /* the name of its lease record */
    struct handle *holder[HOLDERS_MAX]; /* who believe to be, rightly or not */
    unsigned holders;
    uint64_t acquired;     /* how often, since the count was last set back */
    uint64_t overlap_told; /* of holders that are still overlapping */
    char left_token[QL_TOKEN_MAX + 1]; /* "": none waits to be adopted */
    bool left_guarded;                 /* by a client of that level */
    struct fences fences;
};

/* The token of an attempt that has ended: its keys must go. */
struct followed {
    bool used;
    uint8_t client, lock;
    uint8_t looks;
    uint32_t incarnation;
    char token[QL_TOKEN_MAX + 1];
};

struct oracle {
    struct lock_record lock[LOCKS_MAX];
    struct followed followed[FOLLOWED_MAX];
    unsigned followeds; /* so many were ever used */
};

void oracle_open(struct world *w);

/* A client has done something: sees what its locks have become. */
void oracle_look(struct world *w, struct sim_client *c);
/* Something has happened somewhere. */
void oracle_check(struct world *w);
/* The handle is about to be freed, or its process is gone. */
void oracle_forget(struct world *w, struct handle *handle);
/* The program was told that the lock is released. */
void oracle_released(struct world *w, const struct handle *handle);

/* follow.c */
void follow(struct world *w, const struct handle *handle, const char *token);

#endif
