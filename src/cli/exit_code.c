/* SPDX-License-Identifier: BSD-2-Clause */
/* The library's results as exit statuses. */
#include "cli/exit_code.h"

static const struct {
    int result;
    int code;
} CODES[] = {
    {QL_OK, EXIT_DONE},
    {QL_HELD, EXIT_HELD},
    {QL_GONE, EXIT_HELD},
    {QL_E_QUORUM, EXIT_NO_QUORUM},
    {QL_E_SPLIT, EXIT_SPLIT},
    {QL_E_LOST, EXIT_LOST},
    {QL_E_UNSURE, EXIT_NO_QUORUM},
    {QL_E_CAP, EXIT_LOST},
    {QL_E_AUTH, EXIT_AUTH},
    {QL_E_CONFIG, EXIT_BAD_CONFIG},
    {QL_E_INVALID, EXIT_BAD_USAGE},
    {QL_E_NOMEM, EXIT_OS},
    {QL_E_SYSTEM, EXIT_OS},
    {QL_E_RANDOM, EXIT_OS},
};

int exit_code_of(int result)
{
    for (size_t i = 0; i < sizeof(CODES) / sizeof(CODES[0]); i++)
        if (CODES[i].result == result)
            return CODES[i].code;
    return EXIT_INTERNAL;
}
