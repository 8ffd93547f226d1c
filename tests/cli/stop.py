#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The command is stopped before its lock can be somebody else's."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import (PATIENCE, Case, boot_ms, eventually,  # noqa: E402
                     is_alive, json, main)

# Writes the time of each moment in which it could have done harm.
TICKER = """
import os, signal, sys, time
if "setsid" in sys.argv:
    if os.fork():
        os._exit(0)
    os.setsid()
if "deaf" in sys.argv:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
with open(sys.argv[1] + ".pid", "w") as file:
    file.write("%d\\n" % os.getpid())
with open(sys.argv[1], "wb", buffering=0) as file:
    while True:
        file.write(b"%d\\n" % (time.clock_gettime_ns(time.CLOCK_BOOTTIME)
                               // 1000000))
        time.sleep(0.002)
"""


class Stop(Case):
    nodes = 3

    def setUp(self):
        super().setUp()
        with open(self.path("ticker.py"), "w") as file:
            file.write(TICKER)

    def ticker(self, name, *how):
        """The words of a command that ticks into the file `name`."""
        return [sys.executable, self.path("ticker.py"),
                self.path(name)] + list(how)

    def last_tick(self, name):
        return int(self.read(name).splitlines()[-1])

    def kill_servers(self):
        """Returns when the last of them could have renewed anything."""
        for server in self.servers:
            server.kill()
        return boot_ms()

    def wait_for_tick(self, name):
        return eventually(lambda: self.read(name).count("\n") > 2, "a tick")

    def sleep_until(self, end_ms):
        eventually(lambda: boot_ms() >= end_ms, "time")


class NoRenewal(Stop):
    def test_trap_17_deaf_commands_and_grandchildren_die_in_time(self):
        ttl = 8000
        script = "trap '' TERM; %s & exec %s" % (
            " ".join(self.ticker("inner", "deaf", "setsid")),
            " ".join(self.ticker("outer", "deaf")))
        run = self.start("run", "--ttl", "8s", "-c", script, "a")
        self.wait_for_tick("outer")
        self.wait_for_tick("inner")
        until = self.kill_servers() + ttl
        self.assertEqual(run.wait(PATIENCE), 76)
        for name in ("outer", "inner"):
            self.assertFalse(is_alive(self.read_pid(name + ".pid")))
            self.assertLess(self.last_tick(name), until, name)
        said = run.stderr.read()
        self.assertRegex(said, "the command is told to stop")
        self.assertRegex(said, "the command is killed")
        self.assertRegex(said, "a: the lock was lost while the command ran")

    def test_term_comes_first(self):
        run = self.start("run", "--ttl", "3s", "--kill-after", "1s", "-c",
                         "trap 'echo term; exit 0' TERM; echo ready; "
                         "while :; do sleep 0.02; done", "a")
        self.assertEqual(run.stdout.readline(), "ready\n")
        self.kill_servers()
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertEqual(run.stdout.read(), "term\n")

    def test_a_stopped_command_gets_its_term(self):
        run = self.start("run", "--ttl", "3s", "--kill-after", "1500ms", "-c",
                         "trap 'echo term; exit 0' TERM; echo ready; "
                         "kill -STOP $$; while :; do sleep 0.02; done", "a")
        self.assertEqual(run.stdout.readline(), "ready\n")
        self.kill_servers()
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertEqual(run.stdout.read(), "term\n")

    def test_on_lost_kill(self):
        run = self.start("run", "--ttl", "3s", "--on-lost", "kill", "-c",
                         "trap 'echo term; exit 0' TERM; echo ready; "
                         "while :; do sleep 0.02; done", "a")
        self.assertEqual(run.stdout.readline(), "ready\n")
        self.kill_servers()
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertEqual(run.stdout.read(), "")

    def test_on_lost_ignore(self):
        run = self.start("run", "--ttl", "1s", "--on-lost", "ignore", "-c",
                         "echo ready; read x; echo $x", "a", stdin=-1)
        self.assertEqual(run.stdout.readline(), "ready\n")
        self.sleep_until(self.kill_servers() + 1500)
        self.assertIsNone(run.poll())
        run.stdin.write("still here\n")
        run.stdin.close()
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertEqual(run.stdout.read(), "still here\n")

    def test_quiet(self):
        run = self.start("run", "-q", "--ttl", "1s", "a", "sleep", "1000")
        eventually(lambda: self.holders("a"), "the lock")
        self.kill_servers()
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertEqual(run.stderr.read(), "")

    def test_a_full_stderr_does_not_keep_it_from_killing(self):
        """Nobody reads the pipe, and it is full."""
        run = self.start("run", "-v", "--ttl", "2s", "a", "sh", "-c",
                         "yes >&2 2>/dev/null & exec %s" % " ".join(
                             self.ticker("t", "deaf")))
        self.wait_for_tick("t")
        self.kill_servers()
        eventually(lambda: not is_alive(self.read_pid("t.pid")), "its death")

    def test_one_node_of_three_is_no_matter(self):
        run = self.start("run", "--ttl", "1s", "-c", "read x; exit 5", "a",
                         stdin=-1)
        eventually(lambda: len(self.holders("a")) == 3, "the lock")
        self.servers[1].kill()
        self.sleep_until(boot_ms() + 2500)
        run.stdin.close()
        self.assertEqual(run.wait(PATIENCE), 5)
        self.assertEqual(run.stderr.read(), "")
        self.assertEqual(self.holders("a"), [])


class Taken(Stop):
    def test_a_foreign_majority_is_met_at_once(self):
        run = self.start("run", "--ttl", "6s", "-c",
                         "trap 'echo term; exit 0' TERM; echo ready; "
                         "while :; do sleep 0.02; done", "a")
        self.assertEqual(run.stdout.readline(), "ready\n")
        for server in self.servers:
            server.command("SET", "a", "0000 intruder", "PX", 3600000)
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertEqual(run.stdout.read(), "term\n")
        self.assertEqual(self.holders("a"), ["0000 intruder"] * 3)

    def test_servers_that_forgot(self):
        run = self.start("run", "--ttl", "3s", "--on-lost", "kill", "a",
                         *self.ticker("t", "deaf"))
        self.wait_for_tick("t")
        for server in self.servers:
            server.command("FLUSHALL")
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertFalse(is_alive(self.read_pid("t.pid")))
        self.assertEqual(self.holders("a"), [])

    def test_max_hold(self):
        began = boot_ms()
        run = self.start("run", "--max-hold", "2s", "--ttl", "1s", "a",
                         *self.ticker("t", "deaf"))
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertGreater(boot_ms() - began, 1000)
        self.assertRegex(run.stderr.read(), "--max-hold")
        self.assertFalse(is_alive(self.read_pid("t.pid")))
        eventually(lambda: not self.holders("a"), "no key")

    def test_in_json(self):
        result = self.quorlock("run", "--json", "--max-hold", "1s", "a",
                               "sleep", "1000")
        self.assertExit(result, 76, "told to stop")
        report = json.loads(result.stderr.splitlines()[-1])
        self.assertEqual((report["result"], report["exit_code"]),
                         ("QL_E_CAP", 76))

    def test_max_hold_shorter_than_the_ttl(self):
        run = self.start("run", "--max-hold", "1s", "a", "sleep", "1000")
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertRegex(run.stderr.read(), "--max-hold")


class Ourselves(Stop):
    def test_killed(self):
        run = self.start("run", "a", *self.ticker("t", "deaf"))
        self.wait_for_tick("t")
        run.kill()
        run.wait()
        eventually(lambda: not is_alive(self.read_pid("t.pid")), "its death")

    def test_trap_16_stopped_past_the_ttl(self):
        run = self.start("run", "--ttl", "1s", "a", *self.ticker("t", "deaf"))
        self.wait_for_tick("t")
        run.send_signal(signal.SIGSTOP)
        self.sleep_until(boot_ms() + 1500)
        run.send_signal(signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertFalse(is_alive(self.read_pid("t.pid")))
        self.assertNotIn("told to stop", run.stderr.read())

    def test_trap_16_stopped_past_the_ttl_and_taken_by_another(self):
        run = self.start("run", "--ttl", "1s", "a", *self.ticker("t"))
        self.wait_for_tick("t")
        run.send_signal(signal.SIGSTOP)
        eventually(lambda: not self.holders("a"), "an end of the lock")
        self.hold("a")
        run.send_signal(signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertEqual(len(self.holders("a")), 3)

    def test_trap_18_both_at_once_is_a_loss(self):
        run = self.start("run", "--ttl", "1s", "-c", "echo ready; read x", "a",
                         stdin=-1)
        self.assertEqual(run.stdout.readline(), "ready\n")
        run.send_signal(signal.SIGSTOP)
        run.stdin.write("x\n")
        run.stdin.close()
        self.sleep_until(boot_ms() + 1500)
        run.send_signal(signal.SIGCONT)
        self.assertEqual(run.wait(PATIENCE), 76)

    def test_a_chain_of_orphans_is_found(self):
        """Each one is a session of its own, and its parent is gone."""
        script = "import os,time\n" \
                 "for i in range(5):\n" \
                 "    if os.fork(): os._exit(0)\n" \
                 "    os.setsid()\n" \
                 "open('%s','w').write('%%d\\n' %% os.getpid())\n" \
                 "time.sleep(1000)" % self.path("pid")
        run = self.start("run", "--ttl", "1500ms", "a", sys.executable, "-c",
                         script)
        pid = self.read_pid("pid")
        self.kill_servers()
        self.assertEqual(run.wait(PATIENCE), 76)
        self.assertFalse(is_alive(pid))


if __name__ == "__main__":
    main()
