/* SPDX-License-Identifier: BSD-2-Clause */
/* User and password. Messages name the file, and nothing that is in it. */
#include "cli/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/say.h"

/* Fills the buffer as far as the file goes. Returns the size, or -1. */
static ssize_t read_file(const char *path, char *buffer, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), error;
    ssize_t used = 0, size = 1;

    if (fd < 0)
        return -1;
    while (size > 0 && (size_t)used < room) {
        size = read(fd, buffer + used, room - (size_t)used);
        if (size > 0)
            used += size;
        else if (size < 0 && errno == EINTR)
            size = 1;
    }
    error = errno;
    close(fd);
    errno = error;
    return size < 0 ? -1 : used;
}

/* The password is the first line. */
static int read_password(struct credentials *credentials, const char *path)
{
    ssize_t size = read_file(path, credentials->buffer, PASSWORD_MAX);

    if (size < 0) {
        say("the password file %s cannot be read: %s", path, strerror(errno));
        return EXIT_BAD_CONFIG;
    }
    credentials->buffer[size] = '\0';
    credentials->buffer[strcspn(credentials->buffer, "\r\n")] = '\0';
    if (!credentials->buffer[0]) {
        say("the password file %s has nothing in its first line", path);
        return EXIT_BAD_CONFIG;
    }
    credentials->password = credentials->buffer;
    return 0;
}

int credentials_read(struct credentials *ret_credentials,
                     const struct options *options)
{
    const char *password = getenv("QUORLOCK_PASSWORD");

    memset(ret_credentials, 0, sizeof(*ret_credentials));
    ret_credentials->user = options->user;
    if (options->password_file)
        return read_password(ret_credentials, options->password_file);
    if (password && *password)
        ret_credentials->password = password;
    return 0;
}

void credentials_forget(struct credentials *credentials)
{
    explicit_bzero(credentials->buffer, sizeof(credentials->buffer));
}
