/* SPDX-License-Identifier: BSD-2-Clause */
/* What is counted: of one world, and summed over all. */
#ifndef TESTS_SIM_TALLY_H
#define TESTS_SIM_TALLY_H

#include <stdint.h>

#include "core/machine.h"
#include "swarm.h"

#define RESULTS_MAX 32

struct tally {
    uint64_t worlds, worlds_outside, worlds_guarded;
    uint64_t acquisitions; /* that were told to a program */
    uint64_t attempts;     /* a token each */
    uint64_t commands;     /* carried out by nodes */
    uint64_t events;
    uint64_t simulated_ns;
    uint64_t fault[FAULTS];
    uint64_t overlaps_outside; /* two holders, excused by the model */
    uint64_t overlaps_guarded; /* the same, of two guarded clients */
    uint64_t losses_told;
    uint64_t released, gone, unsure;
    uint64_t extended, adopted, verified;
    uint64_t fences;    /* acquisitions at the guarded level */
    uint64_t one_round; /* of them, with one round trip */
    uint64_t confirms, repaired, skewed, unready, quarantines, died;
    uint64_t keys_checked;  /* tokens followed until their keys were gone */
    uint64_t proofs;        /* times at which a holder's majority was counted */
    uint64_t crowded;       /* worlds in which contenders kept each other out */
    uint64_t queue_longest; /* requests of one client at one node */
};

void tally_add(struct tally *sum, const struct tally *more);
void tally_print(const struct tally *tally, double seconds);

#endif
