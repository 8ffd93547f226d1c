# SPDX-License-Identifier: BSD-2-Clause
"""One real server with all that can be done to it, and the proxy before it.

We talk to it by a unix socket, so that no partition is in the way.
"""
import os
import signal
import socket
import struct
import subprocess
import time

from guardian import with_parent

HANG_S = 60  # anything that takes so long hangs
SERVER = os.environ.get("QUORLOCK_SERVER_BINARY") or "redis-server"


class Node:
    def __init__(self, index, network, directory, programs, base_ms=0,
                 appending="always"):
        self.index = index
        self.network = network
        self.directory = os.path.join(directory, f"node{index}")
        self.socket = os.path.join(self.directory, "socket")
        self.clock = os.path.join(self.directory, "clock")
        self.shim = programs["clkshim"]
        self.appending = appending
        self.base_ms = base_ms  # how far its clock is ahead when it is right
        self.process = None
        self.started_s = 0
        self.direct, self.proxied = network.addresses(index)
        os.mkdir(self.directory)
        self.step(0)
        self.proxy = subprocess.Popen(
            with_parent(network.enter_node(index) + [
                programs["proxy"], self.proxied[0], str(self.proxied[1]),
                self.direct[0], str(self.direct[1])]),
            stdin=subprocess.PIPE)

    # --- its life -----------------------------------------------------

    def start(self):
        """Does not wait until it answers."""
        self.process = subprocess.Popen(
            with_parent(self.network.enter_node(self.index) + [
                SERVER, "--bind", self.direct[0], "--port",
                str(self.direct[1]), "--protected-mode", "no",
                "--unixsocket", self.socket, "--dir", self.directory,
                "--save", "", "--appendonly",
                "no" if self.appending == "no" else "yes", "--appendfsync",
                self.appending if self.appending != "no" else "always"]),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            env={**os.environ, "LD_PRELOAD": self.shim,
                 "CHAOS_CLOCK": self.clock})
        self.started_s = time.monotonic()

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        self.kill()
        self.proxy.kill()
        self.proxy.wait()
        self.proxy.stdin.close()

    def wait_until_ready(self):
        end = time.monotonic() + HANG_S
        while True:
            try:
                return self.command("PING")
            except (OSError, RuntimeError):
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
            time.sleep(0.005)

    # --- faults of the server that forgets ----------------------------

    def forget(self):
        """What a dead server had on disk."""
        for path in self._append_files():
            os.remove(path)

    def written(self):
        return sum(os.path.getsize(path) for path in self._append_files())

    def forget_since(self, size):
        """The tail of what a dead server had written, as a loss of power takes
        away what was not on disk yet."""
        for path in self._append_files():
            if ".incr." in path:
                others = self.written() - os.path.getsize(path)
                os.truncate(path, min(os.path.getsize(path),
                                      max(0, size - others)))

    def _append_files(self):
        directory = os.path.join(self.directory, "appendonlydir")
        if not os.path.isdir(directory):
            return []
        return [os.path.join(directory, name)
                for name in os.listdir(directory)]

    def version(self):
        """As "redis 7.0.15"."""
        info = dict(line.split(":", 1) for line in
                    self.command("INFO", "server").split("\r\n")
                    if ":" in line)
        if "valkey_version" in info:
            return "valkey " + info["valkey_version"]
        return "redis " + info["redis_version"]

    def step(self, offset_ms):
        """Puts its wall clock so far ahead of where it belongs."""
        with open(self.clock, "r+b" if os.path.exists(self.clock) else "wb",
                  buffering=0) as file:
            file.write(struct.pack(
                "=q", (self.base_ms + offset_ms) * 1000000))

    # --- talking ------------------------------------------------------

    def tell_proxy(self, command):
        self.proxy.stdin.write(command.encode() + b"\n")
        self.proxy.stdin.flush()

    def command(self, *words, timeout_s=HANG_S):
        """The reply as a Python value; an error is a RuntimeError."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(timeout_s)
            client.connect(self.socket)
            with client.makefile("rb") as replies:
                client.sendall(encode(words))
                return decode(replies)

    def keys(self, timeout_s=HANG_S):
        """{name: remaining milliseconds}; -1: for ever."""
        return {name: self.command("PTTL", name, timeout_s=timeout_s)
                for name in self.command("KEYS", "*", timeout_s=timeout_s)}


def encode(words):
    data = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(data) + b"".join(
        b"$%d\r\n%s\r\n" % (len(word), word) for word in data)


def decode(stream):
    line = stream.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionError("the server closed the connection")
    kind, rest = line[:1], line[1:-2].decode()
    if kind == b"$":
        size = int(rest)
        return None if size < 0 else stream.read(size + 2)[:-2].decode()
    if kind == b"*":
        return [decode(stream) for _ in range(int(rest))]
    if kind == b":":
        return int(rest)
    if kind == b"-":
        raise RuntimeError(rest)
    return rest
