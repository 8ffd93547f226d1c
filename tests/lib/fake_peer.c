/* SPDX-License-Identifier: BSD-2-Clause */
/* The interpreter of fake peers' scripts. */
#include "fake_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "redis/script.h"

#define INPUT_MAX (4 << 20)

struct fake_peer {
    char url[128];
    char path[64]; /* "" for TCP */
    char *script;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct fake_peer *next;
    unsigned pauses; /* that the script has come to */
    unsigned goes;   /* that were given */
    int listener;
    int fd;
    char *input; /* what has come and was not expected yet */
    size_t len;
    char fault[512];
};

static bool fail_peer(struct fake_peer *peer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail_peer(struct fake_peer *peer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(peer->fault, sizeof peer->fault, format, args);
    va_end(args);
    return false;
}

/* --- One connection ------------------------------------------------------- */

static bool wait_for(struct fake_peer *peer, int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};

    if (poll(&one, 1, HANG_MS) > 0)
        return true;
    return fail_peer(peer, "nothing happened");
}

/* More input; *ret_end is 0, or EOF's -1, or the errno of the end. */
static bool read_more(struct fake_peer *peer, int *ret_end)
{
    ssize_t n;

    *ret_end = 0;
    if (peer->len == INPUT_MAX)
        return fail_peer(peer, "too much input");
    if (!wait_for(peer, peer->fd, POLLIN))
        return false;
    n = recv(peer->fd, peer->input + peer->len, INPUT_MAX - peer->len, 0);
    if (n > 0)
        peer->len += (size_t)n;
    else
        *ret_end = n == 0 ? -1 : errno;
    return true;
}

static bool expect(struct fake_peer *peer, const char *text, size_t len)
{
    int end = 0;

    for (;;) {
        char *at = memmem(peer->input, peer->len, text, len);

        if (at) {
            size_t used = (size_t)(at - peer->input) + len;

            peer->len -= used;
            memmove(peer->input, peer->input + used, peer->len);
            return true;
        }
        if (end)
            return fail_peer(peer, "the connection ended (%d) before: %.*s",
                             end, (int)len, text);
        if (!read_more(peer, &end))
            return false;
    }
}

static bool expect_end(struct fake_peer *peer, bool reset)
{
    int end = 0;

    while (end == 0) {
        peer->len = 0;
        if (!read_more(peer, &end))
            return false;
    }
    close(peer->fd);
    peer->fd = -1;
    if (reset == (end == ECONNRESET))
        return true;
    return fail_peer(peer, "the connection ended otherwise: %s",
                     end < 0 ? "in order" : strerror(end));
}

static bool send_all(struct fake_peer *peer, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(peer->fd, bytes, len, MSG_NOSIGNAL);

        if (n < 0)
            return fail_peer(peer, "send: %s", strerror(errno));
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool drip(struct fake_peer *peer, const char *bytes, size_t len)
{
    struct timespec pause = {0, 200000};

    for (size_t i = 0; i < len; i++) {
        if (!send_all(peer, bytes + i, 1))
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

static bool flood(struct fake_peer *peer, const char *arguments)
{
    char bytes[4096];
    char *byte;
    unsigned long count = strtoul(arguments, &byte, 10);

    memset(bytes, byte[1], sizeof bytes);
    while (count > 0) {
        size_t n = count < sizeof bytes ? count : sizeof bytes;

        if (send(peer->fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
            return true;
        count -= n;
    }
    return true;
}

static bool expect_scripts(struct fake_peer *peer, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        const char *source = ql_script_at(i)->source;

        if (!expect(peer, source, strlen(source)) || !expect(peer, "\r\n", 2))
            return false;
    }
    return true;
}

static bool send_hashes(struct fake_peer *peer, unsigned from, unsigned to)
{
    char sha1[64];

    for (unsigned i = from; i < to; i++) {
        snprintf(sha1, sizeof sha1, "$40\r\n%s\r\n", ql_script_at(i)->sha1);
        if (!send_all(peer, sha1, strlen(sha1)))
            return false;
    }
    return true;
}

static bool greet(struct fake_peer *peer)
{
    static const char info[] = "+OK\r\n$7\r\nrun_id:\r\n$0\r\n\r\n$0\r\n\r\n";

    return expect_scripts(peer, 0, QL_SCRIPTS_PLAIN) &&
           send_all(peer, info, sizeof info - 1) &&
           send_hashes(peer, 0, QL_SCRIPTS_PLAIN);
}

static bool greet_guarded(struct fake_peer *peer)
{
    static const char look[] = "EVALSHA";
    static const char info[] = "+OK\r\n"
                               "$47\r\nrun_id:" FAKE_RUN_ID "\r\n"
                               "$11\r\nrole:master\r\n"
                               "$27\r\nmaxmemory_policy:noeviction\r\n"
                               "$13\r\naof_enabled:0\r\n"
                               "*2\r\n$11\r\nappendfsync\r\n$6\r\nalways\r\n"
                               "*0\r\n";
    static const char record[] =
        "*15\r\n$16\r\n1700000000000000\r\n$7\r\npresent\r\n"
        "$5\r\ng.1.3\r\n$0\r\n\r\n$40\r\n" FAKE_RUN_ID "\r\n$5\r\nready\r\n"
        "$1\r\n7\r\n$5\r\n60000\r\n$3\r\n500\r\n$1\r\n1\r\n$0\r\n\r\n"
        "$0\r\n\r\n$0\r\n\r\n$5\r\na b c\r\n$0\r\n\r\n";

    return expect_scripts(peer, QL_SCRIPTS_PLAIN, QL_SCRIPTS) &&
           expect(peer, look, sizeof look - 1) && expect(peer, "look\r\n", 6) &&
           send_all(peer, info, sizeof info - 1) &&
           send_hashes(peer, QL_SCRIPTS_PLAIN, QL_SCRIPTS) &&
           send_all(peer, record, sizeof record - 1);
}

static bool accept_one(struct fake_peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd);
    peer->len = 0;
    if (!wait_for(peer, peer->listener, POLLIN))
        return false;
    peer->fd = accept(peer->listener, NULL, NULL);
    return peer->fd >= 0 || fail_peer(peer, "accept: %s", strerror(errno));
}

static bool end(struct fake_peer *peer, bool reset)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};

    if (reset)
        setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    close(peer->fd);
    peer->fd = -1;
    return true;
}

static bool refuse(struct fake_peer *peer)
{
    close(peer->listener);
    peer->listener = -1;
    return true;
}

/* --- The script ----------------------------------------------------------- */

static bool pause_script(struct fake_peer *peer)
{
    struct timespec deadline;
    int error = 0;

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += HANG_MS / 1000;
    pthread_mutex_lock(&peer->mutex);
    peer->pauses++;
    pthread_cond_broadcast(&peer->changed);
    while (peer->goes < peer->pauses && error == 0)
        error = pthread_cond_timedwait(&peer->changed, &peer->mutex, &deadline);
    pthread_mutex_unlock(&peer->mutex);
    return error == 0 || fail_peer(peer, "paused for ever");
}

/* Takes \-sequences out of `text`, in place. */
static size_t unescape(char *text)
{
    char *out = text;
    unsigned byte;

    for (const char *in = text; *in; in++) {
        if (*in != '\\') {
            *out++ = *in;
            continue;
        }
        switch (*++in) {
        case 'r':
            *out++ = '\r';
            break;
        case 'n':
            *out++ = '\n';
            break;
        case '0':
            *out++ = '\0';
            break;
        case 'x':
            sscanf(in + 1, "%2x", &byte);
            *out++ = (char)byte;
            in += 2;
            break;
        default:
            *out++ = *in;
            break;
        }
    }
    return (size_t)(out - text);
}

/* "a b" becomes "$1\r\na\r\n$1\r\nb\r\n". */
static bool expect_words(struct fake_peer *peer, char *words)
{
    char text[2048];
    size_t used = 0;
    char *place = NULL;

    for (char *word = strtok_r(words, " ", &place); word;
         word = strtok_r(NULL, " ", &place)) {
        size_t len = unescape(word);

        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "$%zu\r\n%.*s\r\n", len, (int)len, word);
        if (used >= sizeof text)
            return fail_peer(peer, "too many words");
    }
    return expect(peer, text, used);
}

static bool run_words(struct fake_peer *peer, const char *word, char *rest)
{
    if (strcmp(word, "FLOOD") == 0)
        return flood(peer, rest);
    if (strcmp(word, "EXPECT") == 0)
        return expect(peer, rest, unescape(rest));
    if (strcmp(word, "EXPECT-WORDS") == 0)
        return expect_words(peer, rest);
    if (strcmp(word, "SEND") == 0)
        return send_all(peer, rest, unescape(rest));
    if (strcmp(word, "DRIP") == 0)
        return drip(peer, rest, unescape(rest));
    return fail_peer(peer, "no such line: %s", word);
}

static bool run_line(struct fake_peer *peer, char *line)
{
    char *rest = strchr(line, ' ');

    if (rest) {
        *rest++ = '\0';
        return run_words(peer, line, rest);
    }
    if (strcmp(line, "ACCEPT") == 0)
        return accept_one(peer);
    if (strcmp(line, "GREET") == 0)
        return greet(peer);
    if (strcmp(line, "GREET-GUARDED") == 0)
        return greet_guarded(peer);
    if (strcmp(line, "EXPECT-EOF") == 0)
        return expect_end(peer, false);
    if (strcmp(line, "EXPECT-RESET") == 0)
        return expect_end(peer, true);
    if (strcmp(line, "PAUSE") == 0)
        return pause_script(peer);
    if (strcmp(line, "CLOSE") == 0)
        return end(peer, false);
    if (strcmp(line, "RESET") == 0)
        return end(peer, true);
    if (strcmp(line, "REFUSE") == 0)
        return refuse(peer);
    return fail_peer(peer, "no such line: %s", line);
}

static void *run(void *arg)
{
    struct fake_peer *peer = arg;
    char *place = NULL;
    char *line = strtok_r(peer->script, "\n", &place);
    bool good = true;

    for (; line && good; line = strtok_r(NULL, "\n", &place)) {
        line += strspn(line, " ");
        good = !*line || run_line(peer, line);
    }
    /* Whoever waits for a pause that will not come is told. */
    pthread_mutex_lock(&peer->mutex);
    peer->pauses = peer->pauses > 1000000 ? peer->pauses : 1000000;
    pthread_cond_broadcast(&peer->changed);
    pthread_mutex_unlock(&peer->mutex);
    return NULL;
}

/* --- From the test -------------------------------------------------------- */

/* Those whose socket a test that fails would leave behind. */
static struct fake_peer *all;

static void unlink_all(void)
{
    for (struct fake_peer *peer = all; peer; peer = peer->next)
        unlink(peer->path);
}

static void enlist(struct fake_peer *peer)
{
    static bool registered;

    if (!registered)
        atexit(unlink_all);
    registered = true;
    peer->next = all;
    all = peer;
}

static void delist(struct fake_peer *peer)
{
    struct fake_peer **place = &all;

    while (*place && *place != peer)
        place = &(*place)->next;
    if (*place)
        *place = peer->next;
}

static void listen_unix(struct fake_peer *peer)
{
    static unsigned number;
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(peer->path, sizeof peer->path, "/tmp/quorlock-peer-%ld-%u",
             (long)getpid(), number++);
    enlist(peer);
    memcpy(address.sun_path, peer->path, sizeof peer->path);
    snprintf(peer->url, sizeof peer->url, "unix://%s", peer->path);
    peer->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        bind(peer->listener, (struct sockaddr *)&address, sizeof address), 0);
}

static void listen_tcp(struct fake_peer *peer)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(peer->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(
        getsockname(peer->listener, (struct sockaddr *)&address, &len), 0);
    snprintf(peer->url, sizeof peer->url, "127.0.0.1:%u",
             (unsigned)ntohs(address.sin_port));
}

static struct fake_peer *start(const char *script, bool tcp)
{
    struct fake_peer *peer = calloc(1, sizeof *peer);

    assert_non_null(peer);
    peer->fd = -1;
    peer->script = strdup(script);
    peer->input = malloc(INPUT_MAX);
    assert_non_null(peer->script);
    assert_non_null(peer->input);
    pthread_mutex_init(&peer->mutex, NULL);
    pthread_cond_init(&peer->changed, NULL);
    if (tcp)
        listen_tcp(peer);
    else
        listen_unix(peer);
    assert_int_equal(listen(peer->listener, 16), 0);
    assert_int_equal(pthread_create(&peer->thread, NULL, run, peer), 0);
    return peer;
}

struct fake_peer *fake_peer_start(const char *script)
{
    return start(script, false);
}

struct fake_peer *fake_peer_start_tcp(const char *script)
{
    return start(script, true);
}

const char *fake_peer_url(const struct fake_peer *peer)
{
    return peer->url;
}

void fake_peer_go(struct fake_peer *peer)
{
    pthread_mutex_lock(&peer->mutex);
    peer->goes++;
    pthread_cond_broadcast(&peer->changed);
    pthread_mutex_unlock(&peer->mutex);
}

void fake_peer_wait_pause(struct fake_peer *peer, unsigned n)
{
    pthread_mutex_lock(&peer->mutex);
    while (peer->pauses < n)
        pthread_cond_wait(&peer->changed, &peer->mutex);
    pthread_mutex_unlock(&peer->mutex);
}

void fake_peer_stop(struct fake_peer *peer)
{
    char fault[sizeof peer->fault];

    pthread_join(peer->thread, NULL);
    if (peer->fd >= 0)
        close(peer->fd);
    if (peer->listener >= 0)
        close(peer->listener);
    if (peer->path[0])
        unlink(peer->path);
    delist(peer);
    memcpy(fault, peer->fault, sizeof fault);
    pthread_cond_destroy(&peer->changed);
    pthread_mutex_destroy(&peer->mutex);
    free(peer->input);
    free(peer->script);
    free(peer);
    if (fault[0])
        fail_msg("the fake peer: %s", fault);
}
