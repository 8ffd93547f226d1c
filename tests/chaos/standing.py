# SPDX-License-Identifier: BSD-2-Clause
"""Which nodes are in trouble, by the guarded level's fault model.

It promises one holder at a time as long as at most q-1 nodes at once forget
something or show a wrong time. A node that has lost its record is in trouble
until it has been declared ready again, after its quarantine; one that has lost
a lock's key, or its lease record, or had its clock set, until every lease of
then has ended and the linger is over.
"""
import time

NODE_RECORD = "quorlock:node"
LEASES = "quorlock:lock:"
SLACK_MS = 150   # of the group
LINGER_SLACKS = 5
DRIFT = 0.01
RECOVERY_S = 1.5  # somebody has to look, once a second at most

# Of these a node tells nobody, and its record is as it was. It has two of each
# lock, a key and a lease record, and must not lose both.
SILENT = {"evict key", "evict lease", "step"}
FORGETFUL = SILENT | {"flush", "amnesia", "power loss", "crash"}


def lease_s(ttl_ms):
    """Until every lease has ended, and its linger too."""
    return (ttl_ms * (1 + 2 * DRIFT) + LINGER_SLACKS * SLACK_MS) / 1000


def quarantine_s(max_ttl_ms):
    return (max_ttl_ms * (1 + 2 * DRIFT) + SLACK_MS) / 1000 + 1


class Standing:
    def __init__(self, nodes, ttl_ms):
        self.nodes = nodes
        self.ttl_ms = ttl_ms
        self.until_s = [0.0] * len(nodes)  # after a silent fault
        self.most = len(nodes) // 2        # q - 1

    def struck(self, fault):
        """At its beginning, and at its end."""
        if fault.kind in SILENT:
            for node in fault.nodes:
                self.until_s[node] = time.monotonic() + lease_s(self.ttl_ms)

    def allows(self, fault, busy):
        """Whether it is within the fault model. `busy`: the nodes that forget
        something now."""
        if fault.kind not in FORGETFUL:
            return True
        now_s = time.monotonic()
        if fault.kind in SILENT and any(self.until_s[node] > now_s
                                        for node in fault.nodes):
            return False
        troubled = set(fault.nodes) | set(busy)
        for node in range(len(self.nodes)):
            if node not in troubled and (
                    self.until_s[node] > now_s
                    or not self.is_ready(self.nodes[node])):
                troubled.add(node)
        return len(troubled) <= self.most

    @staticmethod
    def is_ready(node):
        """Declared so, in this life of the process. One that does not answer
        may be anything."""
        try:
            state, run = node.command("HMGET", NODE_RECORD, "state", "run",
                                      timeout_s=0.5)
            info = node.command("INFO", "server", timeout_s=0.5)
        except (OSError, RuntimeError):
            return False
        return state == "ready" and f"run_id:{run}\r\n" in info
