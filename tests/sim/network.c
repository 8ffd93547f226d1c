/* SPDX-License-Identifier: BSD-2-Clause */
/* The two ends of a connection. What is between them is in wire.c. */
#include "network.h"

#include <errno.h>

#include "wire.h"
#include "world.h"

struct conn *network_conn(struct world *w, uint64_t id)
{
    struct conn *conn = &w->network.conn[(uint32_t)id];

    return conn->used && conn->generation == id >> 32 ? conn : NULL;
}

uint64_t network_id(const struct world *w, const struct conn *conn)
{
    return (uint64_t)conn->generation << 32 |
           (uint64_t)(conn - w->network.conn);
}

static struct conn *find_unused(struct network *network)
{
    for (unsigned i = 0; i < network->conns; i++)
        if (!network->conn[i].used)
            return &network->conn[i];
    assert(network->conns < CONNS_MAX);
    return &network->conn[network->conns++];
}

struct conn *network_connect(struct world *w, unsigned client, unsigned node)
{
    struct conn *conn = find_unused(&w->network);

    *conn = (struct conn){
        .generation = conn->generation + 1,
        .used = true,
        .client = (uint8_t)client,
        .node = (uint8_t)node,
        .mine = END_OPENING,
    };
    wire_knock(w, network_id(w, conn), 0);
    return conn;
}

static size_t room(const struct world *w, const struct conn *conn)
{
    size_t used = conn->pipe[UP].bytes + bytes_count(&conn->at_node);

    return used < w->swarm.socket_bytes ? w->swarm.socket_bytes - used : 0;
}

bool network_readable(const struct conn *conn)
{
    return bytes_count(&conn->at_client) > 0 || conn->my_eof || conn->my_error;
}

bool network_writable(const struct world *w, const struct conn *conn)
{
    return conn->my_error ||
           (conn->mine == END_OPEN && !conn->shut &&
            w->now >= conn->choked_until && room(w, conn) > 0);
}

static void unchoke(struct world *w, uint64_t id, uint64_t unused)
{
    struct conn *conn = network_conn(w, id);

    (void)unused;
    if (conn)
        client_plan(w, &w->client[conn->client]);
}

size_t network_send(struct world *w, struct conn *conn, const char *bytes,
                    size_t len)
{
    size_t most = room(w, conn);

    if (conn->mine != END_OPEN || w->now < conn->choked_until)
        return 0;
    if (most == 0) {
        w->client[conn->client].wants_room = true;
        return 0;
    }
    if (len > most)
        len = most;
    if (dice_chance(&w->dice, w->swarm.short_write_ppm)) {
        len = dice_between(&w->dice, 1, len);
        conn->choked_until = w->now + dice_between(&w->dice, 1, 5 * MS);
        events_plan(&w->events, conn->choked_until, unchoke,
                    network_id(w, conn), 0);
        w->tally.fault[FAULT_SHORT_IO]++;
    }
    wire_send(w, conn, UP, SEGMENT_DATA, bytes, len);
    return len;
}

void network_close(struct world *w, struct conn *conn)
{
    bool was_open = conn->mine == END_OPEN && !conn->my_error;
    bool reset = conn->reset_on_close || bytes_count(&conn->at_client) > 0;

    conn->mine = END_CLOSED;
    bytes_free(&conn->at_client);
    if (was_open && reset)
        wire_reset(w, conn, UP);
    else if (was_open && !conn->shut)
        wire_send(w, conn, UP, SEGMENT_FIN, NULL, 0);
    wire_settle(w, conn);
}

void network_vanish(struct world *w, struct conn *conn)
{
    conn->mine = END_CLOSED;
    bytes_free(&conn->at_client);
    wire_drop(&conn->pipe[UP]);
    wire_settle(w, conn);
}

void network_reply(struct world *w, struct conn *conn, const char *bytes,
                   size_t len)
{
    if (conn->theirs == END_OPEN)
        wire_send(w, conn, DOWN, SEGMENT_DATA, bytes, len);
}

void network_hang_up(struct world *w, struct conn *conn, bool orderly)
{
    if (conn->theirs != END_OPEN)
        return;
    conn->theirs = END_CLOSED;
    bytes_free(&conn->at_node);
    if (orderly)
        wire_send(w, conn, DOWN, SEGMENT_FIN, NULL, 0);
    else
        wire_reset(w, conn, DOWN);
    wire_settle(w, conn);
}

void network_forget(struct world *w, struct conn *conn)
{
    conn->theirs = END_CLOSED;
    bytes_free(&conn->at_node);
    wire_drop(&conn->pipe[DOWN]);
    wire_settle(w, conn);
}

void network_forge_reset(struct world *w, struct conn *conn)
{
    if (conn->mine != END_OPEN)
        return;
    conn->my_error = ECONNRESET;
    wire_drop(&conn->pipe[UP]);
    client_plan(w, &w->client[conn->client]);
}

void network_free(struct world *w)
{
    for (unsigned i = 0; i < w->network.conns; i++)
        wire_free(&w->network.conn[i]);
}
