#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""run: the command under the lock, its surroundings and its exit status."""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import (PATIENCE, QUORLOCK, Case, boot_ms,  # noqa: E402
                     eventually, is_alive, json, main)


class Surroundings(Case):
    nodes = 3

    def test_the_lock_is_held_while_the_command_runs(self):
        result = self.quorlock("run", "a", QUORLOCK, "status", "--json", "a")
        self.assertEqual(result.returncode, 1)
        report = json.loads(result.stdout)
        self.assertEqual(report["holder"]["nodes"], 3)
        self.assertRegex(report["holder"]["label"], r":\d+:quorlock$")
        self.assertEqual(self.holders("a"), [])

    def test_stdout_is_the_commands_alone(self):
        result = self.quorlock("run", "-v", "a", "--", "echo", "one", "--",
                               "-n")
        self.assertExit(result, 0, "acquired after .*\n.*released")
        self.assertEqual(result.stdout, "one -- -n\n")
        self.assertExit(self.quorlock("run", "a", "echo"), 0)

    def test_stdin_passes_through(self):
        result = self.quorlock("run", "a", "cat", input="x" * 1000000)
        self.assertExit(result, 0)
        self.assertEqual(result.stdout, "x" * 1000000)

    def test_stderr_passes_through(self):
        result = self.quorlock("run", "a", "sh", "-c", "echo e >&2")
        self.assertExit(result, 0, r"\Ae\n\Z")

    def test_a_shell_only_on_request(self):
        result = self.quorlock("run", "a", "echo", "$HOME;", "*")
        self.assertEqual(result.stdout, "$HOME; *\n")
        result = self.quorlock("run", "-c", "echo $((1 + 1)); exit 7", "a")
        self.assertExit(result, 7)
        self.assertEqual(result.stdout, "2\n")

    def test_the_environment(self):
        before = boot_ms()
        env = self.environment(QUORLOCK_NAME="old", QUORLOCK_TOKEN="old",
                               QUORLOCK_TTL="20s", OTHER="kept")
        result = self.quorlock("run", "a b", "env", env=env)
        after = boot_ms()
        seen = dict(line.split("=", 1)
                    for line in result.stdout.splitlines() if "=" in line)
        self.assertEqual(seen["QUORLOCK_NAME"], "a b")
        self.assertRegex(seen["QUORLOCK_TOKEN"], "^[0-9a-f]{40}$")
        self.assertEqual(seen["QUORLOCK_TTL_MS"], "20000")
        until = int(seen["QUORLOCK_VALID_UNTIL_MS"])
        self.assertGreater(until, before + 10000)
        self.assertLess(until, after + 20000)
        self.assertEqual(seen["OTHER"], "kept")
        self.assertEqual(result.stdout.count("QUORLOCK_NAME="), 1)
        self.assertEqual(result.stdout.count("QUORLOCK_TOKEN="), 1)

    def test_trap_21_the_inner_lock_wins(self):
        result = self.quorlock("run", "outer", QUORLOCK, "run", "inner", "sh",
                               "-c", "echo $QUORLOCK_NAME $QUORLOCK_TOKEN; " +
                               QUORLOCK + " status --json inner")
        name, token = result.stdout.splitlines()[0].split()
        self.assertEqual(name, "inner")
        report = json.loads(result.stdout.splitlines()[1])
        self.assertEqual(report["holder"]["nodes"], 3)
        self.assertRegex(token, "^[0-9a-f]{40}$")

    def test_no_descriptor_leaks(self):
        result = self.quorlock("run", "a", "ls", "-l", "/proc/self/fd")
        self.assertNotIn("socket", result.stdout)
        self.assertNotIn("anon_inode", result.stdout)
        # 0, 1, 2 and the one that ls reads the directory with.
        self.assertEqual(result.stdout.count(" -> "), 4)

    def test_signals_are_as_they_were(self):
        show = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
        plain = self.quorlock("run", "a", *show).stdout
        self.assertRegex(plain, r"SigBlk:\s0+\nSigIgn:\s0+\n")

        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        result = self.quorlock("run", "a", *show, preexec_fn=ignore)
        self.assertExit(result, 0)
        mask = int(result.stdout.split()[-1], 16)
        self.assertEqual(mask, 1 << signal.SIGCHLD - 1 | 1 << signal.SIGHUP - 1)

    def test_the_commands_group_is_its_own(self):
        result = self.quorlock("run", "a", "ps", "-o", "pid=,pgid=,comm=")
        own = [line.split() for line in result.stdout.splitlines()
               if line.split()[2] == "ps"]
        self.assertTrue(any(pid == group for pid, group, _ in own))

    def test_hold_min(self):
        began = boot_ms()
        result = self.quorlock("run", "--hold-min", "1.5", "a", "true")
        self.assertExit(result, 0)
        self.assertGreaterEqual(boot_ms() - began, 1500)
        self.assertEqual(self.holders("a"), [])

    def test_a_signal_ends_hold_min(self):
        run = self.start("run", "--hold-min", "1h", "a", "sh", "-c",
                         "echo done; exit 3")
        self.assertEqual(run.stdout.readline(), "done\n")
        eventually(lambda: run.poll() is not None or
                   run.send_signal(signal.SIGTERM), "the end")
        self.assertIn(run.returncode, (3, 143))
        self.assertEqual(self.holders("a"), [])

    def test_the_lock_lasts_until_descendants_are_gone(self):
        script = "sh -c 'echo $$ >%s; read x <%s' & exit 5" % (
            self.path("pid"), self.path("fifo"))
        os.mkfifo(self.path("fifo"))
        run = self.start("run", "-v", "--ttl", "1s", "-c", script, "a")
        pid = self.read_pid("pid")
        for _ in range(20):
            run.stderr.readline()
            if "not all that it started" in run.stderr.readline():
                break
        end = boot_ms() + 2500  # longer than the ttl
        eventually(lambda: boot_ms() > end, "time")
        self.assertTrue(is_alive(pid))
        self.assertEqual(len(self.holders("a")), 3)
        with open(self.path("fifo"), "w") as fifo:
            fifo.write("x\n")
        self.assertEqual(run.wait(PATIENCE), 5)
        self.assertEqual(self.holders("a"), [])

    def test_strangers_are_left_alone(self):
        """A script that execs us may have children already."""
        script = "sleep 1000 >&- 2>&- & echo $! >%s; exec %s run a %s" % (
            self.path("pid"), QUORLOCK, "sh -c 'sh -c \"exit 0\" & exit 5'")
        result = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE,
                                env=self.environment(), timeout=PATIENCE)
        pid = self.read_pid("pid")
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.assertEqual(result.returncode, 5)
        self.assertTrue(is_alive(pid))
        self.assertEqual(self.holders("a"), [])

    def test_strangers_survive_a_loss(self):
        script = "sleep 1000 >&- 2>&- & echo $! >%s; exec %s run --ttl 1s " \
                 "--max-hold 1s a sh -c 'setsid sleep 1000 & wait'" % (
                     self.path("pid"), QUORLOCK)
        result = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE,
                                env=self.environment(), timeout=PATIENCE,
                                stderr=subprocess.PIPE)
        pid = self.read_pid("pid")
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.assertEqual(result.returncode, 76)
        self.assertTrue(is_alive(pid))

    def test_it_is_renewed(self):
        run = self.start("run", "--ttl", "600ms", "a", "cat",
                         stdin=-1, env=self.environment())
        end = boot_ms() + 3000
        eventually(lambda: boot_ms() > end, "time")
        self.assertEqual(len(self.holders("a")), 3)
        run.stdin.close()
        self.assertEqual(run.wait(PATIENCE), 0)


class ExitStatus(Case):
    nodes = 1

    def test_the_commands_own(self):
        for code in (0, 1, 2, 69, 76, 126, 200, 255):
            self.assertExit(
                self.quorlock("run", "-c", "exit %d" % code, "a"), code)
            self.assertEqual(self.holders("a"), [])

    def test_128_and_the_signal(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
            self.assertExit(
                self.quorlock("run", "-c", "kill -%d $$" % number, "a"),
                128 + number)

    def test_126_and_127(self):
        os.mkdir(self.path("directory"))
        with open(self.path("plain"), "w") as file:
            file.write("text")
        for code, command in ((127, "no-such-program"),
                              (127, self.path("absent")),
                              (127, self.path("plain") + "/x"),
                              (126, self.path("plain")),
                              (126, self.path("directory"))):
            self.assertExit(self.quorlock("run", "a", command), code,
                            r"\Aquorlock: %s: " % command)
            self.assertEqual(self.holders("a"), [])

    def test_a_failed_release_is_a_warning(self):
        result = self.quorlock(
            "run", "-c", "kill -9 %d; while redis-cli -s %s ping; do :; done "
            ">/dev/null 2>&1" % (self.servers[0].process.pid,
                                 self.servers[0].path), "a")
        self.assertExit(result, 0, r"\Aquorlock: warning: a: not released: .* "
                        r"it ends by itself within \d")

    def test_a_lock_that_was_gone_is_a_warning(self):
        result = self.quorlock(
            "run", "-c", "redis-cli -s %s del a >/dev/null; exit 4" %
            self.servers[0].path, "a")
        self.assertExit(result, 4, "warning: a: the lock was gone before")


class Signals(Case):
    nodes = 3

    def test_signals_are_forwarded(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP,
                       signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
                       signal.SIGWINCH):
            name = number.name[3:]
            run = self.start(
                "run", "a", "bash", "-c", "trap 'echo got; exit 9' %s; "
                "echo ready; while :; do read -t 0.05 <&1; done" % name,
                stdin=-1, stdout=-1)
            self.assertEqual(run.stdout.readline(), "ready\n")
            run.send_signal(number)
            self.assertEqual(run.stdout.readline(), "got\n", name)
            self.assertEqual(run.wait(PATIENCE), 9)
            self.assertEqual(self.holders("a"), [])

    def test_a_command_killed_by_a_forwarded_signal(self):
        run = self.start("run", "a", "sh", "-c", "echo ready; exec sleep 1000")
        run.stdout.readline()
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(PATIENCE), 143)
        self.assertEqual(self.holders("a"), [])

    def test_the_whole_group_gets_it(self):
        run = self.start("run", "a", "sh", "-c",
                         "sleep 1000 & echo $! >%s; wait" % self.path("pid"))
        pid = self.read_pid("pid")
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.wait(PATIENCE), 143)
        eventually(lambda: not is_alive(pid), "the end of a descendant")

    def test_nohup_stays(self):
        run = self.start("run", "a", "sh", "-c", "echo ready; read x",
                         stdin=-1, preexec_fn=lambda: signal.signal(
                             signal.SIGHUP, signal.SIG_IGN))
        run.stdout.readline()
        run.send_signal(signal.SIGHUP)
        run.stdin.write("x\n")
        run.stdin.flush()
        self.assertEqual(run.wait(PATIENCE), 0)

    def test_not_suspended_while_it_holds(self):
        run = self.start("run", "a", "sh", "-c", "echo ready; read x",
                         stdin=-1)
        run.stdout.readline()
        run.send_signal(signal.SIGTSTP)
        self.assertRegex(run.stderr.readline(), "not suspended")
        run.stdin.write("x\n")
        run.stdin.flush()
        self.assertEqual(run.wait(PATIENCE), 0)


if __name__ == "__main__":
    main()
