# SPDX-License-Identifier: BSD-2-Clause
"""Real servers on loopback ports, for test scripts in Python.

    with Servers(3) as servers:
        subprocess.run([...], env={**os.environ, "QUORLOCK_SERVERS":
                                   servers.list})

They are redis-server processes (or what QUORLOCK_SERVER_BINARY names) without
persistence. They are killed at the end of the block, and by the kernel if
this process dies in the middle of it.
"""
import ctypes
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HANG_S = 60  # anything that takes so long hangs
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent():
    """For preexec_fn: the kernel kills the child when we die."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Server:
    def __init__(self, directory):
        self.directory = directory
        self.process = None
        while not self._start():
            pass

    def _start(self):
        # Not a port that the kernel may give to an outgoing connection.
        self.port = random.randrange(10000, 30000)
        binary = os.environ.get("QUORLOCK_SERVER_BINARY") or "redis-server"
        self.process = subprocess.Popen(
            [binary, "--port", str(self.port), "--bind", "127.0.0.1",
             "--save", "", "--appendonly", "no", "--dir", self.directory],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            preexec_fn=die_with_parent)
        end = time.monotonic() + HANG_S
        while self.process.poll() is None:
            try:
                if f"process_id:{self.process.pid}\r" in self.command("INFO"):
                    return True
            except OSError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.01)
        return False  # the port was taken

    def command(self, *words):
        """The reply as text: of a status, an integer, or one string."""
        request = f"*{len(words)}\r\n".encode()
        for word in words:
            data = word.encode()
            request += b"$%d\r\n%s\r\n" % (len(data), data)
        with socket.create_connection(("127.0.0.1", self.port),
                                      HANG_S) as connection:
            connection.sendall(request)
            with connection.makefile("rb") as replies:
                line = replies.readline().decode()
                if line.startswith("$") and int(line[1:]) >= 0:
                    return replies.read(int(line[1:])).decode()
        return line[1:].rstrip("\r\n")

    def kill(self):
        self.process.kill()
        self.process.wait()


class Servers:
    def __init__(self, count):
        self.count = count
        self.servers = []

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="ql-", dir="/tmp")
        try:
            for _ in range(self.count):
                self.servers.append(Server(self.directory))
        except BaseException:
            self.__exit__()
            raise
        self.list = ",".join(f"127.0.0.1:{server.port}"
                             for server in self.servers)
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def key_count(self, name):
        """On how many servers the key is."""
        return sum(int(server.command("EXISTS", name))
                   for server in self.servers)
