/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections between clients and nodes, as TCP makes them: bytes arrive in
 * order or not at all; what is lost is sent again, later and later; a side
 * that gives up does not stop what is on its way already; and a side that has
 * gone without a word is only noticed when something is sent to it.
 *
 * One path per client, node and direction has its own delays, losses and
 * partitions, so different nodes are reached in any order.
 */
#ifndef TESTS_SIM_NETWORK_H
#define TESTS_SIM_NETWORK_H

#include <stdbool.h>

#include "bounds.h"
#include "bytes.h"

struct world;

enum direction { UP, DOWN }; /* to the node, to the client */

enum segment_kind { SEGMENT_DATA, SEGMENT_FIN, SEGMENT_RST };

struct segment {
    struct segment *next;
    uint64_t sent_at; /* when it was given to the network */
    uint32_t len;
    uint8_t kind; /* enum segment_kind */
    char bytes[];
};

/* What one side has sent: first what is on its way, then what waits for a
 * network that takes it. */
struct pipe {
    struct segment *flying, *flying_last;
    struct segment *waiting, *waiting_last;
    uint64_t last_arrival;
    uint64_t stuck_since; /* 0: it is not */
    size_t bytes;
    uint8_t tries;
    bool retry_planned;
};

enum end_state { END_NONE, END_OPENING, END_OPEN, END_CLOSED };

struct conn {
    uint32_t generation;
    bool used;
    uint8_t client, node;
    uint8_t mine;   /* enum end_state: the client's */
    uint8_t theirs; /* enum end_state: the node's */
    bool my_eof;    /* the node has closed */
    bool their_eof; /* the client has */
    bool reset_on_close;
    bool shut;             /* no more will be sent */
    bool dead;             /* something in between drops all of it */
    int my_error;          /* an errno, to be told once */
    uint64_t choked_until; /* takes no more bytes before */
    struct pipe pipe[2];
    struct bytes at_client, at_node; /* arrived and not read */
};

struct path {
    uint8_t blocked;   /* by so many partitions */
    uint32_t loss_ppm; /* beside the world's own */
    uint64_t more_delay_ns;
    uint64_t trouble_at; /* the last time anything was wrong with it */
};

struct network {
    struct conn conn[CONNS_MAX];
    unsigned conns; /* so many were ever used */
    struct path path[2][CLIENTS_MAX][NODES_MAX];
};

/* NULL: it has gone since. */
struct conn *network_conn(struct world *w, uint64_t id);
uint64_t network_id(const struct world *w, const struct conn *conn);

/* --- The client's side ---------------------------------------------------- */

struct conn *network_connect(struct world *w, unsigned client, unsigned node);
/* So many bytes were taken; 0: none just now. */
size_t network_send(struct world *w, struct conn *conn, const char *bytes,
                    size_t len);
bool network_readable(const struct conn *conn);
bool network_writable(const struct world *w, const struct conn *conn);
void network_close(struct world *w, struct conn *conn);
/* The client's machine has gone, and sends no more. */
void network_vanish(struct world *w, struct conn *conn);

/* --- The node's side ------------------------------------------------------ */

void network_reply(struct world *w, struct conn *conn, const char *bytes,
                   size_t len);
/* `orderly`: with a FIN; otherwise with a reset. */
void network_hang_up(struct world *w, struct conn *conn, bool orderly);
/* The node's machine has gone. */
void network_forget(struct world *w, struct conn *conn);

/* --- Between them --------------------------------------------------------- */

/* Something in between tells the client that the connection is gone. */
void network_forge_reset(struct world *w, struct conn *conn);
void network_free(struct world *w);

#endif
