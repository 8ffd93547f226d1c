/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the search of guard.pml smaller, and changes nothing that it can find:
 * states that differ only in what can never matter, or in names, become one
 * state. The nodes with good clocks are alike, and so are attempts that do not
 * extend. model/check searches a small case with and without this, and
 * compares.
 *
 * This is C around the program that Spin writes; `now` is the state.
 */
#include "pan.c"

#ifndef ATTEMPTS
#define ATTEMPTS 3
#endif
#ifndef EXTENDERS
#define EXTENDERS 1
#endif
#ifndef TTL
#define TTL 2
#endif
#ifndef LAST_T
#define LAST_T 3
#endif
#ifndef START
#define START 3
#endif
#ifndef LAST_LO
#define LAST_LO 9
#endif
#define NODES   3
#define S       1
#define LAST_HI (LAST_LO + 2 * S)
#ifdef CLOCKS_BAD
#define BAD 2
#else
#define BAD 1 /* so many nodes, the first, have a bad clock */
#endif

enum { IDLE, ASKING, HOLDING, EXTENDING, OVER };

#if defined(BAND_UNCHECKED) || defined(BAND_CHECKED_LATE) ||                   \
    defined(WINDOWS_DIFFER)
#define NO_BAND
#endif

/* The window of a request has passed: a good node will always refuse it. */
static unsigned still_matter(unsigned bits, unsigned lo)
{
#ifndef NO_BAND
    if (lo + 2 * S < START + now.t)
        bits &= (1 << BAD) - 1;
#else
    (void)lo;
#endif
    return bits;
}

/* Who can win nothing any more only waits for its release, whatever it was
 * doing. */
static void end_attempt(int a)
{
    struct Attempt *it = &now.attempt[a];
    int can_win =
        it->phase == ASKING ? now.t < it->t0 + TTL : it->valid > now.t;

    if (it->phase == IDLE || it->phase == OVER || can_win)
        return;
    it->phase = EXTENDING;
    it->t0 = it->yes = it->valid = 0;
    it->extended = 0;
}

static void forget_idle_requests(int a)
{
    struct Attempt *it = &now.attempt[a];

    it->acquires = still_matter(it->acquires, it->lo);
    it->extends = still_matter(it->extends, it->extend_lo);
    if (!it->acquires)
        it->lo = 0;
    if (!it->extends)
        it->extend_lo = 0;
    if (it->phase == OVER)
        it->extended = 0;
}

/* A good clock shows the time, and never less; what it cannot show any more
 * is over, and what no clock can show is never over. */
static unsigned char as_good_as(int n, unsigned char end)
{
#ifndef NO_BAND
    unsigned last = n < BAD ? LAST_HI : START + LAST_T + S;

    if (end > last)
        return last + 1;
#endif
    return n >= BAD && end <= START + now.t ? 0 : end;
}

/* Who is called by which name: the first is attempt[0], and so on. */
struct image {
    struct Attempt attempt[ATTEMPTS];
    struct Node node[NODES];
};

static unsigned swap_bits(unsigned bits)
{
    return (bits & 1) | (bits & 2) << 1 | (bits & 4) >> 1;
}

static void image_state(const unsigned char *attempt, int swapped,
                        struct image *image)
{
    memset(image, 0, sizeof *image);
    for (int i = 0; i < ATTEMPTS; i++) {
        struct Attempt *it = &image->attempt[i];

        *it = now.attempt[attempt[i]];
        if (swapped) {
            it->acquires = swap_bits(it->acquires);
            it->extends = swap_bits(it->extends);
            it->yes = swap_bits(it->yes);
        }
    }
    for (int j = 0; j < NODES; j++) {
        struct Node *it = &image->node[j];

        *it = now.node[swapped && j > 0 ? NODES - j : j];
        for (int i = 0; i < ATTEMPTS; i++)
            if (it->owner == attempt[i] + 1) {
                it->owner = i + 1;
                break;
            }
    }
}

static void reduce(void)
{
    static const unsigned char orders[][3] = {
        {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0},
    };
    struct image best, other;

    for (int a = 0; a < ATTEMPTS; a++) {
        end_attempt(a);
        forget_idle_requests(a);
    }
    for (int n = 0; n < NODES; n++) {
        now.node[n].end = as_good_as(n, now.node[n].end);
        now.node[n].until = as_good_as(n, now.node[n].until);
    }
#ifdef NAMED
    return; /* a story that renames its heroes is hard to follow */
#endif
    image_state(orders[0], 0, &best);
    for (int order = 0; order < 6; order++) {
        int is_allowed = 1;

        for (int i = 0; i < ATTEMPTS; i++)
            if (orders[order][i] >= ATTEMPTS ||
                (orders[order][i] < EXTENDERS && orders[order][i] != i) ||
                (i < EXTENDERS && orders[order][i] != i))
                is_allowed = 0;
        for (int swapped = 0; is_allowed && swapped <= (BAD == 1); swapped++) {
            image_state(orders[order], swapped, &other);
            if (memcmp(&other, &best, sizeof best) < 0)
                best = other;
        }
    }
    memcpy(now.attempt, best.attempt, sizeof best.attempt);
    memcpy(now.node, best.node, sizeof best.node);
}
