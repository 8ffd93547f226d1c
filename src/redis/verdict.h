/* SPDX-License-Identifier: BSD-2-Clause */
/* What an error means: the server's words, or the system's number. */
#ifndef QL_REDIS_VERDICT_H
#define QL_REDIS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "quorlock/quorlock.h"

/* Of an error reply, without its '-'. QL_V_ERROR if nothing better is known. */
ql_verdict ql_verdict_of_error(const char *text, size_t len);

/* The server does not know the script; it wants it loaded (again). */
bool ql_verdict_is_noscript(const char *text, size_t len);

/* Of an errno value while connecting, or afterwards. */
ql_verdict ql_verdict_of_errno(int error, bool connecting);

#endif
