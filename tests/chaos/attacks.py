# SPDX-License-Identifier: BSD-2-Clause
"""The same attacks on both levels, before and after.

Client 1 holds locks on nodes A, B, C, because it cannot reach D and E. Then C
forgets, or its clock is set. Client 2 reaches all five, and with C, D, E has a
majority, if C lets it. It has been there before, and knows nothing of what
happened to C.
"""
import os
import subprocess
import threading
import time

from guardian import with_parent
from network import free_port
from oracle import Judge, Tokens
from schedule import Fault
from standing import SLACK_MS
from world import World

LOCKS = 4
TTL_MS = 2000
HANG_S = 60
TRIES = 3  # on a busy machine C may come too late for an attack
STRUCK = 2  # C
UNREACHED = (3, 4)
STEP_MS = 120000
# Far from the other clocks, but within the slack; first behind, then ahead.
CREEP_MS = SLACK_MS * 3 // 4

ATTACKS = {
    "step": "its clock is set forward by 2 min",
    "creep": "its clock goes from one end of the slack to the other",
    "flush": "FLUSHALL",
    "amnesia": "it is restarted without data",
    "power loss": "it is restarted, and the last second is lost",
    "evict key": "the locks' keys are deleted",
    "evict lease": "the locks' lease records are deleted",
}
# What a plain client's node does not have, or takes no notice of.
HARMLESS = {"plain": {"evict lease"}}


class Attack:
    """`expected`: whether two holders are; then it is tried again."""

    def __init__(self, kind, level, programs, seed, expected):
        self.kind = kind
        self.level = level
        self.expected = expected
        self.programs = programs
        self.seed = seed
        self.problems = []
        self.double = 0    # locks that two had at once
        self.overlap_ms = 0

    def go(self):
        for number in range(TRIES):
            self._once(number)
            if self.double or not self.expected or self.problems:
                return self

    def _once(self, number):
        self.world = World(self.programs, self.seed + number, 0, self.level,
                           TTL_MS)
        self.processes = []
        self.holders = {}  # by lock
        try:
            self._contend()
        finally:
            for process in self.processes:
                process.kill()
                process.wait()
            left = self.world.close()
        if left:
            self.problems.append(f"not cleaned up: {', '.join(left)}")

    def _contend(self):
        world = self.world
        fault = Fault(0, 0, self.kind, (STRUCK,), (), self._argument())
        self._prepare(fault)
        reached = world.servers(0).split(",")
        for node in UNREACHED:
            reached[node] = "127.0.0.1:%d" % free_port()
        if not self._wait(lambda: self._holders_are_inside(",".join(reached))):
            self.problems.append("client 1 did not get its locks")
            return
        rivals = [self._start(LOCKS + lock, lock, world.servers(0))
                  for lock in range(LOCKS)]
        time.sleep(0.2)
        self._strike(fault)
        if not self._wait(lambda: all(rival.poll() is not None
                                      for rival in rivals)):
            self.problems.append("client 2 never got its locks")
        self._judge()

    def _holders_are_inside(self, servers):
        """All of them at once; whose lock has ended begins again."""
        for lock in range(LOCKS):
            if (lock not in self.holders
                    or self.holders[lock].poll() is not None):
                self.holders[lock] = self._start(lock, lock, servers, "hold")
        return all(self.world.oracle.inside(lock) for lock in range(LOCKS))

    def _argument(self):
        return {"step": STEP_MS, "creep": CREEP_MS}.get(self.kind)

    def _prepare(self, fault):
        node = self.world.nodes[STRUCK]
        for each in self.world.nodes:
            each.base_ms = 0
            each.step(0)
        if self.kind == "creep":
            node.step(-CREEP_MS)
        if self.kind == "power loss":
            node.command("CONFIG", "SET", "appendonly", "yes")
            node.command("CONFIG", "SET", "appendfsync", "everysec")
            node.appending = "everysec"
            self._wait(lambda: node.command("INFO", "persistence").count(
                "aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0"))
            self.world.begin(fault)

    def _strike(self, fault):
        if self.kind == "power loss":
            self.world.end(fault)
        else:
            self.world.begin(fault._replace(
                kind="step" if self.kind == "creep" else self.kind))
        if self.kind == "amnesia":
            self.world.end(fault)

    def _start(self, slot, lock, servers, *how):
        world = self.world
        self.processes.append(subprocess.Popen(
            with_parent([self.programs["worker"], world.oracle.path,
                         str(slot), world.base, str(LOCKS), servers,
                         str(TTL_MS), str(self.seed + slot), self.level,
                         str(lock), *how]),
            stdin=subprocess.DEVNULL, env=dict(os.environ)))
        return self.processes[-1]

    @staticmethod
    def _wait(condition):
        end_s = time.monotonic() + HANG_S
        while not condition():
            if time.monotonic() > end_s:
                return False
            time.sleep(0.01)
        return True

    def _judge(self):
        oracle = self.world.oracle
        for holder in self.holders.values():
            holder.kill()  # inside: as long as it was valid
        sections = oracle.sections()
        real = Judge(sections, set(), {}).real
        self.double = len({first.lock for _, first, _ in real})
        self.overlap_ms = round(max(
            [(min(first.valid_until_ns, second.leave_ns) - at_ns) / 1e6
             for at_ns, first, second in real] or [0]))
        if self.level != "plain":
            self.problems += Tokens(sections, oracle.stale_fences()).problems()


def run_all(programs, seed):
    """{(kind, level): Attack}, side by side: mostly they wait."""
    attacks = {(kind, level): Attack(kind, level, programs, seed,
                                     level == "plain")
               for kind in ATTACKS for level in ("plain", "guarded")
               if kind not in HARMLESS.get(level, ())}

    def go(attack):
        try:
            attack.go()
        except Exception as error:  # a thread's would be lost
            attack.problems.append(f"{type(error).__name__}: {error}")

    for level in ("plain", "guarded"):
        threads = [threading.Thread(target=go, args=[attack])
                   for attack in attacks.values() if attack.level == level]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return attacks


def check_all(programs, seed, report):
    attacks = run_all(programs, seed)
    report.attacks({ATTACKS[kind]: {
        level: attacks[kind, level] for level in ("plain", "guarded")
        if (kind, level) in attacks} for kind in ATTACKS}, LOCKS)
