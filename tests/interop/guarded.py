#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""quorlock and another client of the guarded level, on the same name.

The other one (tests/interop/guarded) was written in Python from
doc/protocol.md alone, with Lua of its own. If the document forgot something,
the two would not exclude each other, or fencing tokens would go back.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
sys.dont_write_bytecode = True
import servers as real  # noqa: E402

QUORLOCK = os.environ["QUORLOCK"]
CLIENT = [sys.executable, "-B", str(HERE / "guarded" / "client.py")]
MAX_TTL_MS, SLACK_MS = 60000, 500
LINGER_S = 5 * SLACK_MS / 1000
# Long enough that no renewal is late on a busy machine; some tests wait for
# the end of such a lock.
SHORT_S = 4
TELL = 'echo "held $QUORLOCK_FENCE ${QUORLOCK_OWNER_DIED:-0}"'


class Failure(Exception):
    pass


class Running:
    """A process whose stdin we hold, and whose lines we read."""

    def __init__(self, servers, command):
        self.process = subprocess.Popen(
            command, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "QUORLOCK_SERVERS": servers.list},
            preexec_fn=real.die_with_parent)

    def expect(self, pattern):
        """A line that matches; what the groups of the pattern have."""
        # A hang here is ended by the time limit of the whole test.
        line = self.process.stdout.readline().rstrip("\n")
        found = re.fullmatch(pattern, line)
        if not found:
            self.fail(f"it printed '{line}', which is not '{pattern}'")
        return found.groups()

    def expect_held(self, died=0):
        """The fencing token."""
        token, told = self.expect(r"held (\d+) ([01])")
        if int(told) != died:
            self.fail(f"the holder before died: {told}, expected {died}")
        return int(token)

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

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

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def fail(self, what):
        self.process.kill()
        _, errors = self.process.communicate()
        raise Failure(f"{self.process.args}: {what}: {errors}")


class Match:
    def __init__(self, servers, name):
        self.servers = servers
        self.name = name

    def theirs(self, *words):
        return Running(self.servers, [*CLIENT, *words])

    def ours(self, *options, ttl_s=60):
        return Running(self.servers, [
            QUORLOCK, "run", "--level", "guarded", "--node-timeout", "10s",
            "--ttl", f"{ttl_s}s", *options, self.name, "--", "sh", "-c",
            TELL + "; cat"])

    def their_holder(self, *options, ttl_s=60):
        return self.theirs("try", self.name, "--ttl", str(1000 * ttl_s),
                           *options)

    def numbers(self):
        """The lock's number on each node that has one."""
        key = f"quorlock:lock:{{{self.name}}}"
        records = [server.command("GET", key).split(" ")
                   for server in self.servers.servers]
        return [int(record[2]) for record in records if len(record) > 3]

    def delete_plain_keys(self):
        for server in self.servers.servers:
            server.command("DEL", self.name)

    def expect_excluded(self):
        """Whoever comes now, of either kind, does not get it."""
        # Not -n: one attempt may begin when two nodes are connected, of which
        # one is not asked by the holder yet. Then nobody has a majority.
        self.ours("-w", "2").expect_exit(1)
        busy = self.theirs("try", self.name)
        busy.expect("busy")
        busy.expect_exit(1)

    # --- The tests: each on three servers of its own

    def they_hold_and_we_fail(self):
        holder = self.their_holder()
        holder.expect_held()
        self.expect_excluded()
        holder.expect_exit(0)
        self.ours("-w", "60").expect_exit(0)

    def we_hold_and_they_fail(self):
        holder = self.ours()
        holder.expect_held()
        self.expect_excluded()
        holder.expect_exit(0)
        holder = self.their_holder()
        holder.expect_held()
        holder.expect_exit(0)

    def tokens_grow_whoever_holds(self):
        tokens = []
        for i in range(20):
            holder = self.ours() if i % 2 else self.their_holder()
            tokens.append(holder.expect_held())
            holder.expect_exit(0)
        if sorted(set(tokens)) != tokens:
            raise Failure(f"tokens do not grow: {tokens}")

    def they_extend_and_we_fail(self):
        holder = self.their_holder(ttl_s=SHORT_S)
        holder.expect_held()
        time.sleep(SHORT_S + LINGER_S + 0.5)
        self.expect_excluded()
        holder.expect_exit(0)

    def we_extend_and_they_fail(self):
        holder = self.ours(ttl_s=SHORT_S)
        holder.expect_held()
        time.sleep(SHORT_S + LINGER_S + 0.5)
        self.expect_excluded()
        holder.expect_exit(0)

    def they_wait_for_us(self):
        holder = self.ours()
        first = holder.expect_held()
        waiter = self.theirs("wait", self.name)
        time.sleep(0.5)
        holder.expect_exit(0)
        if waiter.expect_held() <= first:
            raise Failure("their token is not larger")
        waiter.expect_exit(0)

    def we_wait_for_them(self):
        holder = self.their_holder()
        first = holder.expect_held()
        waiter = self.ours("-w", "60")
        time.sleep(0.5)
        holder.expect_exit(0)
        if waiter.expect_held() <= first:
            raise Failure("our token is not larger")
        waiter.expect_exit(0)

    def they_die_and_we_are_told(self):
        holder = self.their_holder("--abandon", ttl_s=SHORT_S)
        holder.expect_held()
        holder.expect_exit(0)
        # The lease records exclude others when the plain keys have gone, too.
        self.delete_plain_keys()
        self.expect_excluded()
        heir = self.ours("-w", "60")
        heir.expect_held(died=1)
        heir.expect_exit(0)
        heir = self.ours("-w", "60")
        heir.expect_held(died=0)
        heir.expect_exit(0)

    def we_die_and_they_are_told(self):
        holder = self.ours(ttl_s=SHORT_S)
        holder.expect_held()
        holder.kill()
        heir = self.theirs("wait", self.name)
        heir.expect_held(died=1)
        heir.expect_exit(0)

    def contenders_do_not_hide_the_dead(self):
        holder = self.their_holder("--abandon", ttl_s=SHORT_S)
        for heir, died in (self.ours, 1), (self.their_holder, 0):
            if died:
                holder.expect_held()
                holder.expect_exit(0)
                time.sleep(SHORT_S + LINGER_S + 0.5)
            # One that reached a single node, and let it go again.
            for node in "0", "1", "2":
                self.theirs("try", self.name, "--only", node).expect_exit(0)
            heir = heir()
            heir.expect_held(died)
            heir.expect_exit(0)

    def a_lost_record_is_repaired_by_either(self):
        key = f"quorlock:lock:{{{self.name}}}"
        one = self.servers.servers[0]
        for holder in self.their_holder(), None:
            ours = holder is None
            holder = holder or self.ours(ttl_s=SHORT_S)
            token = holder.expect_held()
            one.command("DEL", key, self.name)
            if not ours:
                holder.ask()
                holder.expect("extended 2 1 1")
            end = time.monotonic() + real.HANG_S
            while one.command("GET", key).split(" ")[2:3] != [str(token)]:
                if time.monotonic() > end:
                    raise Failure(f"{key} was not put back")
                time.sleep(0.05)
            holder.expect_exit(0)

    def unequal_numbers_are_confirmed(self):
        """One node's number was lifted by an attempt that reached no other."""
        for holder in (self.ours, self.their_holder, self.ours):
            self.theirs("try", self.name, "--only", "1").expect_exit(0)
            before = max(self.numbers())
            holder = holder()
            token = holder.expect_held()
            numbers = self.numbers()
            if numbers.count(token) < 2 or token < before:
                raise Failure(f"{token} of {numbers}, {before} before")
            holder.expect_exit(0)

    def names_with_tags(self):
        """Both must find the same lease record, without the plain key."""
        for name in ("{user}:1", "a{b", "a{}b", "a}b{c}", "{}", "}{x"):
            self.name = name
            for holder in self.their_holder(), None:
                ours = holder is None
                holder = holder or self.ours()
                holder.expect_held()
                self.delete_plain_keys()
                if ours:
                    self.theirs("try", name).expect_exit(1)
                else:
                    self.ours("-w", "1").expect_exit(1)
                holder.expect_exit(0)


TESTS = [Match.they_hold_and_we_fail, Match.we_hold_and_they_fail,
         Match.tokens_grow_whoever_holds, Match.they_extend_and_we_fail,
         Match.we_extend_and_they_fail, Match.they_wait_for_us,
         Match.we_wait_for_them, Match.they_die_and_we_are_told,
         Match.we_die_and_they_are_told,
         Match.contenders_do_not_hide_the_dead,
         Match.a_lost_record_is_repaired_by_either,
         Match.unequal_numbers_are_confirmed, Match.names_with_tags]


def init_theirs(servers):
    Running(servers, [*CLIENT, "init", str(MAX_TTL_MS),
                      str(SLACK_MS)]).expect_exit(0)


def init_ours(servers):
    Running(servers, [QUORLOCK, "init", "--max-ttl", f"{MAX_TTL_MS}ms",
                      "--clock-slack", f"{SLACK_MS}ms"]).expect_exit(0)


def main():
    passed = failed = 0
    for init in init_theirs, init_ours:
        for number, test in enumerate(TESTS):
            what = (f"{test.__name__.replace('_', ' ')} "
                    f"({init.__name__.replace('_', ' ')})")
            try:
                with real.Servers(3) as servers:
                    init(servers)
                    test(Match(servers, f"interop {number}"))
                print(f"ok   {what}", flush=True)
                passed += 1
            except (Failure, OSError) as failure:
                print(f"FAIL {what}: {failure}", flush=True)
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
