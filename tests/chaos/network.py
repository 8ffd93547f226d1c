# SPDX-License-Identifier: BSD-2-Clause
"""The network that the chaos test has to itself.

As root: each server and each contender is a host of its own, a network
namespace on one bridge, which is in a namespace too; nothing of it can be seen
from outside, so its addresses cannot meet anybody else's. Partitions are drop
rules of nftables in the servers' namespaces.

Otherwise: loopback ports, and no partitions; `reason` says why.
"""
import itertools
import os
import random
import shutil
import socket
import subprocess

PORT = 6379
PROXY_PORT = 6380
PREFIX = "10.83.17."
SERIALS = itertools.count()
GIVEN = set()


class Loopback:
    partitions = False

    def __init__(self, reason):
        self.reason = reason

    def addresses(self, _node):
        """Of a server and of its proxy."""
        return [("127.0.0.1", free_port()), ("127.0.0.1", free_port())]

    def enter_node(self, _node):
        """The words before a command that is to run on that host."""
        return []

    def enter_host(self, _host):
        return []

    def block(self, rules):
        assert not rules


def free_port():
    """One that the kernel does not give to outgoing connections, and that we
    have not given to anybody yet."""
    while True:
        port = random.randrange(10000, 30000)
        if port in GIVEN:
            continue
        GIVEN.add(port)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


class Namespaces:
    partitions = True
    reason = ""

    def __init__(self, names, nodes):
        self.hub, names = names[0], names[1:]
        self.node_names = names[:nodes]
        self.host_names = names[nodes:]
        self.blocked = {}
        run_ip([f"netns add {name}" for name in names + [self.hub]])
        run_ip(["link add bridge type bridge", "link set bridge up",
                "link set lo up"], self.hub)
        run_ip([line for number, name in enumerate(names, 1) for line in (
            f"link add port{number} type veth peer name eth0 netns {name}",
            f"link set port{number} master bridge up")], self.hub)
        for number, name in enumerate(names, 1):
            run_ip([f"addr add {PREFIX}{number}/24 dev eth0",
                    "link set eth0 up", "link set lo up"], name)
        for node in range(nodes):
            self._load(node, [])

    @staticmethod
    def names(count):
        """Of the bridge's and of so many others: new ones each time."""
        serial = next(SERIALS)
        return [f"ql{os.getpid()}-{serial}-{number}"
                for number in range(1 + count)]

    def addresses(self, node):
        address = PREFIX + str(1 + node)
        return [(address, PORT), (address, PROXY_PORT)]

    def enter_node(self, node):
        return ["ip", "netns", "exec", self.node_names[node]]

    def enter_host(self, host):
        return ["ip", "netns", "exec", self.host_names[host]]

    def block(self, rules):
        """`rules`: a set of (node, host, "in" or "out"), all that is in force:
        what the node does not hear from the host, or not tell it."""
        for node in range(len(self.node_names)):
            mine = sorted((host, way) for at, host, way in rules if at == node)
            if self.blocked.get(node, []) != mine:
                self.blocked[node] = mine
                self._load(node, mine)

    def _load(self, node, mine):
        text = "flush ruleset\n"
        for way, hook, field in (("in", "input", "saddr"),
                                 ("out", "output", "daddr")):
            hosts = [self.address_of(host) for host, which in mine
                     if which == way]
            rule = f"ip {field} {{ {', '.join(hosts)} }} drop" if hosts else ""
            text += (f"table inet chaos {{\nchain {way} {{\n"
                     f"type filter hook {hook} priority 0\n{rule}\n}}\n}}\n")
        subprocess.run(self.enter_node(node) + ["nft", "-f", "-"], check=True,
                       input=text, text=True, stderr=subprocess.PIPE)

    def address_of(self, host):
        return PREFIX + str(1 + len(self.node_names) + host)


def run_ip(lines, name=None):
    where = ["-n", name] if name else []
    subprocess.run(["ip", *where, "-batch", "-"], check=True, text=True,
                   input="\n".join(lines) + "\n", stderr=subprocess.PIPE)


def missing():
    """What there is not for namespaces, or ""."""
    if os.geteuid() != 0:
        return "not root"
    return ", ".join(f"no {program}" for program in ("ip", "nft")
                     if not shutil.which(program))


def make(names, nodes):
    """A network; of namespaces, if there are names for them and they work."""
    if not names:
        return Loopback(missing())
    try:
        return Namespaces(names, nodes)
    except subprocess.CalledProcessError as error:
        return Loopback(f"namespaces do not work here: {error.stderr}".strip())
