/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time for tests: only ever to wait for something, or to notice a hang; never
 * to assert that something was fast.
 */
#ifndef TESTS_LIB_CLOCK_H
#define TESTS_LIB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* How long anything may take before a test calls it a hang. */
#define HANG_MS 60000

/* Milliseconds of a clock that is never set back. */
int64_t clock_now_ms(void);

/* Sleeps for the whole time, signals or not. */
void clock_sleep_ms(int64_t ms);

/* Asks `condition` every few milliseconds. False: not within `limit_ms`. */
bool clock_wait_until(bool (*condition)(void *arg), void *arg,
                      int64_t limit_ms);

#endif
