/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that refuses late writers: the checker that stands beside a resource
 * and knows nothing of locks. It needs no library; copy it.
 *
 * The writers hold a lock, and hand over the fencing token that came with it.
 * A token smaller than one that was seen before is that of a holder whose time
 * is over, and its write is refused.
 */
#ifndef FENCED_FILE_H
#define FENCED_FILE_H

#include <stddef.h>
#include <stdint.h>

enum fenced {
    FENCED_DONE,
    FENCED_REFUSED, /* a larger token was seen; nothing was changed */
    FENCED_FAILED,  /* errno says why; the old content or the new is there */
};

/*
 * Replaces what is in the file `path` by `data`, unless a larger token than
 * `token` was seen. *ret_seen: the largest that was seen, this one included.
 *
 * Beside the file stand PATH.fence, with the largest token, and PATH.lock, with
 * nothing. Whoever removes them removes the protection. All writers must go
 * through this function, on the machine that has the file: the lock of a
 * paused client of NFS may be given to another.
 */
enum fenced fenced_file_write(const char *path, uint64_t token,
                              const void *data, size_t size,
                              uint64_t *ret_seen);

/* Reads a fencing token: decimal digits, 1 to 2^53 - 1. 0: it is none. */
uint64_t fenced_token(const char *text);

#endif
