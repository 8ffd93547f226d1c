/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Real servers for tests: N redis-server processes (or what the environment's
 * QUORLOCK_SERVER_BINARY names, valkey-server say), each without persistence,
 * in one private directory under /tmp.
 *
 *     struct servers *servers = servers_start(5);
 *
 *     ql_client_open(&client, servers_list(servers), NULL);
 *     server_freeze(servers_at(servers, 0));
 *     ...
 *     assert_no_key_on_any_server(servers, "name");
 *     servers_stop(servers);
 *
 * Whatever goes wrong here fails the running test. However the test ends, the
 * servers are killed and the directory is removed: the kernel kills a server
 * when the thread that started it dies (so start and restart servers from the
 * main thread), and a helper process waits for our end to remove the files.
 * Nothing here may be used by two threads at once.
 */
#ifndef TESTS_LIB_SERVERS_H
#define TESTS_LIB_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SERVERS_MAX     32
#define SERVER_ARGS_MAX 24 /* words in one server's extra configuration */

struct servers;
struct server;

/* Zero asks for the default. */
struct servers_options {
    bool tcp;             /* free ports of 127.0.0.1 instead of unix sockets */
    const char *password; /* requirepass; it is not in servers_list() */
    /* More words for every server's command line, with a NULL at the end:
     * {"--maxmemory", "1mb", NULL}. */
    const char *const *config;
    /* The same for server i alone; NULL: none. */
    const char *const *each[SERVERS_MAX];
};

/* Both return when every server answers. */
struct servers *servers_start(unsigned count);
struct servers *servers_start_with(unsigned count,
                                   const struct servers_options *options);

/* Kills them all and removes the directory. NULL is allowed. */
void servers_stop(struct servers *servers);

/*
 * For cmocka: setups that start so many servers into *state, and the teardown
 * that stops them.
 */
int servers_setup_1(void **state);
int servers_setup_3(void **state);
int servers_setup_5(void **state);
int servers_teardown(void **state);

/* "unix:///tmp/...,unix:///tmp/...": what ql_client_open() takes. */
const char *servers_list(const struct servers *servers);
unsigned servers_count(const struct servers *servers);
struct server *servers_at(struct servers *servers, unsigned index);
/* The private directory, for a test's own files. */
const char *servers_directory(const struct servers *servers);

const char *server_url(const struct server *server);
unsigned server_port(const struct server *server);      /* 0: a unix socket */
const char *server_socket(const struct server *server); /* NULL: TCP */
pid_t server_pid(const struct server *server);          /* 0: it does not run */
bool server_frozen(const struct server *server);

/* The first two wait for its end. Each of them may be repeated. */
void server_kill(struct server *server);      /* SIGKILL */
void server_terminate(struct server *server); /* SIGTERM */
void server_freeze(struct server *server);    /* SIGSTOP */
void server_thaw(struct server *server);      /* SIGCONT */
/* Starts it, after killing it if it runs: the same address, but empty. */
void server_restart(struct server *server);

/* --- Commands, sent to one server, synchronously, by a connection of ours --
 */

enum server_reply_kind {
    SERVER_NIL,
    SERVER_STRING, /* or a status: "OK" */
    SERVER_INTEGER,
    SERVER_ARRAY, /* `integer` is its length, `text` its first string */
    SERVER_ERROR, /* `text` is what the server says */
};

struct server_reply {
    enum server_reply_kind kind;
    long long integer;
    size_t len;      /* of the string, which `text` may hold only in part */
    char text[4096]; /* ends in a NUL; "" for others */
};

/* The words end with a NULL. An error reply is a reply; no reply in HANG_MS
 * fails the test. */
struct server_reply server_command(struct server *server, ...)
    __attribute__((sentinel));
struct server_reply server_command_argv(struct server *server, int argc,
                                        const char **argv, const size_t *len);

bool server_has_key(struct server *server, const char *name);
bool server_has_key_n(struct server *server, const char *name, size_t len);

/*
 * On how many servers the key is. Servers that do not run have none; a frozen
 * one fails the test: thaw it first.
 */
unsigned servers_with_key(struct servers *servers, const char *name);

/* The key is nowhere now; or, for what is released in the background, soon. */
void assert_no_key_on_any_server(struct servers *servers, const char *name);
void assert_no_key_soon(struct servers *servers, const char *name);
/* Not one key of any name in the first database. */
void assert_servers_empty(struct servers *servers);

#endif
