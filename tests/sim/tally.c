/* SPDX-License-Identifier: BSD-2-Clause */
#include "tally.h"

#include <inttypes.h>
#include <stdio.h>

void tally_add(struct tally *sum, const struct tally *more)
{
    sum->worlds += more->worlds;
    sum->worlds_outside += more->worlds_outside;
    sum->worlds_guarded += more->worlds_guarded;
    sum->acquisitions += more->acquisitions;
    sum->attempts += more->attempts;
    sum->commands += more->commands;
    sum->events += more->events;
    sum->simulated_ns += more->simulated_ns;
    for (unsigned i = 0; i < FAULTS; i++)
        sum->fault[i] += more->fault[i];
    sum->overlaps_outside += more->overlaps_outside;
    sum->overlaps_guarded += more->overlaps_guarded;
    sum->losses_told += more->losses_told;
    sum->released += more->released;
    sum->gone += more->gone;
    sum->unsure += more->unsure;
    sum->extended += more->extended;
    sum->adopted += more->adopted;
    sum->verified += more->verified;
    sum->fences += more->fences;
    sum->one_round += more->one_round;
    sum->confirms += more->confirms;
    sum->repaired += more->repaired;
    sum->skewed += more->skewed;
    sum->unready += more->unready;
    sum->quarantines += more->quarantines;
    sum->died += more->died;
    sum->keys_checked += more->keys_checked;
    sum->proofs += more->proofs;
    sum->crowded += more->crowded;
    if (more->queue_longest > sum->queue_longest)
        sum->queue_longest = more->queue_longest;
}

static void row(const char *what, uint64_t count)
{
    printf("  %14" PRIu64 "  %s\n", count, what);
}

void tally_print(const struct tally *tally, double seconds)
{
    static const char *const ranks[] = {
        "by themselves:", "inside the model:", "outside the model:",
        "outside the plain model, and only with guarded nodes:"};

    row("worlds", tally->worlds);
    row("of them with faults outside the model", tally->worlds_outside);
    row("of them with guarded nodes", tally->worlds_guarded);
    row("acquisitions", tally->acquisitions);
    row("attempts", tally->attempts);
    row("commands carried out by nodes", tally->commands);
    row("extensions", tally->extended);
    row("verifications", tally->verified);
    row("locks adopted by their token", tally->adopted);
    row("releases: released", tally->released);
    row("releases: gone", tally->gone);
    row("releases: cannot tell", tally->unsure);
    row("losses told to a program", tally->losses_told);
    row("countings of a holder's majority", tally->proofs);
    row("tokens followed until their keys were gone", tally->keys_checked);
    row("fencing tokens given out", tally->fences);
    row("of them after one round trip", tally->one_round);
    row("confirmations carried out by nodes", tally->confirms);
    row("leases repaired by extensions", tally->repaired);
    row("refused for a clock", tally->skewed);
    row("refused by nodes that may not vote", tally->unready);
    row("quarantines", tally->quarantines);
    row("holders who were told that the one before died", tally->died);
    row("longest queue", tally->queue_longest);
    row("worlds in which contenders kept each other out", tally->crowded);
    for (unsigned rank = OPEN; rank <= GUARDED; rank++) {
        printf("  faults, %s\n", ranks[rank]);
        for (unsigned i = 0; i < FAULTS; i++)
            if (fault_rank((enum fault)i) == rank)
                row(fault_word((enum fault)i), tally->fault[i]);
    }
    row("overlaps of two holders, outside the model", tally->overlaps_outside);
    row("overlaps of two guarded holders, outside the guarded model",
        tally->overlaps_guarded);
    printf("  %.1f simulated days (%.3f years), %.0f steps/s, "
           "%.0f acquisitions/s, %.1f s\n",
           (double)tally->simulated_ns / 1e9 / 86400,
           (double)tally->simulated_ns / 1e9 / 86400 / 365.25,
           (double)tally->events / seconds,
           (double)tally->acquisitions / seconds, seconds);
}
