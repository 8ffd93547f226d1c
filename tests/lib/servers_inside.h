/* SPDX-License-Identifier: BSD-2-Clause */
/* What servers.c, server_process.c and server_command.c share; not for tests.
 */
#ifndef TESTS_LIB_SERVERS_INSIDE_H
#define TESTS_LIB_SERVERS_INSIDE_H

#include "servers.h"

#include <hiredis/hiredis.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
/* cmocka wants the four above to come before it. */
#include <cmocka.h>

#define SERVER_PATH_MAX 64 /* well below the 108 bytes of a unix socket */

struct server {
    struct servers *servers;
    unsigned index;
    pid_t pid; /* 0: it does not run */
    bool frozen;
    unsigned port;                /* 0: a unix socket */
    char socket[SERVER_PATH_MAX]; /* "": TCP */
    char directory[SERVER_PATH_MAX];
    char log[SERVER_PATH_MAX];
    char url[SERVER_PATH_MAX + 8];
    char **config;
    redisContext *connection; /* for commands; NULL: none yet */
};

struct servers {
    unsigned count;
    bool tcp;
    char password[64];
    char directory[24];
    char list[SERVERS_MAX * (SERVER_PATH_MAX + 9)];
    char **config;
    pid_t sweeper;
    int sweeper_fd;
    struct server server[SERVERS_MAX];
};

/* Where it is; another port at each call. */
void server_set_address(struct server *server);

/* Starts the process; does not wait. */
void server_launch(struct server *server);

/* Waits until it answers, and it is ours that answers. False: it has ended. */
bool server_wait_answer(struct server *server);

/* Both, several times over; `moving`: to another port if this one is taken. */
void server_start(struct server *server, bool moving);

/* True if the server answers, and it is the process that we started. */
bool server_answers(struct server *server);

void server_forget_connection(struct server *server);

#endif
