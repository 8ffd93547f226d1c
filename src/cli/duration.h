/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lengths of time as people write and read them. Milliseconds inside.
 */
#ifndef QL_CLI_DURATION_H
#define QL_CLI_DURATION_H

#include <stddef.h>
#include <stdint.h>

/* Ten years: nobody means more, and sums of two stay far from overflow. */
#define DURATION_MAX_MS ((int64_t)3650 * 24 * 3600 * 1000)

/* Room for any duration_text(). */
#define DURATION_TEXT 32

/*
 * Reads "10s", "500ms", "2m", "1h", "1d", "1.5"; a plain number is in seconds.
 * What is finer than a millisecond is rounded up, so that nothing becomes zero
 * that was not. Returns NULL, or a phrase that says what is wrong.
 */
const char *duration_parse(const char *text, int64_t *ret_ms);

/* "850 ms", "12.4 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". Returns `text`. */
const char *duration_text(char text[DURATION_TEXT], int64_t ms);

#endif
