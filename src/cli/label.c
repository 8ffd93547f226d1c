/* SPDX-License-Identifier: BSD-2-Clause */
/* Owner labels. */
#include "cli/label.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_code.h"
#include "cli/say.h"

const char *label_make(char label[LABEL_SIZE], pid_t pid, const char *program)
{
    const char *slash = strrchr(program, '/');
    char host[HOST_NAME_MAX + 1] = "?";

    gethostname(host, sizeof(host) - 1);
    host[sizeof(host) - 1] = '\0';
    host[strcspn(host, ".")] = '\0';
    snprintf(label, LABEL_SIZE, "%.40s:%d:%.30s", host, (int)pid,
             slash && slash[1] ? slash + 1 : program);
    for (char *c = label; *c; c++)
        if (*c <= ' ' || *c > '~')
            *c = '_';
    return label;
}

const char *label_of_parent(char label[LABEL_SIZE])
{
    char path[32], name[64] = "?";
    ssize_t size = -1;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/comm", (int)getppid());
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        size = read(fd, name, sizeof(name) - 1);
        close(fd);
    }
    if (size > 0) {
        name[size] = '\0';
        name[strcspn(name, "\n")] = '\0';
    }
    return label_make(label, getppid(), name);
}

int label_check(const char *label)
{
    if (strlen(label) > QL_LABEL_MAX) {
        say("--label: at most %d characters", QL_LABEL_MAX);
        return EXIT_BAD_USAGE;
    }
    for (const char *c = label; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) {
            say("--label: no control characters");
            return EXIT_BAD_USAGE;
        }
    return 0;
}
