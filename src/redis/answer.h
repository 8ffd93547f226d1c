/* SPDX-License-Identifier: BSD-2-Clause */
/* What a reply means as the answer to a command. */
#ifndef QL_REDIS_ANSWER_H
#define QL_REDIS_ANSWER_H

#include "redis/reply.h"
#include "redis/request.h"

/*
 * Fills in what the reply tells; a RECORD's into `record`, too. False: no
 * server answers this command like that, so the replies are not those of our
 * requests.
 */
bool ql_answer_read(struct ql_answer *answer, const struct ql_request *request,
                    const struct ql_reply *reply, struct ql_record *record);

#endif
