# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of the command share: real servers, and running quorlock.

Everything that a test starts it ends by process id, and its files are in one
private directory. Time limits only detect hangs; nothing here is about speed.
"""
import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

QUORLOCK = os.environ.get("QUORLOCK") or shutil.which("quorlock")
SERVER = os.environ.get("QUORLOCK_SERVER_BINARY") or (
    shutil.which("redis-server") or shutil.which("valkey-server"))
PATIENCE = 120  # seconds until something counts as hung


LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_us():
    """For a new process: it is killed when the test is."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def eventually(condition, what, patience=PATIENCE):
    """Waits for condition() and returns what it returned."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError("it never came about: " + what)


def is_alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] not in b"ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def boot_ms():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000000


class Server:
    """One server on a unix socket."""

    def __init__(self, directory, index, *extra):
        self.path = os.path.join(directory, "%d.sock" % index)
        self.url = "unix://" + self.path
        self.args = [SERVER, "--port", "0", "--unixsocket", self.path,
                     "--dir", directory, "--save", "", "--appendonly", "no",
                     "--maxmemory-policy", "noeviction"] + list(extra)
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=die_with_us)
        eventually(self.listens, "a server that listens")

    def listens(self):
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(self.path)
                probe.sendall(b"PING\r\n")
                return probe.recv(64)
            except OSError:
                return False

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def command(self, *words, password=None):
        """Sends a command, returns the reply as Python values."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(self.path)
            stream = client.makefile("rb")
            if password:
                client.sendall(encode("AUTH", password))
                decode(stream)
            client.sendall(encode(*words))
            return decode(stream)


def encode(*words):
    out = b"*%d\r\n" % len(words)
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        out += b"$%d\r\n%s\r\n" % (len(word), word)
    return out


def decode(stream):
    line = stream.readline()[:-2]
    kind, rest = line[:1], line[1:]
    if kind == b"$":
        size = int(rest)
        return None if size < 0 else stream.read(size + 2)[:-2].decode()
    if kind == b"*":
        return [decode(stream) for _ in range(int(rest))]
    if kind == b":":
        return int(rest)
    if kind == b"-":
        raise RuntimeError(rest.decode())
    return rest.decode()


class Case(unittest.TestCase):
    """A test with `nodes` servers of its own, if any."""

    nodes = 0
    server_options = ()
    maxDiff = None

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="qlcli")
        self.addCleanup(shutil.rmtree, self.directory, True)
        self.servers = []
        for index in range(self.nodes):
            server = Server(self.directory, index, *self.server_options)
            self.servers.append(server)
            self.addCleanup(server.kill)

    def environment(self, **changes):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith("QUORLOCK")}
        if self.servers:
            env["QUORLOCK_SERVERS"] = ",".join(s.url for s in self.servers)
        # Most tests are about Redlock as its page has it.
        env["QUORLOCK_LEVEL"] = "plain"
        # A busy machine must not look like a broken server.
        env["QUORLOCK_NODE_TIMEOUT"] = "2s"
        for key, value in changes.items():
            if value is None:
                env.pop(key, None)
            else:
                env[key] = value
        return env

    def quorlock(self, *args, env=None, **options):
        """Runs the command to its end."""
        settings = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
        settings.update(options)
        if "input" in options:
            del settings["stdin"]
        return subprocess.run([QUORLOCK] + list(args),
                              env=env or self.environment(), **settings)

    def start(self, *args, env=None, **options):
        """Starts the command; it is killed at the end if it still runs."""
        settings = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, text=True)
        settings.update(options)
        process = subprocess.Popen([QUORLOCK] + list(args),
                                   env=env or self.environment(), **settings)
        self.addCleanup(self.finish, process)
        return process

    @staticmethod
    def finish(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def path(self, name):
        return os.path.join(self.directory, name)

    def read(self, name):
        """What a file holds, or '' while there is none."""
        try:
            with open(self.path(name)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def read_pid(self, name):
        return int(eventually(lambda: self.read(name).endswith("\n") and
                              self.read(name), "a process id in " + name))

    def holders(self, name):
        """What the servers that run have under `name`, without the absent."""
        values = [server.command("GET", name) for server in self.servers
                  if server.process.poll() is None]
        return [value for value in values if value is not None]

    def hold(self, name, ttl="1h", label="web3:4121:report.sh"):
        """Has another holder take the lock. Returns the token."""
        result = self.quorlock("acquire", "--ttl", ttl, "--label", label, name)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.strip()

    def assertExit(self, result, code, stderr=""):
        """The exit status; `stderr` is a pattern it must match, or ''."""
        self.assertEqual(result.returncode, code, result)
        if stderr == "":
            self.assertEqual(result.stderr, "")
        else:
            self.assertRegex(result.stderr, stderr)


def main():
    if not QUORLOCK or not SERVER:
        sys.exit("QUORLOCK must name the command, and a server be installed")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    unittest.main()


__all__ = ["Case", "Server", "QUORLOCK", "PATIENCE", "boot_ms", "eventually",
           "is_alive", "json", "main"]
