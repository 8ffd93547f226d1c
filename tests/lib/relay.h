/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A relay in front of a real server, for what neither a server nor a kernel
 * does on command: the request arrives, and its reply is lost.
 *
 *     struct relay *relay = relay_start(server);
 *     ... relay_url(relay) in the place of server_url(server) ...
 *     relay_swallow(relay, true);
 *     relay_cut(relay);
 *     relay_stop(relay);
 */
#ifndef TESTS_LIB_RELAY_H
#define TESTS_LIB_RELAY_H

#include <stdbool.h>

#include "servers.h"

struct relay;

/* The server must be on a unix socket. */
struct relay *relay_start(struct server *server);
void relay_stop(struct relay *relay);

/* A second address of the server. */
const char *relay_url(const struct relay *relay);

/* From now on replies go nowhere, or go on again. Requests always arrive. */
void relay_swallow(struct relay *relay, bool on);

/* Breaks every connection that goes through it, and waits until it has. */
void relay_cut(struct relay *relay);

/* Waits until a reply has been swallowed since the last call: the server has
 * done what it was asked for. */
void relay_wait_swallowed(struct relay *relay);

#endif
