/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts, awaits and ends the private servers. */
#include "cli/dev_servers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/dev_directory.h"
#include "cli/exit_code.h"
#include "cli/say.h"

#define START_TIMEOUT_MS 60000
#define FILE_MAX         (DEV_PATH_MAX + 16)

static void file_name(char path[FILE_MAX], const struct dev_servers *servers,
                      unsigned index, const char *kind)
{
    snprintf(path, FILE_MAX, "%s/%u.%s", servers->directory, index + 1, kind);
}

/* --- Which program -------------------------------------------------------- */

static bool in_path(const char *program)
{
    const char *path = getenv("PATH");
    char file[4096];

    while (path && *path) {
        size_t length = strcspn(path, ":");

        snprintf(file, sizeof(file), "%.*s/%s", (int)length, path, program);
        if (!access(file, X_OK))
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static const char *server_program(void)
{
    const char *named = getenv("QUORLOCK_SERVER_BINARY");

    if (named && *named)
        return named;
    if (in_path("redis-server"))
        return "redis-server";
    return in_path("valkey-server") ? "valkey-server" : NULL;
}

/* --- One server ----------------------------------------------------------- */

static int start_one(struct dev_servers *servers, unsigned index,
                     const char *program)
{
    char socket_path[FILE_MAX], log_path[FILE_MAX];
    const char *argv[] = {program,
                          "--port",
                          "0",
                          "--unixsocket",
                          socket_path,
                          "--unixsocketperm",
                          "700",
                          "--dir",
                          servers->directory,
                          "--save",
                          "",
                          "--appendonly",
                          "no",
                          "--maxmemory-policy",
                          "noeviction",
                          "--daemonize",
                          "no",
                          "--logfile",
                          "",
                          NULL};
    struct child_plan plan = {
        .argv = (char *const *)argv,
        .env = environ,
        .signals = servers->signals,
    };
    int failure;

    file_name(socket_path, servers, index, "sock");
    file_name(log_path, servers, index, "log");
    plan.input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    plan.output = open(log_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    failure = child_start(&plan, &servers->pids[index]);
    if (failure)
        say("cannot start %s: %s", program, strerror(errno));
    close(plan.input);
    close(plan.output);
    if (!failure)
        return 0;
    return failure == CHILD_EXEC ? EXIT_NO_QUORUM : EXIT_OS;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof(address)))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool answers(const struct dev_servers *servers, unsigned index)
{
    static const char ping[] = "PING\r\n";
    struct pollfd reply = {.events = POLLIN};
    char path[FILE_MAX], text[64];
    ssize_t size = 0;

    file_name(path, servers, index, "sock");
    reply.fd = connect_to(path);
    if (reply.fd < 0)
        return false;
    if (send(reply.fd, ping, strlen(ping), MSG_NOSIGNAL) > 0 &&
        poll(&reply, 1, 1000) == 1)
        size = read(reply.fd, text, sizeof(text));
    close(reply.fd);
    return size >= 5 && !memcmp(text, "+PONG", 5);
}

static void say_log(const struct dev_servers *servers, unsigned index)
{
    char path[FILE_MAX], line[512];
    FILE *log;

    file_name(path, servers, index, "log");
    log = fopen(path, "re");
    while (log && fgets(line, sizeof(line), log)) {
        line[strcspn(line, "\n")] = '\0';
        say("  %s", line);
    }
    if (log)
        fclose(log);
}

/* A signal that asks for our end while the servers start. */
static int asked_to_end(const struct dev_servers *servers)
{
    int signal;

    while ((signal = signals_next(servers->signals)))
        if (signals_ends(signal))
            return signal;
    return 0;
}

static int await(struct dev_servers *servers, unsigned index)
{
    int64_t until = now_ns() + START_TIMEOUT_MS * NS_PER_MS;

    while (!answers(servers, index)) {
        bool ended = waitpid(servers->pids[index], NULL, WNOHANG) != 0;
        int signal = asked_to_end(servers);

        if (signal)
            return EXIT_SIGNAL + signal;
        if (ended)
            servers->pids[index] = 0;
        if (ended || now_ns() > until) {
            say("server %u %s:", index + 1,
                ended ? "ended at once" : "does not answer");
            say_log(servers, index);
            return EXIT_NO_QUORUM;
        }
        usleep(5000);
    }
    return 0;
}

/* --- All of them -----------------------------------------------------------
 */

int dev_servers_start(struct dev_servers *servers, unsigned count,
                      const struct signals *signals)
{
    const char *program = server_program();
    int code = 0;

    *servers = (struct dev_servers){.signals = signals, .count = count};
    if (!program) {
        say("there is neither a redis-server nor a valkey-server: try");
        say("  apt-get install redis-server");
        return EXIT_NO_QUORUM;
    }
    if (dev_directory_make(servers)) {
        say("cannot make a private directory: %s", strerror(errno));
        return EXIT_OS;
    }
    for (unsigned i = 0; !code && i < count; i++)
        code = start_one(servers, i, program);
    for (unsigned i = 0; !code && i < count; i++)
        code = await(servers, i);
    return code;
}

void dev_servers_stop(struct dev_servers *servers)
{
    for (unsigned i = 0; i < servers->count; i++)
        if (servers->pids[i] > 0)
            kill(servers->pids[i], SIGKILL);
    for (unsigned i = 0; i < servers->count; i++) {
        while (servers->pids[i] > 0 && waitpid(servers->pids[i], NULL, 0) < 0 &&
               errno == EINTR)
            continue;
        servers->pids[i] = 0;
    }
    dev_directory_remove(servers);
}

char *dev_servers_urls(const struct dev_servers *servers)
{
    size_t size = servers->count * (FILE_MAX + 8), used = 0;
    char *list = malloc(size), path[FILE_MAX];

    for (unsigned i = 0; list && i < servers->count; i++) {
        file_name(path, servers, i, "sock");
        used += (size_t)snprintf(list + used, size - used, "%sunix://%s",
                                 i ? "," : "", path);
    }
    return list;
}

char *dev_servers_pids(const struct dev_servers *servers)
{
    size_t size = servers->count * 12u, used = 0;
    char *list = malloc(size);

    for (unsigned i = 0; list && i < servers->count; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%d", i ? " " : "",
                                 (int)servers->pids[i]);
    return list;
}
