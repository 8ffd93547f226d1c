/* SPDX-License-Identifier: BSD-2-Clause */
/* The arithmetic of stopping in time. */
#include <inttypes.h>

#include "cli/exit_code.h"
#include "cli/say.h"
#include "cli/supervise.h"

#define TTL_MIN_MS        100 /* less leaves no time to renew and to stop */
#define KILL_AFTER_MAX_MS 5000
#define MARGIN_MIN_MS     20

static int64_t max_ms(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What the options allow the lock to last at a time. */
static int64_t lease_ms(const struct options *options)
{
    if (options->max_hold_ms && options->max_hold_ms < options->ttl_ms)
        return options->max_hold_ms;
    return options->ttl_ms;
}

int stop_plan_make(struct stop_plan *ret_plan, const struct options *options)
{
    int64_t lease = lease_ms(options), kill_after = options->kill_after_ms;

    if (lease < TTL_MIN_MS) {
        say("--ttl and --max-hold must be at least %d ms for run, so that "
            "there is time to stop the command",
            TTL_MIN_MS);
        return EXIT_BAD_USAGE;
    }
    if (kill_after == OPTION_UNSET)
        kill_after =
            lease / 3 < KILL_AFTER_MAX_MS ? lease / 3 : KILL_AFTER_MAX_MS;
    if (kill_after > lease / 2) {
        say("--kill-after can be at most half of --ttl and --max-hold: %" PRId64
            " ms here",
            lease / 2);
        return EXIT_BAD_USAGE;
    }
    if (options->max_hold_ms && options->hold_min_ms > options->max_hold_ms) {
        say("--hold-min is longer than --max-hold");
        return EXIT_BAD_USAGE;
    }
    ret_plan->on_lost = (enum on_lost)options->on_lost;
    ret_plan->kill_after_ms = kill_after;
    ret_plan->margin_ms = max_ms(MARGIN_MIN_MS, lease / 100);
    ret_plan->notice_ms = ret_plan->on_lost == ON_LOST_TERM
                              ? max_ms(kill_after, ret_plan->margin_ms)
                              : ret_plan->margin_ms;
    ret_plan->useful_ms = max_ms(lease / 2, ret_plan->notice_ms + 1);
    return 0;
}

int64_t stop_plan_deadline_ns(const struct stop_plan *plan, const ql_lock *lock)
{
    return now_ns() + (ql_lock_valid_ms(lock) - plan->margin_ms) * NS_PER_MS;
}
