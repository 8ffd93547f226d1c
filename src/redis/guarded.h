/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands of the guarded level to bytes, and what their replies mean. */
#ifndef QL_REDIS_GUARDED_H
#define QL_REDIS_GUARDED_H

#include "redis/reply.h"
#include "redis/request.h"

/*
 * Encodes a command with a guard, or a RECORD. What only the node knows is left
 * open, in a way that no script grants anything, until ql_guarded_stamp().
 * False: out of memory.
 */
bool ql_guarded_encode(struct ql_request *request,
                       const struct ql_command *command,
                       const ql_allocator *mem);

/*
 * Puts in the server's run_id and the largest number that it has answered. A
 * request must not be sent to a process other than the one it names: restarted
 * with an old record, that would take itself for the one it was.
 */
void ql_guarded_stamp(struct ql_request *request, const char *run_id,
                      uint64_t seen);

/*
 * As ql_answer_read(), for a request with `guarded` set and a reply that is no
 * error. A RECORD's is read into `record`.
 */
bool ql_guarded_read(struct ql_answer *answer, const struct ql_request *request,
                     const struct ql_reply *reply, struct ql_record *record);

/* {TIME, 'absent'} or {TIME, 'present', its fields}. */
bool ql_guarded_read_record(const struct ql_reply *reply,
                            struct ql_record *record);

#endif
