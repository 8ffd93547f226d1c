/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User and password for servers whose URL has none: from a file or the
 * environment, never from the command line, which everybody can read.
 */
#ifndef QL_CLI_CREDENTIALS_H
#define QL_CLI_CREDENTIALS_H

#include "cli/options.h"

#define PASSWORD_MAX 4096

struct credentials {
    const char *user;     /* NULL: none */
    const char *password; /* NULL: none */
    char buffer[PASSWORD_MAX + 1];
};

/* Returns 0, or the exit status after saying why. */
int credentials_read(struct credentials *ret_credentials,
                     const struct options *options);

/* Overwrites the password. */
void credentials_forget(struct credentials *credentials);

#endif
