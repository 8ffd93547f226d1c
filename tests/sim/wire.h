/* SPDX-License-Identifier: BSD-2-Clause */
/* What is between the two ends of a connection: delay, loss, partition. */
#ifndef TESTS_SIM_WIRE_H
#define TESTS_SIM_WIRE_H

#include "network.h"

/* An event: the client asks the node for a connection, for the nth time. */
void wire_knock(struct world *w, uint64_t id, uint64_t tries);

void wire_send(struct world *w, struct conn *conn, enum direction direction,
               enum segment_kind kind, const char *bytes, size_t len);
/* What is not on its way yet is dropped, and a reset is sent, once. */
void wire_reset(struct world *w, struct conn *conn, enum direction direction);
void wire_drop(struct pipe *pipe);

/* Forgets the connection when the client has, and nothing of it will come to
 * the node any more. */
void wire_settle(struct world *w, struct conn *conn);
void wire_free(struct conn *conn);

#endif
