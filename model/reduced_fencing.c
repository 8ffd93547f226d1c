/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the search of fencing.pml smaller, and changes nothing that it can
 * find: nodes are all alike, and so are attempts, so states that differ only
 * in who is called the first become one state. model/check searches a small
 * case with and without this, and compares.
 *
 * This is C around the program that Spin writes; `now` is the state.
 */
#include "pan.c"

#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#define NODES 3
#if defined(OLD_DATA) || defined(SNAPSHOT)
#define WIPE
#endif

/* Who is called by which name: the first is attempt[0], and so on. */
struct names {
    unsigned char attempt[ATTEMPTS];
    unsigned char node[NODES];
};

/* All of a state that can differ, in one order, to be compared. */
struct image {
    struct {
        unsigned char p, confirms, token, floor, over, old;
        unsigned char yes, begun, ever, outdated;
    } attempt[ATTEMPTS];
    struct {
        unsigned char owner, f, hw, wiped, other, seen;
        struct {
            unsigned char acquires, answers, yes, known;
        } from[ATTEMPTS];
    } node[NODES];
};

static unsigned char new_owner(const struct names *names, unsigned char owner)
{
    for (unsigned char i = 0; i < ATTEMPTS; i++)
        if (owner == names->attempt[i] + 1)
            return i + 1;
    return 0;
}

static void image_attempt(const struct names *names, int i, struct image *image)
{
    int a = names->attempt[i];

    image->attempt[i].p = now.attempt[a].p;
    image->attempt[i].confirms = now.attempt[a].confirms;
    image->attempt[i].token = now.attempt[a].token;
    image->attempt[i].floor = now.attempt[a].floor;
    image->attempt[i].over = now.attempt[a].over;
#ifdef WIPE
    image->attempt[i].old = now.old >> a & 1;
#endif
#ifdef EXTEND
    image->attempt[i].begun = now.extension[a].begun;
    image->attempt[i].ever = now.extension[a].ever;
    image->attempt[i].outdated = now.extension[a].outdated;
#endif
}

static void image_node(const struct names *names, int j, struct image *image)
{
    int n = names->node[j];

    image->node[j].owner = new_owner(names, now.owner[n]);
    image->node[j].f = now.f[n];
    image->node[j].hw = now.hw[n];
#ifdef SEEN
    image->node[j].seen = now.seen[n];
#endif
#ifdef WIPE
    image->node[j].wiped = now.wiped == n;
    image->node[j].other = now.state == 2 /* READ_ONE */ && now.other == n;
#endif
    for (int i = 0; i < ATTEMPTS; i++) {
        int a = names->attempt[i];

        image->node[j].from[i].acquires = now.acquires[a * NODES + n];
        image->node[j].from[i].answers = now.answers[a * NODES + n];
#ifdef EXTEND
        image->node[j].from[i].yes = now.extension[a].yes >> n & 1;
#endif
#ifdef SEEN
        image->node[j].from[i].known = now.known[a * NODES + n];
#endif
    }
}

static void put_attempts(const struct image *image)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        now.attempt[i].p = image->attempt[i].p;
        now.attempt[i].confirms = image->attempt[i].confirms;
        now.attempt[i].token = image->attempt[i].token;
        now.attempt[i].floor = image->attempt[i].floor;
        now.attempt[i].over = image->attempt[i].over;
#ifdef WIPE
        now.old = (now.old & ~(1 << i)) | image->attempt[i].old << i;
#endif
#ifdef EXTEND
        now.extension[i].yes = 0;
        now.extension[i].begun = image->attempt[i].begun;
        now.extension[i].ever = image->attempt[i].ever;
        now.extension[i].outdated = image->attempt[i].outdated;
#endif
    }
}

static void put_nodes(const struct image *image)
{
    for (int j = 0; j < NODES; j++) {
        now.owner[j] = image->node[j].owner;
        now.f[j] = image->node[j].f;
        now.hw[j] = image->node[j].hw;
#ifdef SEEN
        now.seen[j] = image->node[j].seen;
#endif
#ifdef WIPE
        if (image->node[j].wiped)
            now.wiped = j;
        if (image->node[j].other)
            now.other = j;
#endif
        for (int i = 0; i < ATTEMPTS; i++) {
            now.acquires[i * NODES + j] = image->node[j].from[i].acquires;
            now.answers[i * NODES + j] = image->node[j].from[i].answers;
#ifdef EXTEND
            now.extension[i].yes |= image->node[j].from[i].yes << j;
#endif
#ifdef SEEN
            now.known[i * NODES + j] = image->node[j].from[i].known;
#endif
        }
    }
}

static void sort_nodes(const struct names *names, struct image *image)
{
    for (int j = 0; j < NODES; j++)
        image_node(names, j, image);
    for (int j = 1; j < NODES; j++)
        for (int k = j; k > 0; k--) {
            __typeof__(image->node[0]) swap = image->node[k];

            if (memcmp(&image->node[k - 1], &swap, sizeof swap) <= 0)
                break;
            image->node[k] = image->node[k - 1];
            image->node[k - 1] = swap;
        }
}

static const unsigned char orders[][3] = {
    {0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1},
};

static void reduce(void)
{
    struct image best, other;

#ifdef NAMED
    return; /* a story that renames its heroes is hard to follow */
#endif
    for (int order = 0; order < (ATTEMPTS == 2 ? 2 : 6); order++) {
        struct names names = {.node = {0, 1, 2}};

        memset(&other, 0, sizeof other);
        for (int i = 0; i < ATTEMPTS; i++)
            names.attempt[i] = orders[order][i];
        for (int i = 0; i < ATTEMPTS; i++)
            image_attempt(&names, i, &other);
        sort_nodes(&names, &other);
        if (order == 0 || memcmp(&other, &best, sizeof best) < 0)
            best = other;
    }
    put_attempts(&best);
    put_nodes(&best);
}
