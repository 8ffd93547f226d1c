/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private servers on unix sockets in a private directory, for `quorlock dev`.
 * They keep nothing, and they die with us.
 */
#ifndef QL_CLI_DEV_SERVERS_H
#define QL_CLI_DEV_SERVERS_H

#include <sys/types.h>

#include "cli/signals.h"
#include "quorlock/quorlock.h"

/* A unix socket's path must fit into 107 bytes. */
#define DEV_PATH_MAX 80

struct dev_servers {
    const struct signals *signals; /* put back in the servers */
    unsigned count;
    pid_t pids[QL_NODES_MAX]; /* 0: not running */
    char directory[DEV_PATH_MAX];
    pid_t sweeper;  /* removes the directory when we are gone; 0: none */
    int sweeper_fd; /* closing it tells the sweeper so */
};

/* Starts `count` of them and waits until each answers. Returns 0, or the exit
 * status after saying why. */
int dev_servers_start(struct dev_servers *servers, unsigned count,
                      const struct signals *signals);

/* Ends them by their process ids and removes the directory. Does so for what
 * was started, at any stage. */
void dev_servers_stop(struct dev_servers *servers);

/* "unix:///tmp/.../1.sock,unix://...", to be freed; NULL: out of memory. */
char *dev_servers_urls(const struct dev_servers *servers);

/* "4121 4122 4123", to be freed; NULL: out of memory. */
char *dev_servers_pids(const struct dev_servers *servers);

#endif
