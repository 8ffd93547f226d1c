/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lets one test of a program be run alone: CMOCKA_TEST_FILTER is the name, with
 * * and ? for anything. The linker is told to take this file into every test
 * program (CMakeLists.txt), because none of them calls it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

__attribute__((constructor)) void test_filter(void);

void test_filter(void)
{
    const char *pattern = getenv("CMOCKA_TEST_FILTER");

    if (pattern)
        cmocka_set_test_filter(pattern);
}
