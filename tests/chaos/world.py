# SPDX-License-Identifier: BSD-2-Clause
"""Five servers, their network, and the faults that can be brought upon them.
"""
import random
import signal
import subprocess
import time

import network as networks
from guardian import Guardian
from node import Node
from oracle import Oracle
from schedule import NODES
from standing import LEASES, SLACK_MS, Standing

TTL_MS = 1500
LATE_S = 0.045  # within the contenders' node timeout


class World:
    """`hosts`: how many places there are to contend from; none: all is on
    loopback."""

    def __init__(self, programs, seed, hosts, level="plain",
                 ttl_ms=TTL_MS):
        self.programs = programs
        self.seed = seed
        self.level = level
        self.random = random.Random(f"{seed} world")
        self.ttl_ms = ttl_ms
        self.locks = 1
        self.base = "chaos"
        self.contenders = []
        self.nodes = []
        self.rules = set()
        self.written = {}
        self.paused = {}
        self.oracle = None
        self.oracles = 0
        names = []
        if hosts and not networks.missing():
            names = networks.Namespaces.names(NODES + hosts)
        self.guardian = Guardian(names)
        try:
            self.network = networks.make(names, NODES)
            self.reason = self.network.reason
            for index in range(NODES):
                self.nodes.append(self._make_node(index))
                self.nodes[-1].start()
            self.wait_until_ready()
            self.standing = Standing(self.nodes, self.ttl_ms)
            if level != "plain":
                self._form_group()
            self.new_oracle()
        except BaseException:
            self.close()
            raise

    def _make_node(self, index):
        """At the guarded level clocks differ, and so does what is saved."""
        base_ms, appending = 0, "always"
        if self.level != "plain":
            base_ms = self.random.randint(-SLACK_MS // 3, SLACK_MS // 3)
            appending = self.random.choice(["always", "always", "everysec",
                                            "no"])
        return Node(index, self.network, self.guardian.directory,
                    self.programs, base_ms, appending)

    def _form_group(self):
        subprocess.run(
            self.network.enter_node(0) + [
                self.programs["quorlock"], "init", "-y", "-q", "-S",
                self.servers(0), "--max-ttl", f"{self.ttl_ms}ms",
                "--clock-slack", f"{SLACK_MS}ms"],
            check=True, stdin=subprocess.DEVNULL)

    def new_oracle(self):
        self.oracles += 1
        self.oracle = Oracle(self.guardian.path(f"oracle{self.oracles}"))

    def close(self):
        """Returns what could not be cleaned up."""
        for thing in self.contenders + self.nodes:
            thing.close()
        return self.guardian.finish()

    def wait_until_ready(self):
        for node in self.nodes:
            node.wait_until_ready()

    def servers(self, host):
        """Every other contender sees the servers through their proxies."""
        return ",".join("%s:%d" % (node.proxied if host % 2 else node.direct)
                        for node in self.nodes)

    def tend(self):
        for contender in self.contenders:
            contender.tend()

    # --- faults: begin_KIND, end_KIND; False: there was nothing to do --

    def begin(self, fault):
        self.standing.struck(fault)
        return getattr(self, "begin_" + fault.kind.replace(" ", "_"))(fault)

    def end(self, fault):
        finish = getattr(self, "end_" + fault.kind.replace(" ", "_"), None)
        if finish:
            finish(fault)
        self.standing.struck(fault)

    def of(self, fault):
        return [self.nodes[index] for index in fault.nodes]

    def begin_freeze(self, fault):
        for node in self.of(fault):
            node.freeze()

    def end_freeze(self, fault):
        for node in self.of(fault):
            node.thaw()

    def begin_crash(self, fault):
        for node in self.of(fault):
            node.kill()

    def end_crash(self, fault):
        for node in self.of(fault):
            node.start()

    def begin_partition(self, fault):
        self.block(self.rules | self._rules_of(fault))

    def end_partition(self, fault):
        self.block(self.rules - self._rules_of(fault))

    def block(self, rules):
        self.rules = rules
        self.network.block(rules)

    @staticmethod
    def _rules_of(fault):
        return {(node, host, way) for node in fault.nodes
                for host in fault.hosts for way in fault.arg}

    def begin_proxy(self, fault):
        for node in self.of(fault):
            node.tell_proxy(fault.arg)

    def end_proxy(self, fault):
        for node in self.of(fault):
            node.tell_proxy("pass")

    def begin_late_answers(self, fault):
        for node in self.of(fault):
            node.freeze()
        time.sleep(LATE_S)
        self.paused[fault] = [self.contenders[host] for host in fault.hosts
                              if self.contenders[host].pause(False)]
        for node in self.of(fault):
            node.thaw()

    def end_late_answers(self, fault):
        for contender in self.paused.pop(fault):
            contender.go_on()

    # --- outside of the model -----------------------------------------

    def begin_flush(self, fault):
        for node in self.of(fault):
            node.wait_until_ready()
            node.command("FLUSHALL")

    def begin_evict(self, fault):
        """Memory runs out, and the policy is the wrong one for locks."""
        for node in self.of(fault):
            node.wait_until_ready()
            node.command("CONFIG", "SET", "maxmemory-policy", "allkeys-random",
                         "maxmemory", 1)
            try:
                node.command("SET", "filler", "x", "PX", 1)
            except RuntimeError:
                pass  # out of memory, as it should be
            node.command("CONFIG", "SET", "maxmemory", 0, "maxmemory-policy",
                         "noeviction")

    def begin_evict_key(self, fault):
        """Somebody deletes locks by hand, or their end is set to now."""
        self._delete(fault, self.base + "-*")

    def begin_evict_lease(self, fault):
        self._delete(fault, LEASES + "*")

    def _delete(self, fault, pattern):
        for node in self.of(fault):
            node.wait_until_ready()
            names = node.command("KEYS", pattern)
            if names:
                node.command("DEL", *names)

    def begin_amnesia(self, fault):
        """It has no persistence, and dies."""
        for node in self.of(fault):
            node.kill()
            node.forget()

    def end_amnesia(self, fault):
        for node in self.of(fault):
            if self.level == "plain":
                node.appending = "no"
            node.start()

    def begin_power_loss(self, fault):
        """With everysec: what was written in the last second is lost."""
        for node in self.of(fault):
            if node.appending != "everysec":
                node.kill()
                node.appending = "everysec"
                node.start()
        for node in self.of(fault):
            node.wait_until_ready()
            self.written[node.index] = node.written()

    def end_power_loss(self, fault):
        for node in self.of(fault):
            node.kill()
            node.forget_since(self.written[node.index])
            node.start()

    def begin_step(self, fault):
        for node in self.of(fault):
            node.step(fault.arg)

    def end_step(self, fault):
        for node in self.of(fault):
            node.step(0)

    # --- contenders ---------------------------------------------------

    def victim(self, fault):
        """Whom it is aimed at, or, more often, whoever is inside now."""
        inside = self.oracle.inside(fault.arg.lock)
        if fault.arg.at_holder and inside:
            return next(one for one in self.contenders
                        if inside[0] in one.slots)
        return self.contenders[fault.hosts[0]]

    def begin_pause(self, fault):
        victim = self.victim(fault)
        if not victim.pause(fault.arg.all_of_it):
            return False
        self.paused[fault] = [victim]
        return True

    def end_pause(self, fault):
        for contender in self.paused.pop(fault):
            contender.go_on()

    def begin_kill(self, fault):
        return self.victim(fault).kill()

    def begin_terminate(self, fault):
        return self.victim(fault).send(signal.SIGTERM)

    # --- afterwards ---------------------------------------------------

    def stop_contenders(self, patience_s):
        """Returns the slots of those that do not end when they should."""
        self.oracle.stop()
        end_s = time.monotonic() + patience_s
        while time.monotonic() < end_s and any(
                contender.is_running() for contender in self.contenders):
            time.sleep(0.01)
        left = [contender.slot for contender in self.contenders
                if contender.is_running()]
        for contender in self.contenders:
            contender.close()
        return left
