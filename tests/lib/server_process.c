/* SPDX-License-Identifier: BSD-2-Clause */
/* One server as a process: starting, killing, freezing it. See servers.h. */
#include "servers_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

#define PORT_TRIES   50
#define OUR_ARGS_MAX 24

/* Prints the end of a server's log: why it did not start. */
static void show_log(const struct server *server)
{
    char command[SERVER_PATH_MAX + 16];

    snprintf(command, sizeof(command), "tail -n 20 %s >&2", server->log);
    if (system(command))
        fprintf(stderr, "(no log of server %u)\n", server->index);
}

/*
 * A free port outside of the range from which the kernel takes the ports of
 * outgoing connections, so that a server that was killed finds its port free
 * again. Somebody else may still be faster: server_start() tries another.
 */
static unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    unsigned short random;
    int fd, busy, on = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < PORT_TRIES; i++) {
        assert_int_equal(getrandom(&random, sizeof(random), 0), 2);
        address.sin_port = htons(10000 + random % 20000);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_true(fd >= 0);
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        busy = bind(fd, (struct sockaddr *)&address, sizeof(address));
        close(fd);
        if (!busy)
            return ntohs(address.sin_port);
    }
    fail_msg("found no free port in %d tries", PORT_TRIES);
    return 0;
}

void server_set_address(struct server *server)
{
    if (server->servers->tcp) {
        server->port = free_port();
        snprintf(server->url, sizeof(server->url), "127.0.0.1:%u",
                 server->port);
    } else {
        snprintf(server->socket, sizeof(server->socket), "%s/%u.sock",
                 server->servers->directory, server->index);
        snprintf(server->url, sizeof(server->url), "unix://%s", server->socket);
    }
}

static void add_words(const char **argv, int *argc, const char *const *words)
{
    for (; words && *words; words++)
        argv[(*argc)++] = *words;
}

/* In the child: becomes the server, or dies. */
static void exec_server(const struct server *server, pid_t parent)
{
    const struct servers *servers = server->servers;
    const char *argv[OUR_ARGS_MAX + 2 * SERVER_ARGS_MAX], *binary;
    char port[8];
    int argc = 0, log, null;
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    null = open("/dev/null", O_RDONLY);
    log = open(server->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(null, 0);
    dup2(log, 1);
    dup2(log, 2);
    closefrom(3);
    if (chdir(server->directory))
        _exit(127);
    snprintf(port, sizeof(port), "%u", server->port);
    binary = getenv("QUORLOCK_SERVER_BINARY");
    binary = binary && *binary ? binary : "redis-server";
    add_words(argv, &argc,
              (const char *const[]){binary, "--save", "", "--appendonly", "no",
                                    "--daemonize", "no", "--bind", "127.0.0.1",
                                    "--port", port, NULL});
    if (server->socket[0])
        add_words(argv, &argc,
                  (const char *const[]){"--unixsocket", server->socket, NULL});
    if (servers->password[0])
        add_words(
            argv, &argc,
            (const char *const[]){"--requirepass", servers->password, NULL});
    add_words(argv, &argc, (const char *const *)servers->config);
    add_words(argv, &argc, (const char *const *)server->config);
    argv[argc] = NULL;
    execvp(binary, (char **)argv);
    fprintf(stderr, "cannot run %s: %s\n", binary, strerror(errno));
    _exit(127);
}

/* True if it runs; also notices, and reaps, one that has ended. */
static bool is_running(struct server *server)
{
    if (server->pid && waitpid(server->pid, NULL, WNOHANG) == server->pid)
        server->pid = 0;
    return server->pid != 0;
}

void server_launch(struct server *server)
{
    pid_t parent = getpid();

    server->frozen = false;
    fflush(NULL);
    server->pid = fork();
    if (server->pid == 0)
        exec_server(server, parent);
    assert_true(server->pid > 0);
}

/* Waits until it answers, and it is ours that answers. False: it has ended. */
bool server_wait_answer(struct server *server)
{
    int64_t end = clock_now_ms() + HANG_MS;

    while (is_running(server)) {
        if (server_answers(server))
            return true;
        if (clock_now_ms() > end) {
            show_log(server);
            fail_msg("server %u does not answer", server->index);
        }
        clock_sleep_ms(5);
    }
    return false;
}

/* `moving`: on another port if this one is taken. */
void server_start(struct server *server, bool moving)
{
    for (int i = 0; i < PORT_TRIES; i++) {
        server_launch(server);
        if (server_wait_answer(server))
            return;
        if (!server->servers->tcp)
            break;
        if (moving)
            server_set_address(server);
        else
            clock_sleep_ms(100);
    }
    show_log(server);
    fail_msg("server %u does not start; its log is above", server->index);
}

static void end_server(struct server *server, int signal)
{
    server_forget_connection(server);
    if (!is_running(server))
        return;
    kill(server->pid, signal);
    if (signal != SIGKILL)
        kill(server->pid, SIGCONT); /* a frozen one would not hear it */
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    server->pid = 0;
    server->frozen = false;
}

void server_kill(struct server *server)
{
    end_server(server, SIGKILL);
}

void server_terminate(struct server *server)
{
    end_server(server, SIGTERM);
}

void server_freeze(struct server *server)
{
    int status;

    if (server->frozen)
        return;
    assert_true(is_running(server));
    kill(server->pid, SIGSTOP);
    while (waitpid(server->pid, &status, WUNTRACED) < 0)
        assert_int_equal(errno, EINTR);
    assert_true(WIFSTOPPED(status));
    server->frozen = true;
}

void server_thaw(struct server *server)
{
    if (!server->frozen)
        return;
    kill(server->pid, SIGCONT);
    while (waitpid(server->pid, NULL, WCONTINUED) < 0)
        assert_int_equal(errno, EINTR);
    server->frozen = false;
}

void server_restart(struct server *server)
{
    server_kill(server);
    server_start(server, false);
}

const char *server_url(const struct server *server)
{
    return server->url;
}

unsigned server_port(const struct server *server)
{
    return server->port;
}

const char *server_socket(const struct server *server)
{
    return server->socket[0] ? server->socket : NULL;
}

pid_t server_pid(const struct server *server)
{
    return server->pid;
}

bool server_frozen(const struct server *server)
{
    return server->frozen;
}
