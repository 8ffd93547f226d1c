/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scripts are reviewed and tested as the files of lua/. The build turns
 * them into rows X(name, sha1, source), so that nothing is read at run time.
 */
#include "redis/script.h"

#include <assert.h>
#include <stddef.h>

#define X(id, sha1, source)                                                    \
    static const struct ql_script id = {#id, sha1, source};
#include "redis/scripts.inc"
#undef X

/* A new file in lua/ that is not listed here is an unused variable. */
static const struct ql_script *const all[QL_SCRIPTS] = {
    &extend,          &release,         &inspect,
    &guarded_acquire, &guarded_extend,  &guarded_release,
    &guarded_inspect, &guarded_confirm, &node,
};

const struct ql_script *ql_script_at(unsigned index)
{
    assert(index < QL_SCRIPTS);
    return all[index];
}

int ql_script_of(enum ql_command_kind kind, bool guarded)
{
    switch (kind) {
    case QL_CMD_SET:
        return guarded ? 3 : -1;
    case QL_CMD_EXTEND:
        return guarded ? 4 : 0;
    case QL_CMD_RELEASE:
        return guarded ? 5 : 1;
    case QL_CMD_INSPECT:
        return guarded ? 6 : 2;
    case QL_CMD_CONFIRM:
        return 7;
    case QL_CMD_RECORD:
        return 8;
    }
    return -1;
}
