#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""acquire, extend, release and status: what they print and how they exit."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import Case, eventually, json, main  # noqa: E402


class OneHolder(Case):
    nodes = 3

    def test_acquire_prints_the_token_and_leaves_the_lock(self):
        result = self.quorlock("acquire", "--label", "me", "a")
        self.assertExit(result, 0)
        self.assertRegex(result.stdout, r"\A[0-9a-f]{40}\n\Z")
        self.assertEqual(self.holders("a"), [result.stdout.strip() + " me"] * 3)

    def test_acquire_json(self):
        result = self.quorlock("acquire", "--json", "--label", "me", "--ttl",
                               "20s", "a")
        self.assertExit(result, 0)
        report = json.loads(result.stdout)
        self.assertEqual(
            (report["name"], report["ttl_ms"], report["label"]),
            ("a", 20000, "me"))
        self.assertRegex(report["token"], "^[0-9a-f]{40}$")
        self.assertLess(report["valid_ms"], 20000)
        self.assertGreater(report["valid_ms"], 0)

    def test_acquire_calls_itself_by_who_called_it(self):
        self.quorlock("acquire", "a")
        self.assertRegex(self.holders("a")[0],
                         r"^[0-9a-f]{40} [^ :]+:%d:\S+$" % os.getpid())

    def test_acquire_releases_a_token_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            result = self.quorlock("acquire", "a", stdout=full)
        self.assertExit(result, 71, "could not be written")
        eventually(lambda: not self.holders("a"), "a released lock")

    def test_acquire_held_by_another(self):
        self.hold("a")
        result = self.quorlock("acquire", "-n", "a")
        self.assertExit(
            result, 1, r"\Aquorlock: a: held by web3:4121:report\.sh for "
            r"another (59|60) min \d+ s\n\Z")
        self.assertEqual(result.stdout, "")

    def test_acquire_failure_in_json_is_on_stderr(self):
        self.hold("a")
        result = self.quorlock("acquire", "-n", "--json", "a")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        report = json.loads(result.stderr)
        self.assertEqual(report["result"], "QL_HELD")
        self.assertEqual(report["exit_code"], 1)
        self.assertEqual(report["holder"]["label"], "web3:4121:report.sh")
        self.assertEqual(len(report["nodes"]), 3)

    def test_quiet_says_nothing(self):
        self.hold("a")
        for args in (["acquire", "-qn", "a"], ["release", "-q", "a", "x"],
                     ["status", "-q", "a"], ["extend", "-q", "a", "x"]):
            result = self.quorlock(*args)
            self.assertExit(result, 1)
            self.assertEqual(result.stdout, "")

    def test_conflict_exit_code(self):
        self.hold("a")
        self.assertExit(self.quorlock("acquire", "-n", "-E", "42", "a"), 42,
                        "held by")
        self.assertExit(self.quorlock("acquire", "-n", "-E0", "a"), 0,
                        "held by")

    def test_extend(self):
        token = self.hold("a", ttl="10s")
        result = self.quorlock("extend", "a", token, "--ttl", "1h")
        self.assertExit(result, 0)
        for server in self.servers:
            self.assertGreater(server.command("PTTL", "a"), 3000000)

    def test_extend_json(self):
        token = self.hold("a")
        result = self.quorlock("extend", "--json", "--ttl", "1h", "a", token)
        self.assertExit(result, 0)
        report = json.loads(result.stdout)
        self.assertEqual((report["result"], report["ttl_ms"]),
                         ("QL_OK", 3600000))
        self.assertGreater(report["valid_ms"], 3000000)

    def test_release(self):
        token = self.hold("a")
        result = self.quorlock("release", "a", token)
        self.assertExit(result, 0)
        self.assertEqual(result.stdout, "")
        self.assertEqual(self.holders("a"), [])

    def test_release_json(self):
        token = self.hold("a")
        result = self.quorlock("release", "--json", "a", token)
        self.assertExit(result, 0)
        self.assertEqual(json.loads(result.stdout)["result"], "QL_OK")

    def test_trap_09_a_foreign_token_releases_nothing(self):
        self.hold("a")
        result = self.quorlock("release", "a", "0" * 40)
        self.assertExit(result, 1, r"not released: this token does not hold "
                        r"it, it is held by web3:4121:report\.sh for another")
        self.assertEqual(len(self.holders("a")), 3)

    def test_a_foreign_token_extends_nothing(self):
        self.hold("a", ttl="100s")
        result = self.quorlock("extend", "a", "0" * 40, "--ttl", "1h")
        self.assertExit(result, 1, "not extended: .* held by web3")
        self.assertLess(self.servers[0].command("PTTL", "a"), 100001)

    def test_trap_10_release_after_the_end_says_that_it_is_nobodys(self):
        token = self.hold("a")
        for server in self.servers:
            server.command("DEL", "a")
        self.assertExit(self.quorlock("release", "a", token), 1,
                        "not released: .*nobody does any more")
        self.assertExit(self.quorlock("extend", "a", token), 1,
                        "not extended: .*nobody does any more")
        self.assertEqual(self.holders("a"), [])

    def test_gone_in_json(self):
        result = self.quorlock("release", "--json", "a", "0" * 40)
        self.assertExit(result, 1)
        self.assertEqual(json.loads(result.stdout)["result"], "QL_GONE")

    def test_status_free(self):
        result = self.quorlock("status", "a")
        self.assertExit(result, 0)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "a: free")
        self.assertEqual([line.split() for line in lines[1:]],
                         [[s.url, "free", "-"] for s in self.servers])

    def test_status_held(self):
        self.hold("a", ttl="100s")
        result = self.quorlock("status", "a")
        self.assertExit(result, 1)
        lines = result.stdout.splitlines()
        self.assertRegex(
            lines[0], r"^a: held by web3:4121:report\.sh for another "
            r"(1 min \d+ s|\d+\.\d s) \(3 of 3 nodes\)$")
        for server, line in zip(self.servers, lines[1:]):
            self.assertRegex(line, r"^  %s +held .* web3:4121:report\.sh$" %
                             server.url)

    def test_status_split(self):
        for server, value in zip(self.servers, ("x", "y", "z")):
            server.command("SET", "a", value, "PX", 100000)
        result = self.quorlock("status", "a")
        self.assertExit(result, 75)
        self.assertRegex(result.stdout, r"\Aa: split: no holder has a majority")

    def test_status_json(self):
        result = self.quorlock("status", "--json", "a")
        self.assertExit(result, 0)
        report = json.loads(result.stdout)
        self.assertEqual((report["state"], report["holder"]), ("free", None))
        self.hold("a")
        report = json.loads(self.quorlock("status", "a", "--json").stdout)
        self.assertEqual(report["state"], "held")
        self.assertEqual(report["holder"]["label"], "web3:4121:report.sh")
        self.assertEqual(report["holder"]["nodes"], 3)
        self.assertEqual({node["verdict"] for node in report["nodes"]},
                         {"held"})

    def test_names_that_are_no_words(self):
        for name in ("two words", "100%s", "line\nline", "-dash", "é"):
            token = self.quorlock("acquire", "--", name).stdout.strip()
            self.assertEqual(len(self.holders(name)), 3, name)
            status = self.quorlock("status", "--", name)
            self.assertEqual(status.returncode, 1)
            self.assertEqual(len(status.stdout.splitlines()), 4)
            self.assertExit(self.quorlock("release", "--", name, token), 0)

    def test_a_name_that_is_no_utf8_in_json(self):
        result = self.quorlock("status", "--json", os.fsdecode(b"a\xff"))
        self.assertExit(result, 0)
        self.assertEqual(json.loads(result.stdout)["name"], "a?")


class Trouble(Case):
    nodes = 5

    def test_two_of_five_frozen(self):
        self.servers[0].freeze()
        self.servers[3].freeze()
        env = self.environment(QUORLOCK_NODE_TIMEOUT="500ms")
        result = self.quorlock("acquire", "-n", "a", env=env)
        self.assertExit(result, 0)
        token = result.stdout.strip()
        self.assertExit(self.quorlock("extend", "a", token, env=env), 0)
        self.assertEqual(self.quorlock("status", "a", env=env).returncode, 1)
        self.assertExit(self.quorlock("release", "a", token, env=env), 0)

    def test_three_of_five_frozen(self):
        token = self.hold("a")
        for server in self.servers[:3]:
            server.freeze()
        env = self.environment(QUORLOCK_NODE_TIMEOUT="200ms")
        for args in (["acquire", "-n", "b"], ["release", "a", token],
                     ["extend", "a", token]):
            result = self.quorlock(*args, env=env)
            self.assertExit(result, 69, "too few nodes")
            for server in self.servers:
                self.assertIn(server.url, result.stderr)
        result = self.quorlock("status", "a", env=env)
        self.assertExit(result, 69)
        self.assertRegex(result.stdout, "^a: cannot tell: ")

    def test_nobody_listens(self):
        for server in self.servers:
            server.kill()
        result = self.quorlock("acquire", "-n", "a")
        self.assertExit(result, 69, r"a: too few nodes could be used: 0 of 5 "
                        r"answered, 3 must agree\n(quorlock:   unix://\S+ +\S+"
                        r" .*\n){5}\Z")
        report = json.loads(
            self.quorlock("acquire", "-n", "--json", "a").stderr)
        self.assertEqual(report["result"], "QL_E_QUORUM")
        self.assertExit(self.quorlock("status", "a"), 69)

    def test_an_unknown_host(self):
        result = self.quorlock("acquire", "-n", "a", "-S",
                               "nowhere.invalid:6379")
        self.assertExit(result, 69, "nowhere.invalid:6379 +resolve")

    def test_the_name_of_another_type(self):
        for server in self.servers:
            server.command("LPUSH", "a", "x")
        self.assertExit(self.quorlock("acquire", "-n", "a"), 78, "wrongtype")
        for server in self.servers:
            self.assertEqual(server.command("LLEN", "a"), 1)

    def test_flags_win_over_the_environment(self):
        result = self.quorlock("status", "a", "-S", self.servers[0].url,
                               "--server=" + self.servers[1].url)
        self.assertExit(result, 0)
        self.assertEqual(len(result.stdout.splitlines()), 3)

    def test_trap_22_a_server_that_evicts_is_warned_of(self):
        self.servers[1].command("CONFIG", "SET", "maxmemory-policy",
                                "allkeys-lru")
        result = self.quorlock("status", "a")
        self.assertExit(
            result, 0, r"\Aquorlock: warning: %s can evict locks "
            r"\(maxmemory-policy allkeys-lru\); set it to noeviction\n\Z" %
            self.servers[1].url)
        self.assertExit(self.quorlock("acquire", "-q", "a"), 0)

    def test_a_replica_is_warned_of(self):
        self.servers[0].command("REPLICAOF", "127.0.0.1", "1")
        result = self.quorlock("status", "a")
        self.assertRegex(result.stderr, "0.sock is a replica|readonly")


class Usage(Case):
    def check(self, code, pattern, *args, **env):
        result = self.quorlock(*args, env=self.environment(
            **dict({"QUORLOCK_SERVERS": "unix:///nowhere"}, **env)))
        self.assertExit(result, code, pattern)
        self.assertEqual(result.stdout, "")

    def test_no_verb(self):
        self.check(64, "quorlock VERB --help")
        self.check(64, "no verb 'steal'", "steal", "a")

    def test_arguments(self):
        self.check(64, "too few arguments", "acquire")
        self.check(64, "too many arguments", "acquire", "a", "b")
        self.check(64, "usage: quorlock release", "release", "a")
        self.check(64, "too few arguments", "run")
        self.check(64, "no command", "run", "a")
        self.check(64, "no command", "run", "a", "--")
        self.check(64, "options go before the name", "run", "a", "-n", "true")
        self.check(64, "not both", "run", "-c", "true", "a", "true")

    def test_options(self):
        self.check(64, "unknown option --frob", "acquire", "--frob", "a")
        self.check(64, "unknown option --wai", "acquire", "--wai=1", "a")
        self.check(64, "unknown option -x", "acquire", "-x", "a")
        self.check(64, "--wait needs a value", "acquire", "a", "-w")
        self.check(64, "--json takes no value", "acquire", "--json=1", "a")
        self.check(64, "'5q' has an unknown unit", "acquire", "-w", "5q", "a")
        self.check(64, "cannot be negative", "acquire", "-w", "-1", "a")
        self.check(64, "too long", "acquire", "--ttl", "25h", "a")
        self.check(64, "too short", "acquire", "--ttl", "0", "a")
        self.check(64, "too large", "acquire", "-E", "256", "a")
        self.check(64, "is no number", "acquire", "-E", "one", "a")
        self.check(64, "none of the choices", "run", "--on-lost", "cry", "a",
                   "true")
        self.check(64, "--ttl", "run", "--ttl", "50ms", "a", "true")
        self.check(64, "--kill-after", "run", "--kill-after", "6s", "a",
                   "true")
        self.check(64, "longer than --max-hold", "run", "--max-hold", "5s",
                   "--hold-min", "6s", "a", "true")
        self.check(64, "at most 87", "acquire", "--label", "x" * 88, "a")
        self.check(64, "no control", "acquire", "--label", "x\ny", "a")
        self.check(64, "1 to 1048576 bytes", "acquire", "")
        self.check(64, "token", "release", "a", "two words")
        self.check(64, "token", "release", "a", "")

    def test_configuration(self):
        self.check(78, "QUORLOCK_TTL has an unknown unit", "acquire", "a",
                   QUORLOCK_TTL="5 apples")
        self.check(78, "QUORLOCK_SERVERS", "acquire", "a",
                   QUORLOCK_SERVERS=None)
        self.check(78, "list of servers", "acquire", "a",
                   QUORLOCK_SERVERS="http://x")
        self.check(78, "nowhere.txt cannot be read: No such file", "acquire",
                   "--password-file", "nowhere.txt", "a")
        self.check(78, "nothing in its first line", "acquire",
                   "--password-file", "/dev/null", "a")

    def test_help(self):
        for args in (["--help"], ["-h"], ["run", "--help"], ["acquire", "-h"],
                     ["extend", "--help"], ["release", "--help"],
                     ["status", "--help"], ["list", "-h"], ["init", "-h"],
                     ["force-release", "-h"], ["members", "-h"],
                     ["check", "-h"], ["dev", "--help"]):
            result = self.quorlock(*args)
            self.assertExit(result, 0)
            self.assertIn("quorlock", result.stdout)
            if len(args) == 1:
                self.assertLessEqual(
                    max(map(len, result.stdout.splitlines())), 80)

    def test_version(self):
        result = self.quorlock("--version")
        self.assertExit(result, 0)
        self.assertRegex(result.stdout, r"\Aquorlock \d+\.\d+\.\d+ ")


if __name__ == "__main__":
    main()
