/* SPDX-License-Identifier: BSD-2-Clause */
#include "guard/timebase.h"

#include <assert.h>
#include <stddef.h>

#define NS_PER_US 1000

/* Later than any clock shows, and beyond what the scripts can count. Below it,
 * no sum here comes round to 0. */
#define TIME_MAX_US (UINT64_C(1) << 53)

/* Time goes by between two readings of our clock, or not at all. */
static uint64_t us_since(uint64_t then_ns, uint64_t now_ns)
{
    return now_ns > then_ns ? (now_ns - then_ns) / NS_PER_US : 0;
}

/* Whether what is known goes with an answer that was given, at `time_us`, some
 * time between the request and now. What is known may itself be off a bit. */
static bool agrees(const struct ql_timebase *base, unsigned node,
                   uint64_t time_us, uint64_t sent_ns, uint64_t got_ns)
{
    uint64_t known_us = ql_timebase_of(base, node, got_ns);
    uint64_t off_us = base->trusted_ns / NS_PER_US;

    return known_us + off_us >= time_us &&
           known_us <= time_us + us_since(sent_ns, got_ns) + off_us;
}

/*
 * An answer tells what the node's clock showed at some moment between the
 * request and the answer; half way is off by half of that at most. A slow one
 * is worth less than what is known, unless that cannot be true any more: the
 * clock was set, or has drifted away since.
 */
void ql_timebase_note(struct ql_timebase *base, unsigned node, uint64_t time_us,
                      uint64_t sent_ns, uint64_t got_ns)
{
    struct ql_timebase_node *it;

    assert(node < base->nodes && got_ns >= sent_ns);
    it = &base->node[node];
    if (time_us == 0 || time_us >= TIME_MAX_US)
        return;
    if (it->time_us && got_ns - sent_ns > base->trusted_ns &&
        agrees(base, node, time_us, sent_ns, got_ns))
        return;
    it->time_us = time_us;
    it->at_ns = sent_ns + (got_ns - sent_ns) / 2;
}

void ql_timebase_forget(struct ql_timebase *base, unsigned node)
{
    assert(node < base->nodes);
    base->node[node] = (struct ql_timebase_node){0};
}

uint64_t ql_timebase_of(const struct ql_timebase *base, unsigned node,
                        uint64_t now_ns)
{
    const struct ql_timebase_node *it = &base->node[node];

    return it->time_us ? it->time_us + us_since(it->at_ns, now_ns) : 0;
}

/* How many nodes are known to show less than node `of`; of equals, the one
 * that stands earlier counts as less. */
static unsigned rank(const struct ql_timebase *base, unsigned of,
                     uint64_t now_ns)
{
    uint64_t mine = ql_timebase_of(base, of, now_ns);
    unsigned less = 0;

    for (unsigned i = 0; i < base->nodes; i++) {
        uint64_t time = ql_timebase_of(base, i, now_ns);

        less += time && (time < mine || (time == mine && i < of));
    }
    return less;
}

static uint64_t at_rank(const struct ql_timebase *base, unsigned wanted,
                        uint64_t now_ns)
{
    for (unsigned i = 0; i < base->nodes; i++)
        if (base->node[i].time_us && rank(base, i, now_ns) == wanted)
            return ql_timebase_of(base, i, now_ns);
    return 0;
}

/*
 * Nodes that are not known may show anything. If all of them showed less, the
 * middle would stand `unknown` ranks further down among the known, so the
 * median lies between that one and the one it is if all showed more. With an
 * even number there are two in the middle, and the band goes by both.
 */
bool ql_timebase_band(const struct ql_timebase *base, uint64_t slack_us,
                      uint64_t now_ns, struct ql_band *ret_band)
{
    unsigned unknown = 0, below = (base->nodes - 1) / 2;
    unsigned above = base->nodes / 2;
    uint64_t low, high;

    assert(base->quorum > base->nodes / 2 && base->quorum <= base->nodes);
    for (unsigned i = 0; i < base->nodes; i++)
        unknown += base->node[i].time_us == 0;
    if (base->nodes - unknown < base->quorum)
        return false;
    /* A quorum is known, so `below` is not smaller than `unknown`, and `above`
     * is a rank among the known. */
    low = at_rank(base, below - unknown, now_ns);
    high = at_rank(base, above, now_ns);
    if (high - low > 2 * slack_us)
        return false;
    *ret_band =
        (struct ql_band){.low_us = high > slack_us ? high - slack_us : 0,
                         .high_us = low + slack_us,
                         .median_us = low};
    return true;
}
