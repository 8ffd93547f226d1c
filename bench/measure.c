/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

struct measure {
    unsigned cycles, skipped, count;
    double began_us, cpu_us; /* the latter where counting began */
    double sample_us[];
};

static double now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double cpu_us(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

unsigned measure_warm_up(unsigned cycles)
{
    return cycles / 10;
}

struct measure *measure_new(unsigned cycles)
{
    struct measure *measure =
        calloc(1, sizeof(*measure) + cycles * sizeof(measure->sample_us[0]));

    if (!measure) {
        fprintf(stderr, "out of memory\n");
        exit(70);
    }
    measure->cycles = cycles;
    return measure;
}

void measure_begin(struct measure *measure)
{
    if (measure->skipped == measure_warm_up(measure->cycles) &&
        measure->count == 0)
        measure->cpu_us = cpu_us();
    measure->began_us = now_us();
}

void measure_end(struct measure *measure)
{
    double took_us = now_us() - measure->began_us;

    if (measure->skipped < measure_warm_up(measure->cycles))
        measure->skipped++;
    else if (measure->count < measure->cycles)
        measure->sample_us[measure->count++] = took_us;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void measure_print(struct measure *measure)
{
    double cpu = cpu_us() - measure->cpu_us;
    unsigned n = measure->count;

    qsort(measure->sample_us, n, sizeof(measure->sample_us[0]), by_size);
    printf("%u %.2f %.2f %.2f", n, measure->sample_us[n / 2],
           measure->sample_us[n * 99 / 100], cpu / n);
}
