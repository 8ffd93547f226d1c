#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Waiting for the lock: how long, for whom, and how it ends."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import (PATIENCE, Case, boot_ms, eventually,  # noqa: E402
                     json, main)

HELD = r"quorlock: a: held by web3:4121:report\.sh for another \S+ .*\n"


class Limits(Case):
    nodes = 3

    def test_one_attempt(self):
        self.hold("a")
        for limit in (["-n"], ["--nonblock"], ["-w", "0"], ["-w0"],
                      ["--wait=0s"], ["--timeout", "0ms"]):
            result = self.quorlock("run", *limit, "a", "echo", "ran")
            self.assertExit(result, 1, r"\A%s\Z" % HELD)
            self.assertEqual(result.stdout, "")

    def test_a_limited_wait(self):
        self.hold("a")
        for limit in ("0.3", "300ms", "1.7s"):
            began = boot_ms()
            result = self.quorlock("run", "-w", limit, "a", "true")
            self.assertExit(result, 1, HELD)
            self.assertGreater(boot_ms() - began, 150)

    def test_conflict_exit_code(self):
        self.hold("a")
        self.assertExit(self.quorlock("run", "-n", "-E", "0", "a", "false"), 0,
                        HELD)
        self.assertExit(self.quorlock("run", "-qnE99", "a", "true"), 99)

    def test_it_gets_the_lock_when_it_is_released(self):
        token = self.hold("a")
        run = self.start("run", "a", "echo", "ran")
        self.assertRegex(run.stderr.readline(), r"a: waiting: held by web3:"
                         r"4121:report\.sh for another ")
        self.assertExit(self.quorlock("release", "a", token), 0)
        self.assertEqual(run.wait(PATIENCE), 0)
        self.assertEqual(run.stdout.read(), "ran\n")
        self.assertEqual(run.stderr.read(), "")

    def test_it_gets_the_lock_when_it_ends(self):
        self.hold("a", ttl="1s")
        self.assertEqual(self.quorlock("run", "-q", "a", "true").returncode, 0)

    def test_a_long_retry_delay_does_not_spin(self):
        self.hold("a")
        run = self.start("run", "--retry-delay", "1h", "a", "true")
        self.assertRegex(run.stderr.readline(), "held by web3")
        before = self.servers[0].command("INFO", "commandstats")
        end = boot_ms() + 3000
        eventually(lambda: boot_ms() > end, "time")
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(PATIENCE), 143)
        after = self.servers[0].command("INFO", "commandstats")
        calls = [int(text.partition("cmdstat_set:calls=")[2].split(",")[0])
                 for text in (before, after) if "cmdstat_set" in text]
        self.assertTrue(all(count < 5 for count in calls), calls)

    def test_one_line_at_the_end_in_json(self):
        self.hold("a")
        result = self.quorlock("run", "-n", "--json", "a", "true")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(json.loads(result.stderr)["exit_code"], 1)


class Interrupted(Case):
    nodes = 3

    def check(self, verb, number):
        before = len(self.holders("a"))
        run = self.start(verb, "a", *(["true"] if verb == "run" else []))
        run.stderr.readline()
        run.send_signal(number)
        self.assertEqual(run.wait(PATIENCE), 128 + number)
        self.assertEqual(run.stdout.read(), "")
        self.assertEqual(len(self.holders("a")), before)

    def test_every_signal_ends_the_waiting(self):
        self.hold("a")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP,
                       signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2):
            self.check("run", number)
        self.check("acquire", signal.SIGTERM)

    def test_a_split_vote_is_tidied_up(self):
        """One node is free, so each attempt leaves a key there for a while."""
        for server in self.servers[:2]:
            server.command("SET", "a", "x someone", "PX", 3600000)
        run = self.start("run", "a", "true")
        run.stderr.readline()
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(PATIENCE), 143)
        self.assertEqual(self.holders("a"), ["x someone"] * 2)

    def test_trap_05_no_key_is_left_whenever_the_signal_comes(self):
        """Signals at many moments: before, in and after the attempt."""
        for step in range(40):
            run = self.start("run", "a", "sleep", "1000")
            try:
                run.wait(step * 0.002)
            except Exception:  # it is to be running still
                pass
            run.send_signal(signal.SIGTERM)
            # Before the signals are blocked it simply dies.
            self.assertIn(run.wait(PATIENCE), (143, -signal.SIGTERM))
            self.assertEqual(self.holders("a"), [], step)
            self.finish(run)


class NodesDown(Case):
    nodes = 3

    def test_which_are_down_is_said_once_and_they_are_waited_for(self):
        self.servers[0].kill()
        self.servers[2].kill()
        run = self.start("run", "a", "echo", "ran")
        lines = [run.stderr.readline() for _ in range(3)]
        self.assertRegex(lines[0], "a: waiting: too few nodes could be used")
        self.assertIn(self.servers[0].url, lines[1])
        self.assertIn(self.servers[2].url, lines[2])
        self.servers[2].start()
        self.assertEqual(run.wait(PATIENCE), 0)
        self.assertEqual(run.stderr.read(), "")
        self.assertEqual(run.stdout.read(), "ran\n")

    def test_the_wait_is_over(self):
        self.servers[0].kill()
        self.servers[2].kill()
        result = self.quorlock("run", "-w", "1.5", "a", "true")
        self.assertExit(result, 69, "a: too few nodes could be used: 1 of 3 "
                        "answered, 2 must agree")

    def test_a_signal_while_they_are_down(self):
        for server in self.servers:
            server.freeze()
        env = self.environment(QUORLOCK_NODE_TIMEOUT="100ms")
        run = self.start("run", "a", "true", env=env)
        run.stderr.readline()
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(PATIENCE), 143)
        for server in self.servers:
            server.thaw()
        eventually(lambda: not self.holders("a"), "no key")

    def test_quiet(self):
        for server in self.servers:
            server.kill()
        self.assertExit(self.quorlock("run", "-q", "-w", "0.5", "a", "true"),
                        69)


class Split(Case):
    nodes = 4

    def test_trap_01_an_even_split_returns(self):
        for server, value in zip(self.servers, ("x", "x", "y", "y")):
            server.command("SET", "a", value, "PX", 3600000)
        result = self.quorlock("run", "-n", "a", "true")
        self.assertIn(result.returncode, (1, 75))
        self.assertIn("a: ", result.stderr)

    def test_hardly_any_validity_is_no_lock(self):
        for server in self.servers:
            server.command("CLIENT", "PAUSE", 6000, "WRITE")
        result = self.quorlock("run", "-n", "--ttl", "7s", "--node-timeout",
                               "30s", "a", "true")
        self.assertExit(result, 75, "no majority in time")
        eventually(lambda: not self.holders("a"), "no key")


class PermanentTrouble(Case):
    nodes = 1

    def test_a_name_of_another_type_is_not_waited_for(self):
        self.servers[0].command("LPUSH", "a", "x")
        self.assertExit(self.quorlock("run", "a", "true"), 78,
                        "wrongtype")

    def test_one_server_twice(self):
        link = self.path("link.sock")
        os.symlink(self.servers[0].path, link)
        result = self.quorlock("acquire", "-w", "2", "-S",
                               self.servers[0].url, "-S", "unix://" + link,
                               "a")
        self.assertExit(result, 78, "duplicate")


if __name__ == "__main__":
    main()
