# SPDX-License-Identifier: BSD-2-Clause
"""Those who want the locks: programs that use the library, and the command.

Each is one process at a time, started again when it ends.
"""
import collections
import os
import random
import signal
import subprocess
import time

from guardian import is_alive, with_parent

GRACE_NS = 1_000_000_000  # a process that goes on needs a processor first


class Contender:
    """`slot`: its place in the network, and in the oracle."""

    is_command = False

    def __init__(self, slot, world):
        self.slot = slot
        self.world = world
        self.process = None
        self.exits = collections.Counter()
        self.pauses = []  # [from_ns, to_ns]
        self.paused = 0   # by so many faults at once

    @property
    def slots(self):
        """In the oracle."""
        return [self.slot]

    def tend(self):
        """Starts it, or starts it again."""
        if self.process:
            code = self.process.poll()
            if code is None:
                return
            self.exits[code] += 1
            self.process = None
            self._end_pauses(0)
        if self.may_start():
            self.process = subprocess.Popen(
                with_parent(self.world.network.enter_host(self.slot)
                            + self.words()),
                stdin=subprocess.DEVNULL,
                env={**os.environ, "QUORLOCK_LEVEL": self.world.level,
                     "QUORLOCK_SERVERS": self.world.servers(self.slot)})

    def may_start(self):
        return True

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def send(self, number):
        if self.is_running():
            self.process.send_signal(number)
            return True
        return False

    def pause(self, all_of_it):
        """False: there is nobody, and nobody will be told to go on."""
        if not self.is_running():
            return False
        self.pauses.append([time.monotonic_ns(), 1 << 63])
        self.paused += 1
        self.send(signal.SIGSTOP)
        if all_of_it:
            self._signal_inside(signal.SIGSTOP)
        return True

    def go_on(self):
        self.paused -= 1
        if self.paused:
            return
        self._signal_inside(signal.SIGCONT)
        self.send(signal.SIGCONT)
        self._end_pauses(GRACE_NS)

    def _end_pauses(self, grace_ns):
        for pause in self.pauses:
            pause[1] = min(pause[1], time.monotonic_ns() + grace_ns)

    def _signal_inside(self, _number):
        pass

    def kill(self):
        return self.send(signal.SIGKILL)

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()


class Worker(Contender):
    """Uses the library; a seed decides what it does, as far as anything."""

    def __init__(self, slot, world):
        super().__init__(slot, world)
        self.starts = 0

    def words(self):
        self.starts += 1
        world = self.world
        return [world.programs["worker"], world.oracle.path, str(self.slot),
                world.base, str(world.locks), world.servers(self.slot),
                str(world.ttl_ms),
                str(world.seed * 1000 + self.slot * 100 + self.starts),
                world.level]


class Swarm(Contender):
    """Many contenders in one process, for numbers; `first` is their first slot
    in the oracle."""

    def __init__(self, slot, world, first, count):
        super().__init__(slot, world)
        self.starts = 0
        self.first = first
        self.count = count

    @property
    def slots(self):
        return list(range(self.first, self.first + self.count))

    def words(self):
        self.starts += 1
        world = self.world
        return [world.programs["swarm"], world.oracle.path, str(self.first),
                str(self.count), world.base, str(world.locks),
                world.servers(self.slot), str(world.ttl_ms),
                str(world.seed * 1000 + self.slot * 100 + self.starts),
                world.level]


class Command(Contender):
    """Runs `quorlock run`, with a child that goes inside."""

    is_command = True

    def __init__(self, slot, world):
        super().__init__(slot, world)
        self.random = random.Random(f"{world.seed} {slot}")
        self.ended_ns = 0
        self.outlived_ns = 0  # the longest that a child outlived its parent

    def inside_pid(self):
        """The child, if it runs."""
        pid = self.world.oracle.slot(self.slot).pid
        if pid and is_alive(pid) and is_program(
                pid, self.world.programs["insider"]):
            return pid
        return None

    def _signal_inside(self, number):
        pid = self.inside_pid()
        if pid:
            os.kill(pid, number)

    def may_start(self):
        """Not while the last one's child lives, which would be taken for the
        next one's."""
        self.ended_ns = self.ended_ns or time.monotonic_ns()
        if self.inside_pid():
            self.outlived_ns = max(self.outlived_ns,
                                   time.monotonic_ns() - self.ended_ns)
            return False
        self.ended_ns = 0
        return True

    def words(self):
        rand, world = self.random, self.world
        lock = rand.randrange(world.locks)
        hold_ms = rand.randrange(25) if rand.random() < 0.98 else int(
            world.ttl_ms * rand.uniform(0.5, 2))
        how = ["deaf"] if rand.random() < 0.3 else []
        return [world.programs["quorlock"], "run", "-q", "--ttl",
                f"{world.ttl_ms}ms", "-w", "5s", "--node-timeout", "60ms",
                "--retry-delay", "40ms", f"{world.base}-{lock}", "--",
                world.programs["insider"], world.oracle.path, str(self.slot),
                str(lock), str(hold_ms), *how]


def is_program(pid, path):
    try:
        return os.readlink(f"/proc/{pid}/exe") == path
    except OSError:
        return False
