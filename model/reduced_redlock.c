/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the search of redlock.pml smaller, and changes nothing that it can
 * find: states that differ only in what can never matter, or in who is called
 * the first, become one state. model/check searches a small case with and
 * without this, and compares.
 *
 * This is C around the program that Spin writes; `now` is the state.
 */
#include "pan.c"

#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef ROUNDS_A
#define ROUNDS_A 2
#endif
#ifndef ROUNDS_B
#define ROUNDS_B 2
#endif
#ifndef ROUNDS_C
#define ROUNDS_C 1
#endif
#define NODES   3
#define RELEASE 4

typedef Q1 Wire; /* every channel of the model is of this type */

static Wire *wire_of(int client, int node)
{
    return (Wire *)qptr(now.wires[client * NODES + node] - 1);
}

static int has_key(int client, int node)
{
    return now.node[node].token != 0 && now.node[node].holder == client;
}

/* A release that finds nothing to delete now will never find anything: its
 * acquire came before it. So it may just as well arrive at once. */
static void drop_idle_releases(int client, int node)
{
    Wire *wire = wire_of(client, node);

    while (wire->Qlen > 0) {
        int request = wire->contents[0].fld0;

        if (request >> 4 != RELEASE)
            return;
#ifdef RELEASE_UNCOMPARED
        return;
#endif
        if (has_key(client, node) && now.node[node].token == (request >> 2 & 3))
            return;
        wire->Qlen--;
        memmove(&wire->contents[0], &wire->contents[1], wire->Qlen);
        wire->contents[wire->Qlen].fld0 = 0;
    }
}

/* Once a round has ended, nothing can be won by its answers. */
static void forget_idle_votes(int client)
{
#ifndef VALIDITY_UNCHECKED
    struct Client *c = &now.client[client];

    if (c->asking == 0 || !(c->ended >> c->asking & 1))
        return;
    c->asking = 0;
    c->decided = 0;
    for (int node = 0; node < NODES; node++)
        now.votes[client * NODES + node] = 0;
#endif
}

static int matters(int client, int round)
{
    struct Client *c = &now.client[client];

    if (c->asking == round || c->valid >> round & 1)
        return 1;
    for (int node = 0; node < NODES; node++) {
        Wire *wire = wire_of(client, node);

        if (has_key(client, node) && now.node[node].round == round)
            return 1;
        for (int i = 0; i < wire->Qlen; i++)
            if ((wire->contents[i].fld0 & 3) == round)
                return 1;
    }
    return 0;
}

/* The end of a round that nothing refers to any more cannot be seen; so it may
 * just as well have come. */
static void end_idle_rounds(int client)
{
    struct Client *c = &now.client[client];

    for (int round = 1; round <= c->round; round++)
        if (!(c->ended >> round & 1) && !matters(client, round))
            c->ended |= 1 << round;
}

/* All of a state that can differ, in one order, to be compared. */
struct image {
    struct {
        unsigned char round, token, asking, valid, ended, rest;
    } client[CLIENTS];
    struct image_node {
        unsigned char key, holder;
        struct {
            unsigned char vote;
            Wire wire;
        } from[CLIENTS];
    } node[NODES];
};

static void image_client(int c, int i, struct image *image)
{
    struct Client *client = &now.client[c];

    image->client[i].round = client->round;
    image->client[i].token = client->token;
    image->client[i].asking = client->asking;
    image->client[i].valid = client->valid;
    image->client[i].ended = client->ended;
    image->client[i].rest =
        client->phase << 2 | client->decided << 1 | client->passed;
}

static void image_node(const unsigned char *order, int n, struct image *image)
{
    struct image_node *to = &image->node[n];

    to->key = now.node[n].token << 2 | now.node[n].round;
    to->holder = 0;
    for (int i = 0; i < CLIENTS; i++) {
        int c = order[i];

        if (has_key(c, n))
            to->holder = i;
        to->from[i].vote = now.votes[c * NODES + n];
        to->from[i].wire = *wire_of(c, n);
        to->from[i].wire._t = 0; /* the channel's own number */
    }
}

static void image_state(const unsigned char *order, struct image *image)
{
    for (int i = 0; i < CLIENTS; i++)
        image_client(order[i], i, image);
    for (int n = 0; n < NODES; n++)
        image_node(order, n, image);
    for (int n = 1; n < NODES; n++)
        for (int k = n; k > 0; k--) {
            struct image_node swap = image->node[k];

            if (memcmp(&image->node[k - 1], &swap, sizeof swap) <= 0)
                break;
            image->node[k] = image->node[k - 1];
            image->node[k - 1] = swap;
        }
}

static void put_state(const struct image *image)
{
    for (int i = 0; i < CLIENTS; i++) {
        struct Client *client = &now.client[i];

        client->round = image->client[i].round;
        client->token = image->client[i].token;
        client->asking = image->client[i].asking;
        client->valid = image->client[i].valid;
        client->ended = image->client[i].ended;
        client->phase = image->client[i].rest >> 2;
        client->decided = image->client[i].rest >> 1;
        client->passed = image->client[i].rest;
    }
    for (int n = 0; n < NODES; n++) {
        const struct image_node *from = &image->node[n];

        now.node[n].token = from->key >> 2;
        now.node[n].round = from->key;
        now.node[n].holder = from->holder;
        for (int i = 0; i < CLIENTS; i++) {
            unsigned char number = wire_of(i, n)->_t;

            now.votes[i * NODES + n] = from->from[i].vote;
            *wire_of(i, n) = from->from[i].wire;
            wire_of(i, n)->_t = number;
        }
    }
}

/* Only clients that may begin as many rounds are alike. */
static int is_allowed(const unsigned char *order)
{
    static const int rounds[] = {ROUNDS_A, ROUNDS_B, ROUNDS_C};

    for (int i = 0; i < CLIENTS; i++)
        if (order[i] >= CLIENTS || rounds[order[i]] != rounds[i])
            return 0;
    return 1;
}

static void reduce(void)
{
    static const unsigned char orders[][3] = {
        {0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1},
    };
    struct image best, other;

    for (int c = 0; c < CLIENTS; c++) {
        for (int n = 0; n < NODES; n++)
            drop_idle_releases(c, n);
        forget_idle_votes(c);
        end_idle_rounds(c);
    }
#ifdef NAMED
    return; /* a story that renames its heroes is hard to follow */
#endif
    image_state(orders[0], &best);
    for (int i = 1; i < 6; i++) {
        if (!is_allowed(orders[i]))
            continue;
        image_state(orders[i], &other);
        if (memcmp(&other, &best, sizeof best) < 0)
            best = other;
    }
    put_state(&best);
}
