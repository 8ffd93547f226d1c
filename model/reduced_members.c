/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the search of members.pml smaller, and changes nothing that it can
 * find: attempts are alike, and so are nodes 1 and 2, which stay on every list;
 * so states that differ only in their names become one state, and so do those
 * that differ in what attempts that have ended leave behind. model/check
 * searches a small case with and without this, and compares.
 *
 * This is C around the program that Spin writes; `now` is the state.
 */
#include "pan.c"

#define ATTEMPTS 2
#define NODES    4

/* All of a state that has to do with names, in one order, to be compared. */
struct image {
    struct Attempt attempt[ATTEMPTS];
    struct Node node[NODES];
    unsigned char answers[ATTEMPTS * NODES], restarted;
};

static unsigned swap_bits(unsigned bits)
{
    return (bits & 9) | (bits & 2) << 1 | (bits & 4) >> 1;
}

static int new_node(int n, int swapped)
{
    return swapped && (n == 1 || n == 2) ? 3 - n : n;
}

static void image_state(int attempts_swapped, int nodes_swapped,
                        struct image *image)
{
    memset(image, 0, sizeof *image);
    for (int a = 0; a < ATTEMPTS; a++) {
        struct Attempt *it = &image->attempt[a];
        int from = attempts_swapped ? 1 - a : a;

        *it = now.attempt[from];
        if (nodes_swapped)
            it->asks = swap_bits(it->asks);
        for (int n = 0; n < NODES; n++)
            image->answers[a * NODES + n] =
                now.answers[from * NODES + new_node(n, nodes_swapped)];
    }
    for (int n = 0; n < NODES; n++) {
        struct Node *it = &image->node[n];

        *it = now.node[new_node(n, nodes_swapped)];
        if (attempts_swapped && it->owner)
            it->owner = 3 - it->owner;
    }
#ifdef RESTART
    image->restarted = new_node(now.restarted, nodes_swapped);
#endif
}

/* What an attempt that has ended still does is to keep a node from others, for
 * a while. Their request that comes too late says the same. But it raises f. */
static void end_attempt(int a)
{
#ifndef FENCING
    now.attempt[a].asks = 0;
    for (int n = 0; n < NODES; n++)
        if (now.node[n].owner == a + 1)
            now.node[n].owner = 0;
#else
    (void)a;
#endif
}

/* A node that has gone on to a later list does not come back to this one, so
 * what is under way to it is refused. */
static void forget_refused(int a)
{
#if !defined(CFG_UNCHECKED) && !defined(RESTART) && !defined(TWO_OPERATORS)
    int list = now.attempt[a].list;

    for (int n = 0; n < NODES; n++)
        if (now.node[n].cfg > list && now.node[n].prev != list)
            now.attempt[a].asks &= ~(1 << n);
#else
    (void)a;
#endif
}

static void reduce(void)
{
    struct image best, other;

    for (int a = 0; a < ATTEMPTS; a++) {
        forget_refused(a);
        if (now.attempt[a].phase == 4 /* OVER */)
            end_attempt(a);
    }
#ifdef NAMED
    return; /* a story that renames its heroes is hard to follow */
#endif
    image_state(0, 0, &best);
    for (int order = 1; order < 4; order++) {
        image_state(order & 1, order >> 1, &other);
        if (memcmp(&other, &best, sizeof best) < 0)
            best = other;
    }
    memcpy(now.attempt, best.attempt, sizeof best.attempt);
    memcpy(now.node, best.node, sizeof best.node);
    memcpy(now.answers, best.answers, sizeof best.answers);
#ifdef RESTART
    now.restarted = best.restarted;
#endif
}
