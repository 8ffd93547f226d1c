/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes and removes the private directory. */
#include "cli/dev_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATTERN "/quorlock-dev-XXXXXX"

/* A path that can stand in a URL as it is, and is short enough. */
static const char *temporary(void)
{
    const char *path = getenv("TMPDIR");
    size_t length = path ? strlen(path) : 0;

    if (!path || path[0] != '/' || length > DEV_PATH_MAX - sizeof(PATTERN) ||
        strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789/._-") != length)
        return "/tmp";
    return path;
}

/* There are only files in it: sockets and logs. */
static void remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    if (!directory)
        return;
    while ((entry = readdir(directory)))
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(path);
}

/* The servers die at the same moment as we do, and may still write a line to
 * their log: so a second look. */
static void sweep(const struct dev_servers *servers, int end_of_pipe)
{
    sigset_t all;
    char byte;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    while (read(end_of_pipe, &byte, 1) < 0 && errno == EINTR)
        continue;
    for (int i = 0; i < 50 && !access(servers->directory, F_OK); i++) {
        remove_directory(servers->directory);
        if (!access(servers->directory, F_OK))
            usleep(20000);
    }
    _exit(0);
}

/* Nobody must wait for a sweeper by waiting for the end of our output. */
static void close_all_but(int kept)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (kept > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)kept - 1, 0);
    close_range((unsigned)kept + 1, ~0U, 0);
}

int dev_directory_make(struct dev_servers *servers)
{
    int ends[2];

    snprintf(servers->directory, sizeof(servers->directory), "%s%s",
             temporary(), PATTERN);
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    if (!mkdtemp(servers->directory)) {
        servers->directory[0] = '\0';
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    servers->sweeper = fork();
    if (servers->sweeper == 0) {
        close_all_but(ends[0]);
        sweep(servers, ends[0]);
    }
    close(ends[0]);
    servers->sweeper_fd = ends[1];
    return servers->sweeper < 0 ? -1 : 0;
}

void dev_directory_remove(struct dev_servers *servers)
{
    if (!servers->directory[0])
        return;
    close(servers->sweeper_fd);
    if (servers->sweeper <= 0)
        remove_directory(servers->directory);
    while (servers->sweeper > 0 && waitpid(servers->sweeper, NULL, 0) < 0 &&
           errno == EINTR)
        continue;
    servers->directory[0] = '\0';
}
