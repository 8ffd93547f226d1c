/* SPDX-License-Identifier: BSD-2-Clause */
/* How large a world can be. */
#ifndef TESTS_SIM_BOUNDS_H
#define TESTS_SIM_BOUNDS_H

#include <stdint.h>

#define NODES_MAX   7
#define CLIENTS_MAX 32
#define LOCKS_MAX   3
#define HANDLES_MAX 4 /* of one client */
#define CONNS_MAX   2048
#define TOKEN_LEN   40

#define US    UINT64_C(1000)
#define MS    UINT64_C(1000000)
#define S     UINT64_C(1000000000)
#define NEVER UINT64_MAX

#endif
