/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds our descendants in /proc. A walk is not one moment: what is forked
 * during it can be missed, so whoever wants to be sure walks again until
 * nothing is found, or until wait(2) says that there are no children.
 */
#include "cli/family.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct member {
    pid_t pid;
    pid_t parent;
    pid_t group;
    unsigned long long started; /* tells a pid from the same pid used again */
    bool ours;
    bool strange; /* one of the strangers, or a descendant of one */
    bool alive;   /* no zombie */
};

struct stranger {
    pid_t pid;
    unsigned long long started;
};

struct census {
    struct member *list;
    size_t count;
    size_t room;
};

/* Reads /proc/PID/stat. The name in it may hold anything, so the fields are
 * counted from its last parenthesis. */
static bool read_member(pid_t pid, struct member *ret_member)
{
    char path[32], text[1024], *fields, state;
    struct member found = {.pid = pid};
    ssize_t size;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (size <= 0)
        return false;
    text[size] = '\0';
    fields = strrchr(text, ')');
    if (!fields ||
        sscanf(fields + 1,
               " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
               "%*d %*d %*d %llu",
               &state, &found.parent, &found.group, &found.started) != 4)
        return false;
    found.alive = state != 'Z' && state != 'X';
    *ret_member = found;
    return true;
}

static bool census_add(struct census *census, const struct member *member)
{
    if (census->count == census->room) {
        size_t room = census->room ? census->room * 2 : 256;
        struct member *list =
            realloc(census->list, room * sizeof(struct member));

        if (!list)
            return false;
        census->list = list;
        census->room = room;
    }
    census->list[census->count++] = *member;
    return true;
}

static bool census_take(struct census *census)
{
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    struct member member;
    bool good = true;

    if (!directory)
        return false;
    while (good && (entry = readdir(directory))) {
        pid_t pid = (pid_t)atoi(entry->d_name);

        if (pid > 0 && read_member(pid, &member))
            good = census_add(census, &member);
    }
    closedir(directory);
    return good;
}

static bool is_stranger(const struct family *family,
                        const struct member *member)
{
    for (size_t i = 0; i < family->stranger_count; i++)
        if (family->strangers[i].pid == member->pid &&
            family->strangers[i].started == member->started)
            return true;
    return false;
}

static const struct member *find(const struct census *census, pid_t pid)
{
    for (size_t i = 0; i < census->count; i++)
        if (census->list[i].pid == pid)
            return &census->list[i];
    return NULL;
}

/* Marks children of ours, then theirs, until a pass finds no more. */
static void mark_ours(const struct family *family, struct census *census)
{
    pid_t self = getpid();
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < census->count; i++) {
            struct member *member = &census->list[i];
            const struct member *parent = find(census, member->parent);

            if (member->ours || member->pid == self || !parent)
                continue;
            member->ours = parent->pid == self || parent->ours;
            member->strange = parent->strange || is_stranger(family, member);
            more = more || member->ours;
        }
    }
}

/*
 * Signals the process that was seen, not another that got its number since:
 * once the descriptor is open the number cannot change hands unnoticed.
 */
static void send(const struct member *member, int signal)
{
    int fd = (int)syscall(SYS_pidfd_open, member->pid, 0);
    struct member again;

    if (fd < 0 && errno == ENOSYS) { /* before Linux 5.3 */
        kill(member->pid, signal);
        return;
    }
    if (fd < 0)
        return;
    if (read_member(member->pid, &again) && again.started == member->started)
        syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
    close(fd);
}

int family_signal(const struct family *family, int signal, pid_t except)
{
    struct census census = {0};
    int count = 0;

    if (!census_take(&census)) {
        free(census.list);
        return -1;
    }
    mark_ours(family, &census);
    for (size_t i = 0; i < census.count; i++) {
        const struct member *member = &census.list[i];

        if (!member->ours || member->strange || !member->alive ||
            (except && member->group == except))
            continue;
        count++;
        if (signal)
            send(member, signal);
    }
    free(census.list);
    return count;
}

int family_open(struct family *family)
{
    struct census census = {0};
    bool good = census_take(&census);

    *family = (struct family){0};
    mark_ours(family, &census);
    if (good)
        family->strangers = calloc(census.count, sizeof(struct stranger));
    for (size_t i = 0; family->strangers && i < census.count; i++)
        if (census.list[i].ours)
            family->strangers[family->stranger_count++] =
                (struct stranger){census.list[i].pid, census.list[i].started};
    free(census.list);
    return family->strangers ? 0 : -1;
}

void family_close(struct family *family)
{
    free(family->strangers);
    *family = (struct family){0};
}
