/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of INFO: lines "field:value" that end in "\r\n". */
#ifndef QL_REDIS_INFO_H
#define QL_REDIS_INFO_H

#include "redis/reply.h"

/* The field's value, made fit to print and cut to size; "" if there is none. */
void ql_info_field(const struct ql_value *info, const char *field, char *out,
                   size_t size);

/* Whether the field has just this value. */
bool ql_info_is(const struct ql_value *info, const char *field,
                const char *value);

/* -1: there is no such field, or it is not a number from 0. */
int64_t ql_info_number(const struct ql_value *info, const char *field);

#endif
