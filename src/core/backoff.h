/* SPDX-License-Identifier: BSD-2-Clause */
/* How long to wait before the next attempt. */
#ifndef QL_CORE_BACKOFF_H
#define QL_CORE_BACKOFF_H

#include <stdint.h>

#include "core/machine.h"

uint64_t ql_backoff_ns(const struct ql_terms *terms, unsigned attempt,
                       struct ql_rand *rand);

#endif
