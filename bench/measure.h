/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs of the benchmark print, one line for the driver to read:
 * "cycles p50_us p99_us cpu_us", and then words of their own.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdint.h>

struct measure;

/* Room for so many cycles; the first tenth of them warms up and is not
 * counted. Ends the program when memory runs out. */
struct measure *measure_new(unsigned cycles);
unsigned measure_warm_up(unsigned cycles);

/* Around each cycle. */
void measure_begin(struct measure *measure);
void measure_end(struct measure *measure);

/* Prints the line, without its end. */
void measure_print(struct measure *measure);

#endif
