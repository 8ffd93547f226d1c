#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Passwords: where they come from, and that nobody else gets to see them."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import PATIENCE, Case, eventually, main  # noqa: E402

SECRET = "s3cr3t-Word"


class Secrets(Case):
    nodes = 1
    server_options = ("--requirepass", SECRET)

    def setUp(self):
        super().setUp()
        self.url = "redis://:%s@127.0.0.1:%d" % (SECRET, self.port())

    def port(self):
        """Lets the server listen on a port as well; URLs of sockets have no
        place for a password."""
        for port in range(20000 + os.getpid() % 10000, 32000):
            try:
                self.servers[0].command("CONFIG", "SET", "port", port,
                                        password=SECRET)
                return port
            except RuntimeError:  # taken
                continue
        raise AssertionError("no port is free")

    def keys(self):
        return self.servers[0].command("DBSIZE", password=SECRET)

    def assertSilent(self, result):
        self.assertNotIn(SECRET, result.stdout)
        self.assertNotIn(SECRET, result.stderr)

    def test_from_the_environment(self):
        env = self.environment(QUORLOCK_PASSWORD=SECRET)
        self.assertExit(self.quorlock("run", "a", "true", env=env), 0)

    def test_from_a_file(self):
        with open(self.path("password"), "w") as file:
            file.write(SECRET + "\nmore\n")
        self.assertExit(self.quorlock("run", "--password-file",
                                      self.path("password"), "a", "true"), 0)

    def test_with_a_user(self):
        self.servers[0].command("ACL", "SETUSER", "ann", "on", ">" + SECRET,
                                "~*", "+@all", password=SECRET)
        env = self.environment(QUORLOCK_PASSWORD=SECRET, QUORLOCK_USER="ann")
        self.assertExit(self.quorlock("run", "a", "true", env=env), 0)
        env = self.environment(QUORLOCK_PASSWORD=SECRET)
        self.assertExit(self.quorlock("run", "--user", "ann", "a", "true",
                                      env=env), 0)
        result = self.quorlock("run", "--user", "bob", "a", "true", env=env)
        self.assertExit(result, 77, "noauth")
        self.assertSilent(result)

    def test_none_or_a_wrong_one(self):
        for password in (None, "wrong-" + SECRET):
            for verb in (["run", "a", "true"], ["acquire", "a"],
                         ["release", "a", "x"], ["extend", "a", "x"],
                         ["status", "a"]):
                env = self.environment(QUORLOCK_PASSWORD=password)
                result = self.quorlock(*verb, env=env)
                self.assertEqual(result.returncode, 77, (verb, result))
                self.assertSilent(result)

    def test_missing_rights(self):
        self.servers[0].command("ACL", "SETUSER", "ann", "on", ">" + SECRET,
                                "~other*", "+@all", password=SECRET)
        env = self.environment(QUORLOCK_PASSWORD=SECRET, QUORLOCK_USER="ann")
        self.assertExit(self.quorlock("acquire", "a", env=env), 77, "noperm")

    def test_not_to_be_seen_in_the_command_line(self):
        for form in (["-S", self.url], ["-S" + self.url],
                     ["--server", self.url], ["--server=" + self.url]):
            run = self.start("run", *form, "a", "sh", "-c",
                             "echo ready; read x; exit 0", stdin=-1)
            self.assertEqual(run.stdout.readline(), "ready\n")
            with open("/proc/%d/cmdline" % run.pid) as file:
                line = file.read()
            self.assertNotIn(SECRET, line)
            self.assertIn("127.0.0.1", line)
            self.assertIn("\0a\0sh\0", line)
            run.stdin.close()
            self.assertEqual(run.wait(PATIENCE), 0)

    def test_not_to_be_seen_in_messages(self):
        self.servers[0].command("SET", "a", "x y", password=SECRET)
        for args in (["acquire", "-n", "-v", "-S", self.url, "a"],
                     ["status", "-S", self.url, "a"],
                     ["status", "--json", "-S", self.url, "a"],
                     ["status", "-S", self.url + "/x", "a"],
                     ["status", "-S", self.url + ":x", "a"],
                     ["status", "-S", self.url.replace("redis", "http"), "a"],
                     ["status", "-S", "%s@127.0.0.1" % SECRET, "a"],
                     ["status", "-S", self.url, "--frob", "a"]):
            result = self.quorlock(*args)
            self.assertSilent(result)
            self.assertNotIn("Traceback", result.stderr)

    def test_the_wrong_password_of_a_url(self):
        result = self.quorlock("acquire", "a", "-S",
                               self.url.replace(":" + SECRET, ":bad-pass"))
        self.assertExit(result, 77, "noauth")
        self.assertNotIn("bad-pass", result.stderr)

    def test_the_lock_is_taken_by_the_url(self):
        self.assertExit(self.quorlock("acquire", "-S", self.url, "a"), 0)
        eventually(lambda: self.keys() == 1, "a key")


if __name__ == "__main__":
    main()
