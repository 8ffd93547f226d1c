/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A TCP proxy that misbehaves on command.
 *
 *     chaos_proxy ADDRESS PORT TARGET_ADDRESS TARGET_PORT
 *
 * Commands come on stdin, one a line: MODE [NUMBER [up|down|both]], and are
 * in force for all connections, old and new, until the next one:
 *
 *     pass       bytes go through as they come
 *     delay MS   they go through so much later
 *     drip MS    one byte goes through each MS milliseconds
 *     stall      nothing goes through, nothing is lost
 *     drop       everything is swallowed; a TCP stream with a hole in it does
 *                not exist, so such a connection is reset at the next command
 *     reset N    a connection is reset after so many more bytes
 *     close N    the same, but orderly
 *
 * "up" is towards the server. At the end of stdin it ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS  128
#define BUFFER_BYTES 65536
#define PIECES       256

enum mode { PASS, DELAY, DRIP, STALL, DROP, RESET, CLOSE, MODES };
enum way { UP, DOWN };

static const char *const mode_names[MODES] = {"pass", "delay", "drip", "stall",
                                              "drop", "reset", "close"};

/* Bytes that were read together, and when they may go on. */
struct piece {
    uint64_t due_ms;
    size_t len;
};

/* One direction of a connection. Both arrays are queues that begin at 0. */
struct stream {
    char bytes[BUFFER_BYTES];
    size_t len;
    struct piece pieces[PIECES];
    unsigned count;
    size_t passed; /* since the last command */
    uint64_t dripped_ms;
    bool ended;
    bool holed;
};

struct connection {
    int fd[2]; /* the reader of UP is the client's, fd[UP] */
    struct stream stream[2];
};

static struct connection *connections[CONNECTIONS];
static enum mode mode;
static unsigned number;
static bool concerned[2] = {true, true};
static struct sockaddr_in target;

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static enum mode mode_of(enum way way)
{
    return concerned[way] ? mode : PASS;
}

/* --- One connection ------------------------------------------------------ */

static void end_connection(unsigned index, bool abort)
{
    struct connection *connection = connections[index];
    struct linger linger = {1, 0};

    for (int i = 0; i < 2; i++) {
        if (abort)
            setsockopt(connection->fd[i], SOL_SOCKET, SO_LINGER, &linger,
                       sizeof(linger));
        close(connection->fd[i]);
    }
    free(connection);
    connections[index] = NULL;
}

/* False: the connection is to be aborted. */
static bool take(struct stream *stream, int fd, enum way way)
{
    size_t room = sizeof(stream->bytes) - stream->len;
    enum mode in_force = mode_of(way);
    ssize_t size;

    if (stream->ended || room == 0 || stream->count == PIECES)
        return true;
    size = recv(fd, stream->bytes + stream->len, room, MSG_DONTWAIT);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR;
    stream->ended = size == 0;
    if (size == 0)
        return true;
    if (in_force == DROP) {
        stream->holed = true;
        return true;
    }
    stream->pieces[stream->count++] = (struct piece){
        now_ms() + (in_force == DELAY ? number : 0), (size_t)size};
    stream->len += (size_t)size;
    return true;
}

/* How many bytes may go on now. */
static size_t allowance(const struct stream *stream, enum way way)
{
    enum mode in_force = mode_of(way);
    size_t len = stream->count ? stream->pieces[0].len : 0;

    if (len == 0 || stream->pieces[0].due_ms > now_ms() || in_force == STALL)
        return 0;
    if (in_force == DRIP)
        return now_ms() >= stream->dripped_ms + number;
    if ((in_force == RESET || in_force == CLOSE) &&
        len > number - stream->passed)
        return number - stream->passed;
    return len;
}

static void forget(struct stream *stream, size_t len)
{
    memmove(stream->bytes, stream->bytes + len, stream->len - len);
    stream->len -= len;
    stream->pieces[0].len -= len;
    if (stream->pieces[0].len == 0)
        memmove(stream->pieces, stream->pieces + 1,
                --stream->count * sizeof(struct piece));
}

static bool give(struct stream *stream, int fd, enum way way)
{
    size_t len;

    while ((len = allowance(stream, way)) > 0) {
        ssize_t size =
            send(fd, stream->bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (size < 0)
            return errno == EAGAIN || errno == EINTR;
        stream->passed += (size_t)size;
        stream->dripped_ms = now_ms();
        forget(stream, (size_t)size);
    }
    return true;
}

static bool fuse_blown(const struct stream *stream, enum way way)
{
    enum mode in_force = mode_of(way);

    return (in_force == RESET || in_force == CLOSE) && stream->passed >= number;
}

static void serve(unsigned index)
{
    struct connection *connection = connections[index];

    for (enum way way = UP; way <= DOWN; way++) {
        struct stream *stream = &connection->stream[way];

        if (!take(stream, connection->fd[way], way) ||
            !give(stream, connection->fd[!way], way)) {
            end_connection(index, true);
            return;
        }
        if (fuse_blown(stream, way) || (stream->ended && stream->len == 0)) {
            end_connection(index, !stream->ended && mode == RESET);
            return;
        }
    }
}

static void welcome(int listener)
{
    int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    unsigned index = 0;
    int one = 1;

    while (index < CONNECTIONS && connections[index])
        index++;
    if (client < 0 || server < 0 || index == CONNECTIONS ||
        !(connections[index] = calloc(1, sizeof(struct connection)))) {
        close(client);
        close(server);
        return;
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    connections[index]->fd[UP] = client;
    connections[index]->fd[DOWN] = server;
    /* A refusal shows when the socket is read. */
    if (connect(server, (struct sockaddr *)&target, sizeof(target)) &&
        errno != EINPROGRESS)
        end_connection(index, true);
}

/* --- Commands ------------------------------------------------------------- */

static void obey(const char *line)
{
    char name[16] = "", way[16] = "both";

    number = 0;
    if (sscanf(line, "%15s %u %15s", name, &number, way) < 1)
        return;
    for (unsigned i = 0; i < MODES; i++)
        if (!strcmp(name, mode_names[i]))
            mode = (enum mode)i;
    concerned[UP] = strcmp(way, "down") != 0;
    concerned[DOWN] = strcmp(way, "up") != 0;
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        if (!connections[i])
            continue;
        connections[i]->stream[UP].passed = 0;
        connections[i]->stream[DOWN].passed = 0;
        if (connections[i]->stream[UP].holed ||
            connections[i]->stream[DOWN].holed)
            end_connection(i, true);
    }
}

/* --- The loop --------------------------------------------------------------
 */

static bool is_waiting(const struct connection *connection)
{
    return connection->stream[UP].len || connection->stream[DOWN].len;
}

/* What there is to wait for. A stream that is full is not read, and one with
 * bytes in it is looked at each millisecond. */
static nfds_t prepare(struct pollfd *polls, int listener, int *ret_timeout)
{
    nfds_t count = 2;

    polls[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = listener, .events = POLLIN};
    *ret_timeout = -1;
    for (unsigned i = 0; i < CONNECTIONS; i++) {
        if (!connections[i])
            continue;
        if (is_waiting(connections[i]))
            *ret_timeout = 1;
        for (enum way way = UP; way <= DOWN; way++) {
            const struct stream *stream = &connections[i]->stream[way];

            if (stream->ended || stream->count == PIECES ||
                stream->len == sizeof(stream->bytes))
                continue;
            polls[count++] = (struct pollfd){.fd = connections[i]->fd[way],
                                             .events = POLLIN};
        }
    }
    return count;
}

static void run(int listener)
{
    struct pollfd polls[2 + 2 * CONNECTIONS];
    char line[64];
    int timeout;

    for (;;) {
        nfds_t count = prepare(polls, listener, &timeout);

        if (poll(polls, count, timeout) < 0 && errno != EINTR)
            return;
        if (polls[0].revents) {
            if (!fgets(line, sizeof(line), stdin))
                return;
            obey(line);
        }
        if (polls[1].revents)
            welcome(listener);
        for (unsigned i = 0; i < CONNECTIONS; i++)
            if (connections[i])
                serve(i);
    }
}

static struct sockaddr_in address_of(const char *address, const char *port)
{
    struct sockaddr_in result = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)atoi(port))};

    if (inet_pton(AF_INET, address, &result.sin_addr) != 1)
        exit(64);
    return result;
}

int main(int argc, char **argv)
{
    struct sockaddr_in own;
    int one = 1, listener;

    if (argc != 5)
        return 64;
    own = address_of(argv[1], argv[2]);
    target = address_of(argv[3], argv[4]);
    setvbuf(stdin, NULL, _IONBF, 0); /* so that poll(2) sees every line */
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(listener, (struct sockaddr *)&own, sizeof(own)) ||
        listen(listener, CONNECTIONS)) {
        fprintf(stderr, "chaos_proxy: %s: %s\n", argv[2], strerror(errno));
        return 71;
    }
    run(listener);
    return 0;
}
