/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `quorlock run` runs: goes inside, shows signs of life there, and
 * leaves.
 *
 *     chaos_insider ORACLE SLOT LOCK HOLD_MS [deaf]
 *
 * It knows nothing of validity: that it is stopped in time is quorlock's
 * promise. When it is killed, the oracle has its last sign of life. "deaf": it
 * ignores SIGTERM.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "oracle.h"

#define TICK_US 500

/* QUORLOCK_VALID_UNTIL_MS is in CLOCK_BOOTTIME; the oracle's clock stands still
 * while the machine is suspended, and otherwise runs beside it. */
static uint64_t valid_until_ns(void)
{
    const char *text = getenv("QUORLOCK_VALID_UNTIL_MS");
    struct timespec boot;
    uint64_t now_ns = oracle_now_ns();

    if (!text || clock_gettime(CLOCK_BOOTTIME, &boot))
        return 0;
    return strtoull(text, NULL, 10) * 1000000 + now_ns -
           ((uint64_t)boot.tv_sec * 1000000000 + (uint64_t)boot.tv_nsec);
}

/* 0 at the plain level. */
static uint64_t fence(void)
{
    const char *text = getenv("QUORLOCK_FENCE");

    return text ? strtoull(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    struct witness witness = {0};
    uint64_t end_ns;

    if (argc < 5) {
        fprintf(stderr, "usage: chaos_insider ORACLE SLOT LOCK HOLD_MS\n");
        return 64;
    }
    if (argc > 5 && !strcmp(argv[5], "deaf"))
        signal(SIGTERM, SIG_IGN);
    witness.oracle = oracle_open(argv[1]);
    witness.slot = (unsigned)atoi(argv[2]) % ORACLE_SLOTS;
    witness.lock = (unsigned)atoi(argv[3]) % ORACLE_LOCKS;
    oracle_enter(&witness, valid_until_ns(), fence());
    end_ns = oracle_now_ns() + strtoull(argv[4], NULL, 10) * 1000000;
    while (!oracle_tick(&witness) && oracle_now_ns() < end_ns)
        oracle_sleep_us(TICK_US);
    oracle_leave(&witness);
    return 0;
}
