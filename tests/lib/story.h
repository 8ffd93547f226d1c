/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A story is a run of the pure machine (src/core) in words, with a clock of its
 * own: each line is something that happens, and behind the arrow what the
 * machine does about it. The text is script and expected trace at once:
 *
 *     t=0.000  try     -> token; ask acquire of all
 *     t=0.001  n1 yes
 *     t=0.002  n2 yes  -> ACQUIRED, valid for 9.896   (two of three decide)
 *
 * story() plays what stands left of the arrows, writes down the trace, and
 * compares it with the text; if they differ the test fails and shows both.
 *
 * Lines. Blanks do not count; what stands in parentheses is a remark; a line
 * that begins with an arrow continues the one above it.
 *
 * Times. `t=1.234` in seconds; `+0.001` after the line above; `t=due`: when the
 * machine wants to be called. Where the clock passes a moment at which the
 * machine wants to be called, it is called, and that line must be in the text
 * (as a `time`). At the very moment of another line it is not: say `time`.
 *
 * What may happen:
 *
 *     try, acquire, acquire within 2.000     once, for ever, for so long
 *     adopt, extend 5.000, release, verify, inspect, cancel, abort, wake
 *     adopt #7                               whose token is known
 *     time        nothing but time
 *     sleep       the process was stopped until now, and its timers with it
 *     n1 n2 yes   the nodes answer the oldest request they owe an answer to,
 *                 or, if they owe several, the one named: `n1 release: yes`.
 *                 yes, missing, held, held by A, failed, unsent, barred,
 *                 skewed; and behind it the time left to the key, if it is
 *                 told. Of a fenced lock, `yes #7` tells the key's number,
 *                 `yes #7 after A ended #5` (or released) who had it before,
 *                 with `earlier B` for others before that whose leases ended,
 *                 and `missing repaired` that the node has put it back.
 *     valid? due? state? expires?            what the machine says of itself
 *     fence? died?
 */
#ifndef TESTS_LIB_STORY_H
#define TESTS_LIB_STORY_H

#include "core/machine.h"

/* What is zero is as usual. */
struct story_terms {
    unsigned nodes;           /* 5 */
    uint32_t ttl_ms;          /* 10,000 */
    uint32_t node_timeout_ms; /* 50 */
    uint32_t drift_ppm;       /* 10,000 */
    uint32_t tries;           /* no limit */
    uint32_t max_hold_ms;     /* no cap */
    uint32_t loss_notice_ms;
    uint32_t linger_ms;
    uint32_t lock_delay_ms;
    bool renew;
    bool fenced;
    ql_delay_fn *delay; /* 100 ms between attempts, always */
    void *delay_arg;
    uint64_t seed;
};

void story(const struct story_terms *terms, const char *text);

/* A test that tells stories. */
#define STORY(name) static void name(void **state __attribute__((unused)))

#endif
