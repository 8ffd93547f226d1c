# SPDX-License-Identifier: BSD-2-Clause
"""Kills `quorlock run`, and what it stands on, at random moments.

In each lane a `quorlock run` holds a lock of its own for a shell, a grandchild
in the background, and one in a session of its own. Then something happens, and
a successor that uses the library, from a host that sees all the servers, waits
for the same lock. When it comes in, none of the three may show a sign of life.
"""
import collections
import os
import random
import signal
import subprocess
import time

from contender import is_program
from guardian import is_alive, with_parent
from schedule import NODES
from world import World

LANES = 8
TTL_MS = 1000
HANG_S = 60
KINDS = {"kill": 4, "stop": 4, "partition": 4}
CHILD, BACKGROUND, SESSION, SUCCESSOR = range(4)
NAMES = ["the child", "its grandchild in the background",
         "its grandchild in a session of its own"]
# How long after it goes on a stopped quorlock may take to kill: a time limit
# for hangs, since a busy machine need not give it a processor at once.
GRACE_NS = 10_000_000_000


class Kill:
    """`watch`: ends at the first thing that is wrong; for planted faults."""

    def __init__(self, programs, seed, moments, watch=False):
        self.random = random.Random(f"{seed} kill")
        self.moments = moments
        self.watch = watch
        self.problems = []
        self.figures = collections.Counter()
        self.kinds = collections.Counter()
        # From the last sign of life of a child that was killed in time to the
        # next holder's coming.
        self.margins_ns = []
        self.after_stop_ns = 0  # from going on to the last sign of life
        self.rounds = 0
        self.ended_s = {}  # round: when its last process ended
        self.world = World(programs, seed, LANES + 1)
        self.world.ttl_ms = TTL_MS

    def go(self):
        began = time.monotonic()
        try:
            while self.moments > 0 and not (self.watch and self.problems):
                self._round()
            if not self.watch:
                time.sleep(TTL_MS / 1000 + 1)
                self._look_for_orphans()
        finally:
            left = self.world.close()
        if left:
            self.problems.append(f"not cleaned up: {', '.join(left)}")
        return self._report(time.monotonic() - began)

    # --- a round: a moment in each lane -------------------------------

    def _round(self):
        count = min(LANES, self.moments)
        kinds = [self.random.choices(list(KINDS), list(KINDS.values()))[0]
                 for _ in range(count)]
        cut = self.world.network.partitions
        if not cut:
            kinds = [kind.replace("partition", "stop") for kind in kinds]
        steps = []
        # The servers are everybody's.
        if self.random.random() < (0.25 if cut else 0.6):
            kinds = ["servers"] * count
            steps.append(self._servers())
        self.world.new_oracle()
        lanes = [Lane(index, kind, self) for index, kind in enumerate(kinds)]
        steps += [lane.moment() for lane in lanes]
        while steps:
            steps = [step for step in steps if next(step, "end") != "end"]
            time.sleep(0.003)
        for lane in lanes:
            lane.judge()
            self.kinds[lane.kind] += 1
        self.ended_s[self.rounds] = time.monotonic()
        self._look_for_orphans()
        os.remove(self.world.oracle.path)
        self.rounds += 1
        self.moments -= count

    def _servers(self):
        nodes = self.random.sample(self.world.nodes,
                                   self.random.randint(NODES // 2 + 1, NODES))
        yield from sleep(self.random.uniform(0, 1.2 * TTL_MS / 1000))
        for node in nodes:
            node.kill()
        yield from sleep(self.random.uniform(0, 2 * TTL_MS / 1000))
        for node in nodes:
            node.start()

    def _look_for_orphans(self):
        """Keys of moments that are long over, or that never end."""
        for node in self.world.nodes:
            node.wait_until_ready()
            for name, left_ms in node.keys().items():
                number = int(name.split("-")[0].removeprefix("kill"))
                age_s = time.monotonic() - self.ended_s.get(
                    number, time.monotonic())
                if age_s > TTL_MS / 1000 + 1 or not 0 <= left_ms <= TTL_MS:
                    self.figures["orphan locks"] += 1
                    self.problems.append(
                        f"{name} on node {node.index} is left, for {left_ms} "
                        f"ms more, {age_s:.1f} s after its holders' end")

    def _report(self, seconds):
        return {
            "profile": "kill",
            "text": f"quorlock run, ttl {TTL_MS} ms, with a child, a "
                    "grandchild in the background and one with setsid",
            "partitions": self.world.reason or True,
            "moments": sum(self.kinds.values()),
            "with a child inside": self.figures["with a child inside"],
            "alive after the lock's end": self.figures["unexplained"],
            "the same, quorlock was stopped": self.figures["stopped"],
            "the same, descendants of a killed quorlock":
                self.figures["descendants"],
            "orphan locks": self.figures["orphan locks"],
            "killed in time": len(self.margins_ns),
            "of them the closest to the next holder ms": round(
                min(self.margins_ns, default=0) / 1e6, 1),
            "alive after a stop's end, at most, ms": round(
                self.after_stop_ns / 1e6, 1),
            "seconds": round(seconds, 1),
            "faults": dict(self.kinds),
            "problems": self.problems,
        }


class Lane:
    """One `quorlock run`, what happens to it, and the successor."""

    def __init__(self, index, kind, test):
        self.index = index
        self.kind = kind
        self.test = test
        self.world = test.world
        self.oracle = test.world.oracle
        self.random = random.Random(test.random.random())
        self.base = f"kill{test.rounds}"
        self.stopped_ns = self.going_ns = 0

    def _slot(self, role):
        return 4 * self.index + role

    def _start(self, host, words):
        return subprocess.Popen(
            with_parent(self.world.network.enter_host(host) + words),
            stdin=subprocess.DEVNULL, env={
                **os.environ, "QUORLOCK_LEVEL": self.world.level,
                "QUORLOCK_SERVERS": self.world.servers(host)})

    def _start_holder(self):
        hold_ms = int(self.random.uniform(0.3, 2.5) * TTL_MS)
        deaf = self.random.choice(["", "deaf"])
        inside = [f"{self.world.programs['insider']} {self.oracle.path} "
                  f"{self._slot(role)} {self.index} {hold_ms} {deaf}"
                  for role in (CHILD, BACKGROUND, SESSION)]
        script = (f"{inside[BACKGROUND]} & setsid {inside[SESSION]} & "
                  f"exec {inside[CHILD]}")
        return self._start(self.index, [
            self.world.programs["quorlock"], "run", "-q", "--ttl",
            f"{TTL_MS}ms", "--node-timeout", "60ms", "--retry-delay", "40ms",
            "-c", script, f"{self.base}-{self.index}"])

    def _start_successor(self):
        return self._start(LANES, [
            self.world.programs["worker"], self.oracle.path,
            str(self._slot(SUCCESSOR)), self.base, str(LANES),
            self.world.servers(LANES), str(TTL_MS),
            str(self.random.randrange(1 << 30)), self.world.level,
            str(self.index)])

    def moment(self):
        """A coroutine, so that the lanes go on side by side."""
        ttl_s = TTL_MS / 1000
        holder = self._start_holder()
        # Often while it starts, when most is going on.
        yield from sleep(self.random.choice(
            [self.random.uniform(0, 0.08), self.random.uniform(0, 1.3 * ttl_s),
             self.random.uniform(0, 1.3 * ttl_s)]))
        self._begin(holder)
        successor = self._start_successor()
        yield from sleep(self.random.uniform(0, 2 * ttl_s))
        self._end(holder)
        for who, process in (("the next holder", successor),
                             ("quorlock run", holder)):
            end_s = time.monotonic() + HANG_S
            while process.poll() is None:
                if time.monotonic() > end_s:
                    self._wrong(f"{who} does not end")
                    process.kill()
                yield
        self._clear()

    def _begin(self, holder):
        self.stopped_ns = time.monotonic_ns()
        if self.kind == "kill":
            holder.kill()
        elif self.kind == "stop":
            holder.send_signal(signal.SIGSTOP)
        elif self.kind == "partition":
            nodes = self.random.sample(
                range(NODES), self.random.randint(NODES // 2 + 1, NODES))
            ways = self.random.choice([("in",), ("out",), ("in", "out")])
            self.rules = {(node, self.index, way) for node in nodes
                          for way in ways}
            self.world.block(self.world.rules | self.rules)

    def _end(self, holder):
        if self.kind == "stop":
            holder.send_signal(signal.SIGCONT)
        elif self.kind == "partition":
            self.world.block(self.world.rules - self.rules)
        self.going_ns = time.monotonic_ns()

    def _clear(self):
        """Only a killed quorlock may leave somebody, who is killed here."""
        for role in (CHILD, BACKGROUND, SESSION):
            pid = self.oracle.slot(self._slot(role)).pid
            if pid and is_alive(pid) and is_program(
                    pid, self.world.programs["insider"]):
                if self.kind != "kill" or role == CHILD:
                    self._wrong(f"{NAMES[role]} outlives quorlock run")
                os.kill(pid, signal.SIGKILL)

    def _wrong(self, what):
        self.test.problems.append(f"{self.base}-{self.index}, {self.kind}: "
                                  f"{what}")

    # --- judgement ----------------------------------------------------

    def judge(self):
        sections = {section.slot: section
                    for section in self.oracle.sections()}
        successor = sections.get(self._slot(SUCCESSOR))
        family = [(role, sections[self._slot(role)]) for role
                  in (CHILD, BACKGROUND, SESSION)
                  if self._slot(role) in sections]
        self.test.figures["with a child inside"] += bool(family)
        if not successor:
            self._wrong("the next holder never came in")
            return
        for role, section in family:
            self._judge_one(role, section, successor)

    def _judge_one(self, role, section, successor):
        if section.enter_ns > successor.leave_ns:
            return  # it came after the successor
        early_ns = successor.enter_ns - section.leave_ns
        if early_ns >= 0:
            if not section.left:
                self.test.margins_ns.append(early_ns)
            return
        if self.kind == "kill" and role != CHILD:
            self.test.figures["descendants"] += 1
        elif (self.kind == "stop"
              and self.stopped_ns <= successor.enter_ns <= self.going_ns
              and section.leave_ns < self.going_ns + GRACE_NS):
            self.test.figures["stopped"] += 1
            self.test.after_stop_ns = max(
                self.test.after_stop_ns, section.leave_ns - self.going_ns)
        else:
            self.test.figures["unexplained"] += 1
            self._wrong(f"{NAMES[role]} was alive {-early_ns / 1e6:.1f} ms "
                        "after the next holder came in")


def sleep(seconds):
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        yield
