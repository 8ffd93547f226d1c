/* SPDX-License-Identifier: BSD-2-Clause */
#include "fenced_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define TOKEN_LIMIT (UINT64_C(1) << 53)

uint64_t fenced_token(const char *text)
{
    uint64_t token = 0;

    do {
        if (*text < '0' || *text > '9')
            return 0;
        token = 10 * token + (uint64_t)(*text - '0');
    } while (token < TOKEN_LIMIT && *++text);
    return token < TOKEN_LIMIT ? token : 0;
}

/* `path` with `suffix` behind it. */
static bool join(char joined[PATH_MAX], const char *path, const char *suffix)
{
    int length = snprintf(joined, PATH_MAX, "%s%s", path, suffix);

    if (length > 0 && length < PATH_MAX)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

static int close_keeping_errno(int fd)
{
    int kept = errno;

    close(fd);
    errno = kept;
    return -1;
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, data, size);

        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            data += written;
            size -= (size_t)written;
        }
    }
    return true;
}

/* A new name is on the disk only when its directory is. */
static int sync_directory(const char *path)
{
    char directory[PATH_MAX];
    char *slash;
    int fd;

    if (!join(directory, path, ""))
        return -1;
    slash = strrchr(directory, '/');
    if (!slash)
        strcpy(directory, ".");
    else
        slash[slash == directory] = '\0';
    fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fsync(fd) != 0)
        return close_keeping_errno(fd);
    return close(fd);
}

/*
 * Whoever reads the file meanwhile, or after the machine went down, sees all
 * of the old content or all of the new.
 */
static int replace(const char *path, const void *data, size_t size)
{
    char fresh[PATH_MAX];
    int fd;

    if (!join(fresh, path, ".new"))
        return -1;
    fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    if (!write_all(fd, data, size) || fsync(fd) != 0)
        return close_keeping_errno(fd);
    if (close(fd) != 0 || rename(fresh, path) != 0)
        return -1;
    return sync_directory(path);
}

/* A file that is there and holds no number is an error, never "none seen". */
static int read_seen(const char *path, uint64_t *ret_seen)
{
    char text[24] = "";
    ssize_t length;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    *ret_seen = 0;
    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    length = read(fd, text, sizeof(text) - 1);
    if (length < 0)
        return close_keeping_errno(fd);
    close(fd);
    text[strcspn(text, "\n")] = '\0';
    *ret_seen = fenced_token(text);
    if (*ret_seen)
        return 0;
    errno = EINVAL;
    return -1;
}

/*
 * The number goes first. If the machine goes down between the two, the same
 * holder may still write, and no older one. The other way round an older one
 * could.
 */
static enum fenced check_and_write(const char *path, const char *fence,
                                   uint64_t token, const void *data,
                                   size_t size, uint64_t *ret_seen)
{
    char text[24];
    int length = snprintf(text, sizeof(text), "%" PRIu64 "\n", token);

    if (read_seen(fence, ret_seen) != 0)
        return FENCED_FAILED;
    if (token < *ret_seen)
        return FENCED_REFUSED;
    if (token > *ret_seen && replace(fence, text, (size_t)length) != 0)
        return FENCED_FAILED;
    *ret_seen = token;
    return replace(path, data, size) == 0 ? FENCED_DONE : FENCED_FAILED;
}

enum fenced fenced_file_write(const char *path, uint64_t token,
                              const void *data, size_t size, uint64_t *ret_seen)
{
    char lock[PATH_MAX], fence[PATH_MAX];
    enum fenced result = FENCED_FAILED;
    int fd;

    if (!join(lock, path, ".lock") || !join(fence, path, ".fence"))
        return FENCED_FAILED;
    /* Between the check and the write nobody else may check or write. This
     * lock has no time limit: it ends with the process, or here. */
    fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return FENCED_FAILED;
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR) {
            close_keeping_errno(fd);
            return FENCED_FAILED;
        }
    result = check_and_write(path, fence, token, data, size, ret_seen);
    close_keeping_errno(fd);
    return result;
}
