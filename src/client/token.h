/* SPDX-License-Identifier: BSD-2-Clause */
/* Tokens: what tells one acquisition from every other, unguessably. */
#ifndef QL_CLIENT_TOKEN_H
#define QL_CLIENT_TOKEN_H

#include <stdbool.h>

#include "quorlock/quorlock.h"

/* 20 bytes of the kernel's random source, as 40 hex digits. */
int ql_token_random(char token[QL_TOKEN_MAX + 1], void *arg);

/* 1 to QL_TOKEN_MAX printable ASCII characters, no space among them. */
bool ql_token_valid(const char *token);

/* Fills `bytes`; -1: errno. */
int ql_random_bytes(void *bytes, size_t size);

#endif
