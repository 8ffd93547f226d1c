/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server that does what a script says and no real one does on command: a
 * thread behind a socket. A script is lines of text:
 *
 *     ACCEPT           waits for the next connection
 *     GREET            takes a quorlock greeting and answers it well
 *     GREET-GUARDED    the same of the guarded level: a node that may vote, of
 *                      FAKE_RUN_ID, with the number 7
 *     EXPECT text      reads on until `text` has come, and forgets it
 *     EXPECT-WORDS a b the same for words of a command that stand together
 *     EXPECT-EOF       reads on until the other side has closed in order
 *     EXPECT-RESET     reads on until the connection is reset
 *     SEND bytes       writes them
 *     DRIP bytes       writes them one by one
 *     FLOOD n byte     writes one byte n times; a reset in between is no fault
 *     PAUSE            waits for fake_peer_go()
 *     CLOSE            closes in order
 *     RESET            closes with a reset (on TCP)
 *     REFUSE           listens no more
 *
 * In `text` and `bytes` \r \n \0 \xHH and \\ stand for bytes. Blanks in front
 * of a line are not part of it. What goes wrong is kept until fake_peer_stop(),
 * which fails the test.
 */
#ifndef TESTS_LIB_FAKE_PEER_H
#define TESTS_LIB_FAKE_PEER_H

#include <stdbool.h>

struct fake_peer;

#define FAKE_RUN_ID "fa4e00000000000000000000000000000000fa4e"

/* Listens on a unix socket of its own, or on a free port of 127.0.0.1, and
 * starts the script. */
struct fake_peer *fake_peer_start(const char *script);
struct fake_peer *fake_peer_start_tcp(const char *script);

/* Where it is: for ql_address_parse(). */
const char *fake_peer_url(const struct fake_peer *peer);

/* Lets the script go on past its next, or present, PAUSE. */
void fake_peer_go(struct fake_peer *peer);

/* Waits until the script has come to its `n`th PAUSE, from 1. */
void fake_peer_wait_pause(struct fake_peer *peer, unsigned n);

/* Waits for the end of the script and fails the test if it went wrong. */
void fake_peer_stop(struct fake_peer *peer);

#endif
