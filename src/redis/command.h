/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef QL_REDIS_COMMAND_H
#define QL_REDIS_COMMAND_H

#include "redis/request.h"

/* Makes a whole request of a command. */
bool ql_command_encode(struct ql_request *ret_request,
                       const struct ql_command *command,
                       const ql_allocator *mem, uint64_t now);

#endif
