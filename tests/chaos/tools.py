# SPDX-License-Identifier: BSD-2-Clause
"""Whether each fault does what it says. One that does nothing would let every
other check pass.
"""
import subprocess
import time

from schedule import Fault
from standing import LEASES
from world import World

PATIENCE_S = 30
SILENCE_S = 0.4  # nothing comes in so long


class Tools:
    def __init__(self, programs, seed):
        self.world = World(programs, seed, 1)
        self.node = self.world.nodes[0]

    def check_all(self, report):
        try:
            for name in sorted(vars(Tools)):
                if name == "fault_partition" and self.world.reason:
                    report.not_tried("tools: partition", self.world.reason)
                elif name.startswith("fault_"):
                    report.check("tools: " + name[6:].replace("_", " "),
                                 self._check(getattr(self, name)))
        finally:
            left = self.world.close()
        report.check("tools: nothing left", left)

    def _check(self, check):
        try:
            self._renew()
            check()
        except (AssertionError, OSError, RuntimeError) as error:
            return [f"{type(error).__name__}: {error}"]
        return []

    # --- what they are made of ----------------------------------------

    def _renew(self):
        self.node.kill()
        self.node.forget()
        self.node.appending = "always"
        self.node.start()
        self.node.wait_until_ready()

    def _begin(self, kind, arg=None):
        self.node.wait_until_ready()
        self.fault = Fault(0, 0, kind, (0,), (0,), arg)
        self.world.begin(self.fault)

    def _end(self):
        self.world.end(self.fault)
        self.node.wait_until_ready()

    def _ask(self, address, patience_s=PATIENCE_S):
        """(what a PING from the contender's host returns, after how long)."""
        began_s = time.monotonic()
        try:
            done = subprocess.run(
                self.world.network.enter_host(0) + [
                    "redis-cli", "-h", address[0], "-p", str(address[1]),
                    "PING"], capture_output=True, text=True, check=False,
                timeout=patience_s)
            answer = (done.stdout + done.stderr).strip()
        except subprocess.TimeoutExpired:
            answer = "silence"
        return answer, time.monotonic() - began_s

    def _says(self, address, expected, patience_s=PATIENCE_S):
        answer, took_s = self._ask(address, patience_s)
        assert answer == expected, f"{answer!r}, not {expected!r}"
        return took_s

    def _silent(self, address):
        self._says(address, "silence", SILENCE_S)

    def _keys_after(self, kind):
        self.node.wait_until_ready()
        self.node.command("SET", "a", 1)
        self._begin(kind)
        self._end()
        return list(self.node.keys())

    # --- each fault ---------------------------------------------------

    def fault_freeze(self):
        self._begin("freeze")
        self._silent(self.node.direct)
        self._end()
        self._says(self.node.direct, "PONG")

    def fault_crash_loses_nothing(self):
        assert self._keys_after("crash") == ["a"]

    def fault_amnesia(self):
        assert not self._keys_after("amnesia")

    def fault_flush(self):
        assert not self._keys_after("flush")

    def fault_evict(self):
        assert not self._keys_after("evict")

    def _pair_after(self, kind):
        lease = LEASES + "{chaos-0}"
        self.node.command("MSET", "chaos-0", 1, lease, 1)
        self._begin(kind)
        self._end()
        return list(self.node.keys())

    def fault_evict_key(self):
        assert self._pair_after("evict key") == [LEASES + "{chaos-0}"]

    def fault_evict_lease(self):
        assert self._pair_after("evict lease") == ["chaos-0"]

    def fault_power_loss(self):
        self.node.command("SET", "before", 1)
        self._begin("power loss")
        self.node.command("SET", "after", 1)
        self._end()
        assert "before" in self.node.keys()
        assert "after" not in self.node.keys()

    def fault_step(self):
        for step_ms in (-60000, 60000):
            self._begin("step", step_ms)
            self.node.command("SET", "a", 1, "PX", 1000000)
            self._end()
            left_ms = self.node.keys()["a"]
            assert abs(left_ms - step_ms - 1000000) < 30000, left_ms

    def fault_partition(self):
        for ways in (("in",), ("out",), ("in", "out")):
            self._begin("partition", ways)
            self._silent(self.node.direct)
            self._silent(self.node.proxied)
            self._says(self.world.nodes[1].direct, "PONG")
            self._end()
            self._says(self.node.direct, "PONG")

    def _proxied(self, command):
        self._begin("proxy", command)
        return self.node.proxied

    def fault_proxy_delay(self):
        took_s = self._says(self._proxied("delay 250 both"), "PONG")
        assert took_s >= 0.5, took_s
        self._end()

    def fault_proxy_drip(self):
        took_s = self._says(self._proxied("drip 50 down"), "PONG")
        assert took_s >= 0.25, took_s
        self._end()

    def fault_proxy_silence(self):
        for command in ("stall 0 up", "stall 0 down", "drop 0 both"):
            self._silent(self._proxied(command))
            self._end()
            self._says(self.node.proxied, "PONG")

    def fault_proxy_cut(self):
        for command in ("reset 3 up", "reset 3 down", "close 3 up",
                        "close 3 down"):
            answer, _ = self._ask(self._proxied(command))
            assert answer.startswith("Error"), answer
            self._end()
            self._says(self.node.proxied, "PONG")
