/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire.h"

#include <errno.h>

#include "world.h"

#define RETRY_NS        (200 * MS) /* TCP's least time-out, doubled each time */
#define RETRY_DOUBLINGS 4
#define USER_TIMEOUT_NS (3 * S) /* what src/redis/socket.c asks for */

static struct path *path_of(struct world *w, const struct conn *conn,
                            enum direction direction)
{
    return &w->network.path[direction][conn->client][conn->node];
}

/* Whether what is sent now gets through. */
static bool gets_through(struct world *w, const struct conn *conn,
                         enum direction direction)
{
    struct path *path = path_of(w, conn, direction);

    if (path->blocked || conn->dead) {
        /* Counted when it began. */
    } else if (dice_chance(&w->dice, w->calm ? 0 : w->swarm.loss_ppm) ||
               dice_chance(&w->dice, path->loss_ppm)) {
        w->tally.fault[FAULT_LOSS]++;
    } else {
        return true;
    }
    path->trouble_at = w->now;
    return false;
}

static uint64_t delay(struct world *w, const struct conn *conn,
                      enum direction direction)
{
    const struct swarm *swarm = &w->swarm;
    struct path *path = path_of(w, conn, direction);
    uint64_t ns = swarm->delay_ns + dice_below(&w->dice, swarm->jitter_ns);

    if (!w->calm && dice_chance(&w->dice, swarm->straggler_ppm)) {
        ns += dice_below(&w->dice, swarm->straggler_ns);
        path->trouble_at = w->now;
        w->tally.fault[FAULT_DELAY]++;
    }
    return ns + path->more_delay_ns;
}

/* --- Segments --------------------------------------------------------------
 */

static void push(struct segment **first, struct segment **last,
                 struct segment *segment)
{
    segment->next = NULL;
    if (*first)
        (*last)->next = segment;
    else
        *first = segment;
    *last = segment;
}

static struct segment *pop(struct segment **first)
{
    struct segment *segment = *first;

    *first = segment->next;
    return segment;
}

void wire_drop(struct pipe *pipe)
{
    while (pipe->waiting) {
        struct segment *segment = pop(&pipe->waiting);

        pipe->bytes -= segment->len;
        free(segment);
    }
    pipe->stuck_since = 0;
}

void wire_free(struct conn *conn)
{
    for (unsigned i = 0; i < 2; i++) {
        wire_drop(&conn->pipe[i]);
        while (conn->pipe[i].flying)
            free(pop(&conn->pipe[i].flying));
    }
    bytes_free(&conn->at_client);
    bytes_free(&conn->at_node);
    conn->used = false;
}

void wire_settle(struct world *w, struct conn *conn)
{
    (void)w;
    if (conn->used && conn->mine == END_CLOSED && !conn->pipe[UP].flying &&
        !conn->pipe[UP].waiting && bytes_count(&conn->at_node) == 0)
        wire_free(conn);
}

/* --- Arrival ---------------------------------------------------------------
 */

/* If no acknowledgement comes back, the sender gives up. */
static void miss_acknowledgement(struct world *w, uint64_t id, uint64_t unused)
{
    struct conn *conn = network_conn(w, id);

    (void)unused;
    if (!conn || conn->mine != END_OPEN || !path_of(w, conn, DOWN)->blocked)
        return;
    conn->my_error = ETIMEDOUT;
    wire_drop(&conn->pipe[UP]);
    client_plan(w, &w->client[conn->client]);
}

static void arrive_at_node(struct world *w, struct conn *conn,
                           const struct segment *segment)
{
    uint64_t given_up_at = segment->sent_at + USER_TIMEOUT_NS;

    if (conn->theirs != END_OPEN) {
        /* Nobody knows this connection any more. */
        if (segment->kind != SEGMENT_RST)
            wire_reset(w, conn, DOWN);
        return;
    }
    if (segment->kind == SEGMENT_DATA)
        bytes_put(&conn->at_node, segment->bytes, segment->len);
    else
        conn->their_eof = true;
    if (path_of(w, conn, DOWN)->blocked && given_up_at > w->now)
        events_plan(&w->events, given_up_at, miss_acknowledgement,
                    network_id(w, conn), 0);
    node_receive(w, conn);
}

static void arrive_at_client(struct world *w, struct conn *conn,
                             const struct segment *segment)
{
    if (conn->mine == END_CLOSED) {
        if (segment->kind == SEGMENT_DATA)
            wire_reset(w, conn, UP);
        return;
    }
    if (segment->kind == SEGMENT_DATA)
        bytes_put(&conn->at_client, segment->bytes, segment->len);
    else if (segment->kind == SEGMENT_FIN)
        conn->my_eof = true;
    else
        conn->my_error = ECONNRESET;
    if (segment->kind == SEGMENT_RST)
        wire_drop(&conn->pipe[UP]);
    client_plan(w, &w->client[conn->client]);
}

static void arrive(struct world *w, uint64_t id, uint64_t direction)
{
    struct conn *conn = network_conn(w, id);
    struct segment *segment;

    if (!conn)
        return;
    segment = pop(&conn->pipe[direction].flying);
    conn->pipe[direction].bytes -= segment->len;
    if (direction == UP)
        arrive_at_node(w, conn, segment);
    else
        arrive_at_client(w, conn, segment);
    free(segment);
    wire_settle(w, conn);
}

/* --- Departure -------------------------------------------------------------
 */

static void fly(struct world *w, struct conn *conn, enum direction direction,
                struct segment *segment)
{
    struct pipe *pipe = &conn->pipe[direction];
    uint64_t at = w->now + delay(w, conn, direction);

    segment->sent_at = w->now;
    if (at < pipe->last_arrival)
        at = pipe->last_arrival;
    pipe->last_arrival = at;
    push(&pipe->flying, &pipe->flying_last, segment);
    events_plan(&w->events, at, arrive, network_id(w, conn), direction);
}

static void pump(struct world *w, struct conn *conn, enum direction direction);

static void retry(struct world *w, uint64_t id, uint64_t direction)
{
    struct conn *conn = network_conn(w, id);
    struct pipe *pipe;

    if (!conn)
        return;
    pipe = &conn->pipe[direction];
    pipe->retry_planned = false;
    if (direction == UP && pipe->stuck_since &&
        w->now - pipe->stuck_since >= USER_TIMEOUT_NS) {
        wire_drop(pipe);
        if (conn->mine == END_OPEN) {
            conn->my_error = ETIMEDOUT;
            client_plan(w, &w->client[conn->client]);
        }
        wire_settle(w, conn);
        return;
    }
    if (!pipe->waiting)
        pipe->stuck_since = 0;
    pump(w, conn, (enum direction)direction);
}

static void pump(struct world *w, struct conn *conn, enum direction direction)
{
    struct pipe *pipe = &conn->pipe[direction];

    while (pipe->waiting && !pipe->retry_planned) {
        if (!gets_through(w, conn, direction)) {
            unsigned doublings =
                pipe->tries < RETRY_DOUBLINGS ? pipe->tries : RETRY_DOUBLINGS;

            if (pipe->stuck_since == 0)
                pipe->stuck_since = w->now;
            pipe->tries++;
            pipe->retry_planned = true;
            events_plan(&w->events, w->now + (RETRY_NS << doublings), retry,
                        network_id(w, conn), direction);
            return;
        }
        pipe->tries = 0;
        pipe->stuck_since = 0;
        fly(w, conn, direction, pop(&pipe->waiting));
    }
}

static struct segment *make(enum segment_kind kind, const char *bytes,
                            size_t len)
{
    struct segment *segment = malloc(sizeof *segment + len);

    assert(segment);
    segment->kind = kind;
    segment->len = (uint32_t)len;
    if (len > 0)
        memcpy(segment->bytes, bytes, len);
    return segment;
}

void wire_send(struct world *w, struct conn *conn, enum direction direction,
               enum segment_kind kind, const char *bytes, size_t len)
{
    struct pipe *pipe = &conn->pipe[direction];

    do {
        size_t part = len;

        if (len > 1 && dice_chance(&w->dice, w->swarm.drip_ppm)) {
            part = dice_between(&w->dice, 1, len - 1);
            w->tally.fault[FAULT_SHORT_IO]++;
        }
        pipe->bytes += part;
        push(&pipe->waiting, &pipe->waiting_last, make(kind, bytes, part));
        if (bytes)
            bytes += part;
        len -= part;
    } while (len > 0);
    pump(w, conn, direction);
}

void wire_reset(struct world *w, struct conn *conn, enum direction direction)
{
    wire_drop(&conn->pipe[direction]);
    if (gets_through(w, conn, direction))
        fly(w, conn, direction, make(SEGMENT_RST, NULL, 0));
}

/* --- Connecting ------------------------------------------------------------
 */

static void welcomed(struct world *w, uint64_t id, uint64_t error)
{
    struct conn *conn = network_conn(w, id);

    if (!conn)
        return;
    if (conn->mine != END_OPENING) {
        if (!error)
            wire_reset(w, conn, UP);
        wire_settle(w, conn);
        return;
    }
    conn->mine = END_OPEN;
    conn->my_error = (int)error;
    client_plan(w, &w->client[conn->client]);
}

static void knocked(struct world *w, uint64_t id, uint64_t unused)
{
    struct conn *conn = network_conn(w, id);
    int error = 0;

    (void)unused;
    if (!conn || conn->theirs == END_OPEN)
        return;
    switch (node_accept(w, conn->node)) {
    case NODE_ACCEPTS:
        conn->theirs = END_OPEN;
        break;
    case NODE_REFUSES:
        error = ECONNREFUSED;
        break;
    case NODE_IS_SILENT:
        return;
    }
    if (!gets_through(w, conn, DOWN)) {
        /* Not repeated: the client's own limit is shorter. */
        conn->theirs = END_CLOSED;
        return;
    }
    /* Whatever the node says on it arrives later. */
    conn->pipe[DOWN].last_arrival = w->now + delay(w, conn, DOWN);
    events_plan(&w->events, conn->pipe[DOWN].last_arrival, welcomed, id,
                (uint64_t)error);
}

void wire_knock(struct world *w, uint64_t id, uint64_t tries)
{
    struct conn *conn = network_conn(w, id);

    if (!conn || conn->mine != END_OPENING || conn->theirs == END_OPEN)
        return;
    if (gets_through(w, conn, UP))
        events_plan(&w->events, w->now + delay(w, conn, UP), knocked, id, 0);
    if (tries < 3)
        events_plan(&w->events, w->now + (S << tries), wire_knock, id,
                    tries + 1);
}
