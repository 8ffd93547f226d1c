/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the command says on stderr: whole lines, each in one write, so that
 * they do not mix with those of the child. And time, by the one clock.
 */
#ifndef QL_CLI_SAY_H
#define QL_CLI_SAY_H

#include <stddef.h>
#include <stdint.h>

#define SAY_MAX 4096 /* bytes of one line; a pipe takes so many at once */

/* "quorlock: ..." and a newline. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * The same, but never blocks: the line is dropped when stderr takes nothing
 * now. For those who have a deadline to keep.
 */
void say_soon(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Room for any say_name(). */
#define SAY_NAME 80

/* A lock's name fit for a line: no control characters, cut when long. */
const char *say_name(char text[SAY_NAME], const char *name);

/* Nanoseconds of a clock that counts suspend. */
int64_t now_ns(void);

#define NS_PER_MS ((int64_t)1000000)

#endif
