# SPDX-License-Identifier: BSD-2-Clause
"""What goes wrong, and when: decided beforehand by a seed.

The seed decides the schedule. What comes of it depends on timing, and is
another story in each run.
"""
import collections
import random

from standing import FORGETFUL, RECOVERY_S as GUARD_RECOVERY_S, SILENT
from standing import lease_s, quarantine_s

NODES = 5

Fault = collections.namedtuple("Fault", "start_s end_s kind nodes hosts arg")
# For a fault of a contender; `all_of_it`: a command's child is paused as well.
Aim = collections.namedtuple("Aim", "at_holder lock all_of_it")

# Redlock's own fault model: processes stop and die, messages are late or lost,
# and whoever comes back remembers what it promised.
INSIDE = {"freeze": 4, "crash": 4, "partition": 6, "proxy": 5}
# A majority is frozen while requests are on their way; the askers are stopped;
# the servers go on, and answer; the askers find the answers when they wake.
LATE = {"late answers": 4}
# A server that forgets, or whose clock is stepped, is outside of it.
OUTSIDE = {"flush": 2, "evict": 2, "amnesia": 3, "power loss": 3, "step": 4}
# The guarded level stands these, on less than a majority at once.
FORGETTING = {"flush": 3, "amnesia": 4, "power loss": 3, "evict key": 2,
              "evict lease": 2, "step": 5}
# Of contenders: inside, too.
CONTENDERS = {"pause": 5, "kill": 3, "terminate": 1}

Profile = collections.namedtuple("Profile",
                                 "name locks nodes_at_once kinds text level "
                                 "pace", defaults=["plain", 1.0])

PROFILES = {profile.name: profile for profile in (
    Profile("minority", 3, 2, INSIDE,
            "at most two nodes of five in trouble at once"),
    Profile("majority", 3, 5, {**INSIDE, **LATE},
            "any number of nodes in trouble at once, none of which forgets"),
    Profile("crowd", 1, 2, INSIDE, "everybody wants the same lock"),
    Profile("late", 5, 5, LATE, "only answers that come too late"),
    Profile("guarded", 24, 2, {**INSIDE, **LATE, **FORGETTING},
            "at most two nodes of five at once forget, or show a wrong time",
            "guarded"),
    Profile("clocks", 6, 5, {"step": 1},
            "any number of clocks are wrong: two may hold a lock, but tokens "
            "are in order", "guarded"),
    Profile("guarded crowd", 1, 2, {**INSIDE, **FORGETTING},
            "many want the same lock", "guarded"),
    Profile("outside", 3, 5, {**INSIDE, **OUTSIDE},
            "nodes that forget, and clocks that are stepped: outside of "
            "Redlock's fault model"))}

RECOVERY_S = 0.5  # after its fault a node is still counted as in trouble
# From what is within the slack to most of a day, for which records are kept.
STEPS_MS = [100, 200, 400, 1000, 3000, 120000, 3600000, 72000000]
PROXY_MODES = ["delay", "drip", "stall", "drop", "reset", "close"]


class Schedule:
    def __init__(self, profile, seed, seconds, ttl_s, contenders, partitions):
        self.random = random.Random(f"{seed} {profile.name}")
        self.profile = profile
        self.seconds = seconds
        self.ttl_s = ttl_s
        self.contenders = contenders
        self.kinds = dict(profile.kinds)
        if not partitions:
            self.kinds.pop("partition", None)
        self.busy_s = [0.0] * NODES
        self.late_until_s = 0.0
        self.faults = []
        self._draw(3.0 * profile.pace, self._node_fault)
        self._draw(2.0 * profile.pace, self._contender_fault)
        self.faults.sort()

    def _draw(self, per_second, make):
        at_s = self.random.expovariate(per_second)
        while at_s < self.seconds:
            fault = make(at_s)
            if fault:
                self.faults.append(fault)
            at_s += self.random.expovariate(per_second)

    def _length_s(self):
        """Blinks, about as long as a lock lasts, or longer than that."""
        low, high = self.random.choice([(0.01, 0.2), (0.2, self.ttl_s),
                                        (self.ttl_s, 2.5 * self.ttl_s)])
        return self.random.uniform(low, high)

    def _end_s(self, at_s):
        return min(at_s + self._length_s(), self.seconds)

    def _choose(self, table):
        return self.random.choices(list(table), list(table.values()))[0]

    def _subset(self, whole, largest):
        return tuple(sorted(self.random.sample(
            whole, self.random.randint(1, min(largest, len(whole))))))

    # --- nodes --------------------------------------------------------

    def _node_fault(self, at_s):
        kind = self._choose(self.kinds)
        free = [node for node in range(NODES) if self.busy_s[node] <= at_s]
        room = self.profile.nodes_at_once - (NODES - len(free))
        if room <= 0:
            return None
        nodes = self._subset(free, room)
        end_s = self._end_s(at_s)
        if kind == "late answers":
            if at_s < self.late_until_s or len(free) < NODES // 2 + 1:
                return None
            nodes = tuple(free)
            end_s = at_s + self.ttl_s * self.random.uniform(1.0, 1.5)
            self.late_until_s = end_s
        if kind == "power loss":
            end_s = min(end_s, at_s + 1)
        if kind != "late answers":  # which is over for them at once
            for node in nodes:
                self.busy_s[node] = end_s + self._recovery_s(kind)
        hosts = ()
        if kind == "partition":
            hosts = self._subset(range(self.contenders), self.contenders)
        elif kind == "late answers":  # most: whoever won is among them
            hosts = tuple(sorted(self.random.sample(
                range(self.contenders), self.contenders * 3 // 4)))
        return Fault(at_s, end_s, kind, nodes, hosts, self._argument(kind))

    def _recovery_s(self, kind):
        """About so long; whether it really has recovered, standing.py says."""
        if (self.profile.level == "plain" or kind not in FORGETFUL
                or self.profile.nodes_at_once == NODES):
            return RECOVERY_S
        if kind in SILENT:
            return lease_s(1000 * self.ttl_s) + RECOVERY_S
        return quarantine_s(1000 * self.ttl_s) + GUARD_RECOVERY_S

    def _argument(self, kind):
        rand = self.random
        if kind == "partition":
            return rand.choice([("in",), ("out",), ("in", "out")])
        if kind == "proxy":
            mode = rand.choice(PROXY_MODES)
            number = {"delay": rand.choice([5, 30, 100, 400]),
                      "drip": rand.randint(1, 5)}.get(mode,
                                                      rand.randint(1, 400))
            return f"{mode} {number} {rand.choice(['up', 'down', 'both'])}"
        if kind == "step" and self.profile.level != "plain":
            few = 5 if self.profile.nodes_at_once == NODES else len(STEPS_MS)
            return rand.choice([-1, 1]) * rand.choice(STEPS_MS[:few])
        if kind == "step":
            return int(1000 * self.ttl_s * rand.choice([-2, -0.5, 0.5, 1, 2]))
        return None

    # --- contenders ---------------------------------------------------

    def _contender_fault(self, at_s):
        kind = self._choose(CONTENDERS)
        end_s = self._end_s(at_s) if kind == "pause" else at_s
        aim = Aim(self.random.random() < 0.6,
                  self.random.randrange(self.profile.locks),
                  self.random.random() < 0.3)
        return Fault(at_s, end_s, kind, (),
                     (self.random.randrange(self.contenders),), aim)
