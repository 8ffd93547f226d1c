#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""quorlock and other Redlock clients exclude each other on the same name.

Three clients, from their package registries, hold and wait while the command
quorlock waits and holds. Each client is a small driver in a folder of its own:

    driver try NAME     one attempt. Prints "busy" and exits with 1; or prints
                        "held", holds until its stdin ends, prints "released".
    driver wait NAME    the same, but goes on trying until it holds.

The clients are installed into build/interop by npm, go and pip, once; what
cannot be installed is a failure. TTLs are so long that nothing expires here.
"""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "lib"))
sys.dont_write_bytecode = True
import servers as real  # noqa: E402

QUORLOCK = os.environ["QUORLOCK"]
INSTALLED = ROOT / "build" / "interop"
PAUSE_S = 0.5  # for which a waiter must go on waiting

NPM = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock",
       "--ignore-scripts", "--loglevel=error"]
GO_ENV = {"GOFLAGS": "-mod=mod -buildvcs=false", "GOTOOLCHAIN": "local"}
CLIENTS = {
    "node-redlock": ([NPM], ["node", "driver.js"]),
    "redsync": ([["go", "build", "-o", "driver", "."]], ["./driver"]),
    "redlock-py": ([[sys.executable, "-m", "venv", "venv"],
                    ["venv/bin/pip", "install", "--quiet", "-r",
                     "requirements.txt"]],
                   ["venv/bin/python", "driver.py"]),
}


class Failure(Exception):
    pass


def install(client, commands):
    """Copies the driver to build/interop and installs what it needs."""
    source, target = HERE / client, INSTALLED / client
    digest = hashlib.sha256(repr(commands).encode())
    for path in sorted(source.iterdir()):
        digest.update(path.read_bytes())
    stamp = target / ".installed"
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    for command in commands:
        try:
            done = subprocess.run(command, cwd=target, text=True, timeout=300,
                                  env={**os.environ, **GO_ENV},
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failure(f"cannot install: {error}") from error
        if done.returncode:
            raise Failure(f"cannot install: {' '.join(command)} exited with "
                          f"{done.returncode}. Is the registry reachable? It "
                          f"said:\n{done.stdout[-2000:]}")
    stamp.write_text(digest.hexdigest())


class Running:
    """A process whose stdin we hold, and whose lines we read."""

    def __init__(self, command, servers, cwd=None):
        self.process = subprocess.Popen(
            command, cwd=cwd, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "QUORLOCK_SERVERS": servers.list,
                 "QUORLOCK_LEVEL": "plain"},
            preexec_fn=real.die_with_parent)

    def expect_line(self, expected):
        # A hang here is ended by the time limit of the whole test.
        line = self.process.stdout.readline().rstrip("\n")
        if line != expected:
            self.fail(f"it printed '{line}' instead of '{expected}'")

    def expect_waiting(self):
        time.sleep(PAUSE_S)
        if self.process.poll() is not None:
            self.fail("it did not wait")

    def expect_exit(self, expected):
        """Lets its stdin end, and waits for it to exit."""
        try:
            _, errors = self.process.communicate(timeout=real.HANG_S)
        except subprocess.TimeoutExpired:
            self.fail("it did not end")
        if self.process.returncode != expected:
            raise Failure(f"{self.process.args} exited with "
                          f"{self.process.returncode}, not {expected}: "
                          f"{errors}")

    def fail(self, what):
        self.process.kill()
        _, errors = self.process.communicate()
        raise Failure(f"{self.process.args}: {what}: {errors}")


class Match:
    """One other client and quorlock, on one name."""

    def __init__(self, servers, client, command):
        self.servers = servers
        self.name = f"interop: {client} %s"
        self.client = client
        self.command = command

    def theirs(self, verb):
        return Running([*self.command, verb, self.name], self.servers,
                       INSTALLED / self.client)

    def ours(self, *options, child=("cat",)):
        return Running([QUORLOCK, "run", "--ttl", "60s", *options, self.name,
                        "--", *child], self.servers)

    def our_holder(self):
        holder = self.ours(child=("sh", "-c", "echo held; cat"))
        holder.expect_line("held")
        return holder

    def their_holder(self):
        holder = self.theirs("try")
        holder.expect_line("held")
        return holder

    def expect_no_key(self):
        """The node beyond the majority may be released a little later."""
        end = time.monotonic() + real.HANG_S
        while self.servers.key_count(self.name):
            if time.monotonic() > end:
                raise Failure("a key is left")
            time.sleep(0.01)

    def they_hold_and_we_fail(self):
        holder = self.their_holder()
        self.ours("-n").expect_exit(1)
        self.ours("-n", "-E", "9").expect_exit(9)
        holder.expect_exit(0)

    def we_hold_and_they_fail(self):
        holder = self.our_holder()
        self.theirs("try").expect_exit(1)
        holder.expect_exit(0)

    def they_release_and_we_get_it(self):
        holder = self.their_holder()
        waiter = self.ours("-w", "60", child=("echo", "held"))
        waiter.expect_waiting()
        holder.expect_exit(0)
        waiter.expect_line("held")
        waiter.expect_exit(0)

    def we_release_and_they_get_it(self):
        holder = self.our_holder()
        waiter = self.theirs("wait")
        waiter.expect_waiting()
        holder.expect_exit(0)
        waiter.expect_line("held")
        waiter.expect_exit(0)

    def their_lock_is_seen_by_status(self):
        holder = self.their_holder()
        Running([QUORLOCK, "status", self.name], self.servers).expect_exit(1)
        holder.expect_exit(0)
        self.expect_no_key()
        Running([QUORLOCK, "status", self.name], self.servers).expect_exit(0)


TESTS = [Match.they_hold_and_we_fail, Match.we_hold_and_they_fail,
         Match.they_release_and_we_get_it, Match.we_release_and_they_get_it,
         Match.their_lock_is_seen_by_status]


def main():
    passed = failed = 0
    INSTALLED.mkdir(parents=True, exist_ok=True)
    # Another build's tests may run at the same time.
    lock = open(INSTALLED / ".lock", "w")
    for client, (commands, command) in CLIENTS.items():
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            install(client, commands)
        except Failure as failure:
            print(f"FAIL {client}: {failure}", flush=True)
            failed += len(TESTS)
            continue
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)
        for test in TESTS:
            what = f"{client}: {test.__name__.replace('_', ' ')}"
            try:
                with real.Servers(3) as servers:
                    match = Match(servers, client, command)
                    test(match)
                    match.expect_no_key()
                print(f"ok   {what}", flush=True)
                passed += 1
            except (Failure, OSError) as failure:
                print(f"FAIL {what}: {failure}", flush=True)
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
