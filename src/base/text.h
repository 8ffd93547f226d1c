/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes from servers and users made fit to print, and to put into JSON. */
#ifndef QL_BASE_TEXT_H
#define QL_BASE_TEXT_H

#include <stddef.h>

/*
 * Copies as much of `bytes` as fits, with a NUL, and returns its length.
 * Control characters and what is no UTF-8 become '?': a key's value is written
 * by anybody, and must not be able to talk to an operator's terminal.
 */
size_t ql_text_clean(char *out, size_t size, const char *bytes, size_t len);

/*
 * What a key's value says of its holder: the label behind our own kind of
 * token, or else the value itself, as somebody else's client wrote it.
 */
size_t ql_text_holder(char *out, size_t size, const char *value, size_t len);

#endif
