# SPDX-License-Identifier: BSD-2-Clause
"""One profile of faults: contention under them, and what was left after."""
import collections
import heapq
import time

from contender import Command, Swarm, Worker
from oracle import RELEASE, RESULT, STALE, Judge, Tokens, gaps_ns
from schedule import NODES, OUTSIDE, PROFILES, STEPS_MS, Schedule
from standing import FORGETFUL, NODE_RECORD
from world import World

WORKERS = 5
COMMANDS = 3
SWARMS = 3  # in place of so many workers, at the guarded level
SWARM_SIZE = 16
TICK_S = 0.005
HANG_S = 60
MARGIN_MS = 1000  # so long after its ttl no key may be left
# A lease record may stay for a day; longer, if it was released while the clock
# was ahead.
RECORD_MS = 86400000 + 60000 + max(STEPS_MS)
CAUSE_S = 4       # an overlap so long after a fault can come of it


class Contention:
    """`watch`: ends at the first overlap; for planted faults."""

    def __init__(self, name, programs, seed, seconds, watch=False,
                 commands=COMMANDS, pace=1.0):
        self.profile = PROFILES[name]._replace(pace=pace)
        self.seed = seed
        self.seconds = seconds
        self.watch = watch
        self.problems = []
        self.faults = []  # (begin_ns, end_ns, Fault)
        self.begun = []
        self.events = []
        self.endless = []  # keys seen with no end, or too late a one
        self.skipped = 0  # faults that would have left the fault model
        self.world = World(programs, seed, WORKERS + COMMANDS,
                           self.profile.level)
        self.world.locks = self.profile.locks
        self.world.contenders = [self._contender(slot, commands)
                                 for slot in range(WORKERS + COMMANDS)]

    def _contender(self, slot, commands):
        if slot >= WORKERS + COMMANDS - commands:
            return Command(slot, self.world)
        if self.profile.level != "plain" and slot < SWARMS:
            return Swarm(slot, self.world,
                         WORKERS + COMMANDS + slot * SWARM_SIZE, SWARM_SIZE)
        return Worker(slot, self.world)

    def go(self):
        """Returns the figures."""
        began = time.monotonic()
        self.version = self.world.nodes[0].version()
        try:
            self._contend()
            self._heal()
            recovery_s = self._everybody_gets_it()
            if not self.watch:
                self._nothing_is_left()
            figures = self._figures(recovery_s)
        finally:
            left = self.world.close()
        if left:
            self.problems.append(f"not cleaned up: {', '.join(left)}")
        figures["seconds"] = round(time.monotonic() - began, 1)
        figures["problems"] = self.problems
        return figures

    # --- while it lasts -----------------------------------------------

    def _contend(self):
        world = self.world
        plan = Schedule(self.profile, self.seed, self.seconds,
                        world.ttl_ms / 1000, len(world.contenders),
                        world.network.partitions)
        self.began_s = time.monotonic()
        for order, fault in enumerate(plan.faults):
            self._at(fault.start_s, order, self._begin, fault)
        looked_s = time.monotonic()
        while self._elapsed_s() < self.seconds:
            world.tend()
            while self.events and self.events[0][0] <= self._elapsed_s():
                _, order, action, fault = heapq.heappop(self.events)
                action(order, fault)
            if time.monotonic() > looked_s + 1:
                looked_s = time.monotonic()
                self._look_at_keys()
                if self.watch and (self._judge().real
                                   or self._token_problems()):
                    break
            time.sleep(TICK_S)

    def _elapsed_s(self):
        return time.monotonic() - self.began_s

    def _at(self, at_s, order, action, fault):
        heapq.heappush(self.events, (at_s, order, action, fault))

    def _begin(self, order, fault):
        at_ns = time.monotonic_ns()
        if (self.profile.level != "plain"
                and self.profile.nodes_at_once < NODES
                and not self.world.standing.allows(fault, self._forgetful())):
            self.skipped += 1
            return
        if self.world.begin(fault) is False:
            return
        self.begun.append((at_ns, order, fault))
        self._at(fault.end_s, order, self._end, fault)

    def _end(self, order, fault):
        self.world.end(fault)
        for begun in self.begun:
            if begun[1] == order:
                self.begun.remove(begun)
                self.faults.append((begun[0], time.monotonic_ns(), fault))
                return

    def _troubled(self):
        return {node for _, _, fault in self.begun for node in fault.nodes}

    def _forgetful(self):
        return {node for _, _, fault in self.begun for node in fault.nodes
                if fault.kind in FORGETFUL}

    def _look_at_keys(self):
        """A lock's key always has an end, and not after the ttl's."""
        if self.profile.name == "outside":
            return
        for node in self.world.nodes:
            if node.index in self._troubled():
                continue
            try:
                keys = node.keys(timeout_s=5)
            except (OSError, RuntimeError):
                continue  # it is starting
            self.endless += [
                f"{name} on node {node.index}, for {left_ms} ms"
                for name, left_ms in keys.items() if name != NODE_RECORD
                and (left_ms == -1 or left_ms > self._longest_ms(name))]

    def _longest_ms(self, name):
        """A clock may have gone back since, within the slack."""
        if self.profile.level != "plain" and not name.startswith("quorlock:"):
            return self.world.ttl_ms + 2 * max(STEPS_MS[:2])
        if name.startswith("quorlock:"):
            return self.world.ttl_ms + RECORD_MS
        return self.world.ttl_ms

    # --- afterwards ---------------------------------------------------

    def _heal(self):
        for _, order, fault in list(self.begun):
            self._end(order, fault)
        self.world.wait_until_ready()
        self.healed_ns = time.monotonic_ns()

    def _everybody_gets_it(self):
        """Returns how long it took the last one, after the faults stopped."""
        world = self.world
        before = self._entered()
        while time.monotonic_ns() < self.healed_ns + HANG_S * 10**9:
            world.tend()
            waiting = [contender.slot for contender, entered, then
                       in zip(world.contenders, self._entered(), before)
                       if entered == then]
            if not waiting or self.watch:
                return (time.monotonic_ns() - self.healed_ns) / 1e9
            time.sleep(TICK_S)
        self.problems.append(f"{HANG_S} s after the faults stopped, these did "
                             f"not get a lock: {waiting}")
        return HANG_S

    def _entered(self):
        return [sum(self.world.oracle.slot(slot).entered
                    for slot in contender.slots)
                for contender in self.world.contenders]

    def _nothing_is_left(self):
        world = self.world
        slots = world.stop_contenders(HANG_S)
        if slots:
            self.problems.append(f"contenders that do not end: {slots}")
        children = [contender for contender in world.contenders
                    if contender.is_command and contender.inside_pid()]
        if children:
            self.problems.append(f"{len(children)} children of quorlock run "
                                 "are left")
        steps_ms = [fault.arg for _, _, fault in self.faults
                    if fault.kind == "step"
                    and self.profile.level == "plain"]
        time.sleep((world.ttl_ms + MARGIN_MS
                    + max([0, *map(abs, steps_ms)])) / 1000)
        keys = [(node.index, key) for node in world.nodes
                for key in node.keys() if not key.startswith("quorlock:")]
        if keys:
            self.problems.append(f"keys left behind: {keys}")
        if self.endless:
            self.problems.append(f"{len(self.endless)} times a key was seen "
                                 "that would outlive the ttl: "
                                 + "; ".join(self.endless[:3]))

    # --- judgement ----------------------------------------------------

    def _judge(self):
        commands = {one.slot: one.pauses for one in self.world.contenders
                    if one.is_command}
        self.sections = self.world.oracle.sections()
        return Judge(self.sections, set(commands), commands)

    def _tokens(self):
        return Tokens(self.sections, self.world.oracle.stale_fences())

    def _token_problems(self):
        return [] if self.profile.level == "plain" else (
            self._tokens().problems())

    def _faults_at(self, at_ns):
        """Those that an overlap at that time can come of."""
        return [fault for begin_ns, end_ns, fault in self.faults
                if begin_ns <= at_ns <= end_ns + CAUSE_S * 10**9]

    def _is_outside(self, at_ns):
        return self.profile.name in ("outside", "clocks") and any(
            fault.kind in OUTSIDE or fault.kind == "crash"
            for fault in self._faults_at(at_ns))

    def _describe(self, at_ns, first, second):
        began_ns = int(self.began_s * 1e9)

        def seconds(ns):
            return f"{(ns - began_ns) / 1e9:.3f}"
        lines = [f"overlap at {seconds(at_ns)} s, lock {first.lock}:"]
        for one in (first, second):
            lines.append(
                f"slot {one.slot}, pid {one.pid}: inside from "
                f"{seconds(one.enter_ns)} to {seconds(one.leave_ns)}, "
                f"valid until {seconds(one.valid_until_ns)}"
                + ("" if one.left else ", did not leave by itself"))
        for fault in self._faults_at(at_ns):
            lines.append(f"{fault.start_s:.3f} to {fault.end_s:.3f}: "
                         f"{fault.kind} nodes {fault.nodes} "
                         f"contenders {fault.hosts} {fault.arg or ''}")
        return "\n      ".join(lines)

    def _figures(self, recovery_s):
        oracle, judge = self.world.oracle, self._judge()
        outside = [one for one in judge.real if self._is_outside(one[0])]
        inside = [one for one in judge.real if one not in outside]
        for overlap in inside[:3]:
            self.problems.append(self._describe(*overlap))
        if len(inside) > 3:
            self.problems.append(f"and {len(inside) - 3} overlaps more")
        if not self.watch and not all(self._entered()):
            self.problems.append("somebody never got a lock")
        gaps = gaps_ns(self.sections) or [0]
        tokens = self._tokens()
        self.problems += self._token_problems()
        commands = [one for one in self.world.contenders if one.is_command]
        return {
            "profile": self.profile.name,
            "text": self.profile.text,
            "partitions": self.world.reason or True,
            "level": self.profile.level,
            "server": self.version,
            "acquisitions": len(self.sections),
            "of them by the command": sum(one.slot in judge.commands
                                          for one in self.sections),
            "killed or lost inside": sum(not one.left
                                         for one in self.sections),
            "releases": sum(oracle.count(RELEASE).values()),
            "not acquired": sum(oracle.count(RESULT).values()),
            "granted too late to enter": sum(oracle.count(STALE).values()),
            "faults": dict(collections.Counter(
                fault.kind for _, _, fault in self.faults)),
            "overlaps inside the model": len(inside),
            "overlaps outside the model": len(outside),
            **({} if self.profile.level == "plain" else {
                "tokens checked": tokens.count,
                "equal tokens": len(tokens.equal),
                "backward tokens": len(tokens.backward),
                "faults that would have left the model": self.skipped}),
            "paused holder went on": len(judge.paused),
            "a fenced register would refuse": len(judge.real)
            + len(judge.paused),
            "seen by the contenders": judge.seen(),
            "median hand-off ms": round(gaps[len(gaps) // 2] / 1e6, 1),
            "worst hand-off ms": round(gaps[-1] / 1e6),
            "worst overrun of a library user ms": round(judge.late_ns / 1e6),
            "child outlived quorlock ms": round(max(
                [one.outlived_ns for one in commands] or [0]) / 1e6),
            "everybody after the faults s": round(recovery_s, 2),
        }
