/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The physical limit: the same commands as the plain level's, written to the
 * sockets and counted by hand, with no library, no deadlines and no checks.
 * What a client can at best come near to.
 *
 *     limit HOST:PORT,HOST:PORT,... CYCLES
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "measure.h"

#define NODES_MAX 32
#define TOKEN     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const char script[] =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',"
    "KEYS[1]) else return 0 end";

struct limit {
    unsigned nodes;
    int epoll_fd;
    int fd[NODES_MAX];
    unsigned pending[NODES_MAX]; /* replies that are still to come */
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void add_node(struct limit *limit, const char *host, const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(port))};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = limit->nodes};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (fd < 0 || limit->nodes == NODES_MAX ||
        inet_pton(AF_INET, host, &address.sin_addr) != 1 ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        die("limit: connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    epoll_ctl(limit->epoll_fd, EPOLL_CTL_ADD, fd, &event);
    limit->fd[limit->nodes++] = fd;
}

static void add_nodes(struct limit *limit, char *list)
{
    for (char *part = strtok(list, ","); part; part = strtok(NULL, ",")) {
        char *colon = strrchr(part, ':');

        if (!colon)
            die("limit: HOST:PORT is wanted");
        *colon = '\0';
        add_node(limit, part, colon + 1);
    }
}

/* Each of these replies is one line. */
static void read_replies(struct limit *limit, unsigned node, unsigned *done)
{
    char bytes[512];
    ssize_t n = recv(limit->fd[node], bytes, sizeof(bytes), 0);

    if (n <= 0)
        die("limit: recv");
    for (ssize_t i = 0; i < n; i++)
        if (bytes[i] == '\n' && --limit->pending[node] == 0)
            ++*done;
}

/* To all, and back as soon as a majority owes nothing any more. */
static void ask_all(struct limit *limit, const char *bytes, size_t len)
{
    struct epoll_event events[NODES_MAX];
    unsigned done = 0;

    for (unsigned i = 0; i < limit->nodes; i++) {
        if (send(limit->fd[i], bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
            die("limit: send");
        limit->pending[i]++;
    }
    while (done < limit->nodes / 2 + 1) {
        int n = epoll_wait(limit->epoll_fd, events, NODES_MAX, -1);

        for (int i = 0; i < n; i++)
            read_replies(limit, events[i].data.u32, &done);
    }
}

static void load_script(struct limit *limit, char sha1[41])
{
    char bytes[512], reply[64];
    int len = snprintf(bytes, sizeof(bytes),
                       "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%zu\r\n%s\r\n",
                       strlen(script), script);

    for (unsigned i = 0; i < limit->nodes; i++)
        if (send(limit->fd[i], bytes, (size_t)len, 0) != len ||
            recv(limit->fd[i], reply, sizeof(reply), 0) < 45)
            die("limit: SCRIPT LOAD");
    memcpy(sha1, reply + 5, 40);
    sha1[40] = '\0';
}

static void cycle(struct limit *limit, const char *sha1)
{
    char bytes[256];
    int len = snprintf(bytes, sizeof(bytes),
                       "*6\r\n$3\r\nSET\r\n$5\r\nbench\r\n$40\r\n" TOKEN
                       "\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n%d\r\n",
                       10000);

    ask_all(limit, bytes, (size_t)len);
    len = snprintf(bytes, sizeof(bytes),
                   "*5\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$5\r\n"
                   "bench\r\n$40\r\n" TOKEN "\r\n",
                   sha1);
    ask_all(limit, bytes, (size_t)len);
}

int main(int argc, char **argv)
{
    unsigned cycles = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    struct limit limit = {.epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
    struct measure *measure;
    char sha1[41];

    if (cycles == 0) {
        fprintf(stderr, "usage: limit HOST:PORT,... CYCLES\n");
        return 64;
    }
    add_nodes(&limit, argv[1]);
    load_script(&limit, sha1);
    measure = measure_new(cycles);
    for (unsigned i = 0; i < cycles + measure_warm_up(cycles); i++) {
        measure_begin(measure);
        cycle(&limit, sha1);
        measure_end(measure);
    }
    measure_print(measure);
    printf("\n");
    free(measure);
    return 0;
}
