# SPDX-License-Identifier: BSD-2-Clause
"""redlock-py behind the interface of ../clients.py: try NAME, wait NAME."""
import os
import sys

from redlock import Redlock

TTL_MS = 60000


def main(verb, name):
    servers = ["redis://" + server
               for server in os.environ["QUORLOCK_SERVERS"].split(",")]
    redlock = Redlock(servers, retry_count=10**9 if verb == "wait" else 1,
                      retry_delay=0.1)
    lock = redlock.lock(name, TTL_MS)
    if not lock:
        print("busy", flush=True)
        return 1
    print("held", flush=True)
    sys.stdin.read()
    redlock.unlock(lock)
    print("released", flush=True)
    return 0


sys.exit(main(*sys.argv[1:]))
