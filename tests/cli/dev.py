#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""dev: private servers, and nothing left of them afterwards."""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import (PATIENCE, QUORLOCK, SERVER, Case,  # noqa: E402
                     eventually, is_alive, main)

SHOW = "echo $QUORLOCK_DEV_DIR; echo $QUORLOCK_DEV_PIDS; " \
       "echo $QUORLOCK_SERVERS"


class Dev(Case):
    def environment(self, **changes):
        return super().environment(**dict({"TMPDIR": self.directory},
                                          **changes))

    def show(self, stream):
        """What SHOW prints: the directory, process ids and URLs."""
        directory = stream.readline().strip()
        pids = [int(pid) for pid in stream.readline().split()]
        return directory, pids, stream.readline().strip().split(",")

    def assertGone(self, directory, pids):
        eventually(lambda: not os.path.exists(directory), "no directory")
        eventually(lambda: not any(map(is_alive, pids)), "no servers")
        self.assertEqual(
            [name for name in os.listdir(self.directory)
             if name.startswith("quorlock-dev")], [])

    def test_servers_for_a_command(self):
        dev = self.start("dev", "--", "sh", "-c", SHOW + "; ls -ld $QUORLOCK_"
                         "DEV_DIR; %s run a %s status a" % (QUORLOCK,
                                                            QUORLOCK))
        directory, pids, urls = self.show(dev.stdout)
        self.assertEqual((len(pids), len(urls)), (5, 5))
        self.assertTrue(directory.startswith(self.directory))
        text = dev.stdout.read()
        self.assertRegex(text, r"\Adrwx------")
        self.assertRegex(text, r"a: held by \S+:quorlock .*\(5 of 5 nodes\)")
        self.assertEqual(dev.wait(PATIENCE), 1)
        self.assertEqual(dev.stderr.read(), "")
        self.assertGone(directory, pids)

    def test_the_commands_exit_status(self):
        for code in (0, 1, 77):
            result = self.quorlock("dev", "-n1", "sh", "-c", "exit %d" % code)
            self.assertExit(result, code)
        self.assertExit(self.quorlock("dev", "-n", "1", "sh", "-c",
                                      "kill -TERM $$"), 143)
        self.assertExit(self.quorlock("dev", "-n1", "no-such-program"), 127,
                        "no-such-program: No such file")

    def test_the_shell_is_the_default(self):
        result = self.quorlock("dev", "-n", "3", input="echo $QUORLOCK_SERVERS"
                               "\nexit 8\n", env=self.environment(
                                   SHELL="/bin/sh"))
        self.assertExit(result, 8, r"\Aquorlock: 3 servers, QUORLOCK_SERVERS")
        self.assertEqual(result.stdout.count("unix://"), 3)

    def test_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            dev = self.start("dev", "-n3", "sh", "-c", SHOW +
                             "; exec sleep 1000")
            directory, pids, _ = self.show(dev.stdout)
            dev.send_signal(number)
            self.assertEqual(dev.wait(PATIENCE), 128 + number)
            self.assertGone(directory, pids)

    def test_a_deaf_command_is_killed_in_the_end(self):
        dev = self.start("dev", "-n1", "sh", "-c", "trap '' TERM; " + SHOW +
                         "; while :; do sleep 0.1; done")
        directory, pids, _ = self.show(dev.stdout)
        dev.send_signal(signal.SIGTERM)
        self.assertEqual(dev.wait(PATIENCE), 137)
        self.assertGone(directory, pids)

    def test_killed(self):
        dev = self.start("dev", "-n3", "sh", "-c", "echo $$ >%s; %s; exec "
                         "sleep 1000" % (self.path("pid"), SHOW))
        directory, pids, _ = self.show(dev.stdout)
        pids.append(self.read_pid("pid"))
        dev.kill()
        dev.wait()
        self.assertGone(directory, pids)

    def test_a_server_may_die(self):
        dev = self.start("dev", "--", "sh", "-c", SHOW + "; set -- $QUORLOCK_"
                         "DEV_PIDS; kill -9 $1; kill -9 $2; read x; %s run a "
                         "echo ran" % QUORLOCK, stdin=-1)
        directory, pids, _ = self.show(dev.stdout)
        eventually(lambda: not is_alive(pids[0]) and not is_alive(pids[1]),
                   "their death")
        dev.stdin.close()
        self.assertEqual(dev.stdout.read(), "ran\n")
        self.assertEqual(dev.wait(PATIENCE), 0)
        self.assertGone(directory, pids)

    def test_no_server_program(self):
        result = self.quorlock("dev", "true", env=self.environment(
            PATH="/nonexistent"))
        self.assertExit(result, 69, "apt-get install redis-server")

    def test_a_server_that_does_not_start(self):
        result = self.quorlock("dev", "true", env=self.environment(
            QUORLOCK_SERVER_BINARY="/nonexistent/redis"))
        self.assertExit(result, 69, "/nonexistent/redis: No such file")
        result = self.quorlock("dev", "true", env=self.environment(
            QUORLOCK_SERVER_BINARY="false"))
        self.assertExit(result, 69, "server 1 ended at once")
        self.assertEqual(os.listdir(self.directory), [])

    def test_a_named_server_program(self):
        result = self.quorlock("dev", "-n1", "true", env=self.environment(
            QUORLOCK_SERVER_BINARY=SERVER, PATH="/usr/bin:/bin"))
        self.assertExit(result, 0)

    def test_a_strange_directory_for_temporary_files(self):
        for strange in ("relative", "/tmp/with space", "/tmp/" + "x" * 100):
            result = self.quorlock("dev", "-n1", "sh", "-c",
                                   "echo $QUORLOCK_DEV_DIR",
                                   env=self.environment(TMPDIR=strange))
            self.assertExit(result, 0)
            self.assertTrue(result.stdout.startswith("/tmp/quorlock-dev-"))
            self.assertFalse(os.path.exists(result.stdout.strip()))


if __name__ == "__main__":
    main()
