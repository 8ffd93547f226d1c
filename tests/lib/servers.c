/* SPDX-License-Identifier: BSD-2-Clause */
/* A group of real servers: see servers.h. One process of it is in
 * server_process.c, and commands for it in server_command.c. */
#include "servers_inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A shell that waits for a line or for the end of this process, and then
 * removes the directory.
 */
static void start_sweeper(struct servers *servers)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fflush(NULL);
    servers->sweeper = fork();
    if (servers->sweeper == 0) {
        int null = open("/dev/null", O_WRONLY);

        setsid();
        dup2(ends[0], 0);
        dup2(null, 1);
        dup2(null, 2);
        closefrom(3);
        execl("/bin/sh", "sh", "-c", "read -r line; rm -rf -- \"$1\"", "sh",
              servers->directory, NULL);
        _exit(127);
    }
    assert_true(servers->sweeper > 0);
    close(ends[0]);
    servers->sweeper_fd = ends[1];
}

/* A copy of the words, with the NULL; NULL for none. */
static char **copy_words(const char *const *words)
{
    size_t count = 0;
    char **copy;

    while (words && words[count])
        count++;
    if (!count)
        return NULL;
    assert_true(count <= SERVER_ARGS_MAX);
    copy = calloc(count + 1, sizeof(*copy));
    assert_non_null(copy);
    for (size_t i = 0; i < count; i++)
        assert_non_null(copy[i] = strdup(words[i]));
    return copy;
}

static void free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

static void prepare(struct servers *servers, unsigned index,
                    const struct servers_options *options)
{
    struct server *server = &servers->server[index];

    server->servers = servers;
    server->index = index;
    server->config = copy_words(options->each[index]);
    snprintf(server->directory, sizeof(server->directory), "%s/%u",
             servers->directory, index);
    snprintf(server->log, sizeof(server->log), "%s/%u.log", servers->directory,
             index);
    assert_int_equal(mkdir(server->directory, 0700), 0);
    server_set_address(server);
}

struct servers *servers_start(unsigned count)
{
    struct servers_options options = {0};

    return servers_start_with(count, &options);
}

struct servers *servers_start_with(unsigned count,
                                   const struct servers_options *options)
{
    struct servers *servers = calloc(1, sizeof(*servers));

    assert_non_null(servers);
    assert_true(count > 0 && count <= SERVERS_MAX);
    servers->tcp = options->tcp;
    servers->count = count;
    servers->config = copy_words(options->config);
    snprintf(servers->password, sizeof(servers->password), "%s",
             options->password ? options->password : "");
    strcpy(servers->directory, "/tmp/ql-XXXXXX");
    assert_non_null(mkdtemp(servers->directory));
    start_sweeper(servers);
    for (unsigned i = 0; i < count; i++) {
        prepare(servers, i, options);
        /* Start them all at once; a taken port is noticed below. */
        server_launch(&servers->server[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        if (!server_wait_answer(&servers->server[i])) {
            if (servers->tcp)
                server_set_address(&servers->server[i]);
            server_start(&servers->server[i], true);
        }
        if (i > 0)
            strcat(servers->list, ",");
        strcat(servers->list, servers->server[i].url);
    }
    return servers;
}

void servers_stop(struct servers *servers)
{
    ssize_t written;

    if (!servers)
        return;
    for (unsigned i = 0; i < servers->count; i++) {
        server_kill(&servers->server[i]);
        free_words(servers->server[i].config);
    }
    written = write(servers->sweeper_fd, "\n", 1);
    (void)written; /* the sweeper sees the end of the pipe at the latest */
    close(servers->sweeper_fd);
    waitpid(servers->sweeper, NULL, 0);
    free_words(servers->config);
    free(servers);
}

static int setup(void **state, unsigned count)
{
    *state = servers_start(count);
    return 0;
}

int servers_setup_1(void **state)
{
    return setup(state, 1);
}

int servers_setup_3(void **state)
{
    return setup(state, 3);
}

int servers_setup_5(void **state)
{
    return setup(state, 5);
}

int servers_teardown(void **state)
{
    servers_stop(*state);
    *state = NULL;
    return 0;
}

const char *servers_list(const struct servers *servers)
{
    return servers->list;
}

unsigned servers_count(const struct servers *servers)
{
    return servers->count;
}

struct server *servers_at(struct servers *servers, unsigned index)
{
    assert_true(index < servers->count);
    return &servers->server[index];
}

const char *servers_directory(const struct servers *servers)
{
    return servers->directory;
}
