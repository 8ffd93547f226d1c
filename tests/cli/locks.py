#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The guarded level: what locking verbs tell of it, list and force-release."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from groups import Group  # noqa: E402
from harness import PATIENCE, QUORLOCK, eventually, json, main  # noqa: E402

LABEL = "web3:4121:report.sh"


class Locks(Group):
    limits = ("--max-ttl", "2h", "--clock-slack", "2s")

    def hold(self, name, ttl="1h", label=LABEL, level="guarded"):
        result = self.verb("acquire", "--level", level, "--ttl", ttl,
                           "--label", label, name)
        self.assertExit(result, 0)
        return result.stdout.strip()


class Level(Locks):
    def acquire(self, *args):
        return self.verb("acquire", "--level", "guarded", *args)

    def test_the_command_is_told_the_fencing_token(self):
        fences = []
        for _ in range(3):
            result = self.verb("run", "--level", "guarded", "a", "sh", "-c",
                               "echo $QUORLOCK_FENCE; env")
            self.assertExit(result, 0)
            fences.append(int(result.stdout.split("\n")[0]))
            self.assertNotIn("QUORLOCK_OWNER_DIED", result.stdout)
        self.assertEqual(fences, sorted(set(fences)))
        self.assertLess(max(fences), 2 ** 53)

    def test_what_an_outer_lock_set_is_not_inherited(self):
        result = self.verb("run", "a", "env", QUORLOCK_FENCE="1",
                           QUORLOCK_OWNER_DIED="1")
        self.assertExit(result, 0)
        self.assertNotIn("QUORLOCK_FENCE", result.stdout)
        self.assertNotIn("QUORLOCK_OWNER_DIED", result.stdout)
        result = self.verb("run", "--level", "guarded", "a", QUORLOCK, "run",
                           "b", "env")
        self.assertExit(result, 0)
        self.assertNotIn("QUORLOCK_FENCE", result.stdout)

    def test_all_levels_exclude_each_other(self):
        levels = ("plain", "guarded", "strict")
        for first in levels:
            token = self.hold("a", level=first)
            for second in levels:
                self.assertExit(self.verb("acquire", "-n", "--level", second,
                                          "a"), 1, "held by " + LABEL)
            self.assertExit(self.verb("release", "--level", first, "a",
                                      token), 0)

    def test_by_the_environment(self):
        result = self.verb("run", "a", "env", QUORLOCK_LEVEL="strict")
        self.assertIn("QUORLOCK_FENCE=", result.stdout)
        result = self.verb("run", "--level", "plain", "a", "env",
                           QUORLOCK_LEVEL="strict")
        self.assertNotIn("QUORLOCK_FENCE=", result.stdout)
        self.assertExit(self.verb("run", "a", "true", QUORLOCK_LEVEL="high"),
                        78, "QUORLOCK_LEVEL is none of the choices")

    def test_json(self):
        report = json.loads(self.acquire("--json", "a").stdout)
        self.assertGreater(report["fence"], 0)
        self.assertIs(report["owner_died"], False)
        extended = json.loads(self.verb(
            "extend", "--level", "guarded", "--json", "a",
            report["token"]).stdout)
        self.assertEqual(extended["fence"], report["fence"])
        plain = json.loads(self.verb("acquire", "--json", "b").stdout)
        self.assertIsNone(plain["fence"])

    def shell(self, script, **changes):
        return subprocess.run(["sh", "-c", script], text=True,
                              env=self.environment(Q=QUORLOCK, **changes),
                              capture_output=True, timeout=PATIENCE)

    def test_variables_for_a_shell(self):
        script = (
            'set=$("$Q" acquire --level guarded --env "$1") || exit 9\n'
            'eval "$set"\n'
            '"$Q" release --level guarded "$QUORLOCK_NAME" "$QUORLOCK_TOKEN" ||'
            ' exit 8\n'
            'printf "%s|%s|%s" "$QUORLOCK_NAME" "$QUORLOCK_FENCE" '
            '"$QUORLOCK_OWNER_DIED"\n')
        for name in ("a", "two words", "it's", "$(exit 3)", 'x"y', "`z`\n;"):
            result = self.shell('set -- "$NAME"\n' + script, NAME=name,
                                QUORLOCK_FENCE="1", QUORLOCK_OWNER_DIED="1")
            self.assertEqual(result.returncode, 0, result)
            self.assertRegex(result.stdout, r"\A(?s:.*)\|\d{10,}\|\Z")
            self.assertEqual(result.stdout.split("|")[0], name)
        self.hold("a")
        result = self.shell("set -- a\n" + script.replace("acquire", "acquire "
                                                          "-n"))
        self.assertEqual(result.returncode, 9)

    def test_variables_of_the_plain_level(self):
        result = self.verb("acquire", "--env", "a")
        self.assertExit(result, 0)
        self.assertIn("QUORLOCK_FENCE=\nQUORLOCK_OWNER_DIED=\n", result.stdout)

    def test_the_holder_before_died(self):
        other = self.more()
        self.assertExit(self.verb("init", "--clock-slack", "50ms",
                                  servers=[other]), 0)
        self.verb("acquire", "--level", "guarded", "--ttl", "100ms", "a",
                  servers=[other])
        died = "the holder before ended without releasing: what the lock"
        result = self.verb("run", "--level", "guarded", "--ttl", "1s", "a",
                           "sh", "-c", "echo died $QUORLOCK_OWNER_DIED",
                           servers=[other])
        self.assertExit(result, 0, died)
        self.assertEqual(result.stdout, "died 1\n")
        # It was released since, so this is over.
        result = self.verb("acquire", "--level", "guarded", "--ttl", "100ms",
                           "--json", "a", servers=[other])
        self.assertExit(result, 0)
        self.assertIs(json.loads(result.stdout)["owner_died"], False)
        result = self.verb("acquire", "--level", "guarded", "--json", "-q",
                           "a", servers=[other])
        self.assertExit(result, 0)
        self.assertIs(json.loads(result.stdout)["owner_died"], True)

    def test_lock_delay(self):
        other = self.more()
        self.assertExit(self.verb("init", "--clock-slack", "10ms",
                                  servers=[other]), 0)
        began = time.monotonic()
        self.verb("acquire", "--level", "guarded", "--ttl", "100ms",
                  "--lock-delay", "3s", "a", servers=[other])
        self.assertExit(self.verb("run", "-q", "--level", "guarded", "a",
                                  "true", servers=[other]), 0)
        self.assertGreaterEqual(time.monotonic() - began, 3)
        self.assertExit(self.verb("run", "--lock-delay", "3s", "a", "true"), 64,
                        "--lock-delay needs --level guarded")

    def test_a_name_that_is_ours(self):
        for args in (["acquire", "quorlock:node"], ["status", "quorlock:x"]):
            self.assertExit(self.verb(args[0], "--level", "guarded", args[1]),
                            64, "not .*begin with quorlock:")

    def test_a_ttl_that_is_too_long(self):
        self.assertExit(self.acquire("--ttl", "3h", "a"), 78, "ttl")

    def test_dev_is_a_group(self):
        result = self.quorlock("dev", "-n", "3", "--", QUORLOCK, "run",
                               "--level", "guarded", "a", "sh", "-c",
                               "echo $QUORLOCK_FENCE",
                               env=self.environment(QUORLOCK_PASSWORD="x",
                                                    QUORLOCK_SERVERS=None,
                                                    TMPDIR=self.directory))
        self.assertEqual(result.returncode, 77)  # the command's own password
        result = self.quorlock("dev", "-n", "3", "--", QUORLOCK, "run",
                               "--level", "strict", "a", "sh", "-c",
                               "echo $QUORLOCK_FENCE",
                               env=self.environment(QUORLOCK_SERVERS=None,
                                                    TMPDIR=self.directory))
        self.assertExit(result, 0)
        self.assertRegex(result.stdout, r"\A\d+\n\Z")


class Status(Locks):
    def status(self, code, *args):
        result = self.verb("status", "--level", "guarded", *args, "a")
        self.assertExit(result, code)
        return result.stdout

    def test_held(self):
        self.hold("a")
        lines = self.status(1).splitlines()
        fence = json.loads(self.status(1, "--json"))["fence"]
        self.assertRegex(lines[0], r"^a: held by %s for another (59|60) min "
                         r".*, fence %d \(3 of 3 nodes\)$" % (LABEL, fence))
        for server, line in zip(self.servers, lines[1:]):
            self.assertRegex(line, r"^  %s +held .* %d  held +%s$" %
                             (server.url, fence, LABEL))
        self.assertEqual(len(lines), 4)

    def test_free(self):
        self.assertTrue(self.status(0).startswith("a: free\n"))
        token = self.hold("a")
        self.verb("release", "--level", "guarded", "a", token)
        self.assertEqual([node["record"] for node in json.loads(
            self.status(0, "--json"))["nodes"]], ["released"] * 3)
        self.assertEqual(self.status(0, "-q"), "")

    def test_a_plain_lock(self):
        self.hold("a", level="plain")
        report = json.loads(self.status(1, "--json"))
        self.assertEqual((report["state"], report["fence"],
                          report["holder"]["label"]), ("held", None, LABEL))
        self.assertEqual({node["record"] for node in report["nodes"]},
                         {"plain"})

    def test_nodes_that_disagree(self):
        self.hold("a")
        self.servers[0].command("DEL", "a", "quorlock:lock:{a}")
        self.servers[0].command("SET", "a", "x somebody", "PX", "100000")
        text = self.status(1)
        self.assertIn("(2 of 3 nodes)", text)
        self.assertIn("the nodes disagree: 2 have this holder, 1 another one, "
                      "0 nobody\n", text)
        self.servers[1].command("DEL", "a", "quorlock:lock:{a}")
        self.assertIn("a: split: no holder has a majority of the 3 nodes",
                      self.status(75))

    def test_fences_that_disagree(self):
        token = self.hold("a")
        value = self.servers[0].command("GET", "quorlock:lock:{a}").split()
        self.assertEqual(value[0], token)
        value[2] = str(int(value[2]) + 1)
        self.servers[0].command("SET", "quorlock:lock:{a}", " ".join(value))
        self.assertIn("; 2 of 3 have this fence\n", self.status(1))

    def test_too_few_nodes(self):
        for server in self.servers[:2]:
            server.kill()
        text = self.status(69)
        self.assertIn("a: cannot tell: 1 of 3 nodes answered, 2 must", text)
        self.assertRegex(text, r"0\.sock +(refused|connection) ")


class Listed(Locks):
    def list(self, *args, **changes):
        result = self.verb("list", *args, **changes)
        self.assertExit(result, 0)
        return result.stdout

    def names(self, *args):
        report = json.loads(self.list("--json", *args))
        self.assertEqual(report["searched"], 3)
        return [lock["name"] for lock in report["locks"]]

    def test_none(self):
        self.assertEqual(self.list(), "")
        self.assertEqual(self.names(), [])

    def test_of_all_levels(self):
        self.hold("b", level="plain")
        self.hold("a")
        self.hold("{tag}c")
        lines = self.list().splitlines()
        self.assertRegex(lines[0], r"^a: held by %s for another \d+ min .*, "
                         r"fence \d+ \(3 of 3 nodes\)$" % LABEL)
        self.assertRegex(lines[1], r"^b: held by %s for another \d+ min [0-9]+ "
                         r"s \(3 of 3 nodes\)$" % LABEL)
        self.assertRegex(lines[2], r"^\{tag\}c: held by")
        self.assertEqual(len(lines), 3)

    def test_by_prefix(self):
        for name in ("job-1", "job-2", "other", "j*b", "jobs?"):
            self.hold(name)
        self.assertEqual(self.names("job"), ["job-1", "job-2", "jobs?"])
        self.assertEqual(self.names("j*"), ["j*b"])
        self.assertEqual(self.names("jobs?"), ["jobs?"])
        self.assertEqual(self.names("[j]"), [])

    def test_not_what_is_no_lock(self):
        token = self.hold("gone")
        self.verb("release", "--level", "guarded", "gone", token)
        for server in self.servers:
            server.command("SET", "data", "0123456789")
            server.command("SET", "hex", "0123456789abcdef" * 3)
            server.command("LPUSH", "queue", "x")
            server.command("SET", "quorlock:lock:{bad}", "x")
            server.command("SET", "quorlock:x", "f" * 40)
        self.assertEqual(self.names(), [])

    def test_a_lock_whose_plain_key_is_gone(self):
        self.hold("a")
        for server in self.servers:
            server.command("DEL", "a")
            # What is known of holders before may stand behind it.
            record = server.command("GET", "quorlock:lock:{a}")
            server.command("SET", "quorlock:lock:{b}", record + " old 3")
            server.command("SET", "quorlock:lock:{c}", record.replace(
                "held", "released"))
        self.assertEqual(self.names(), ["a", "b"])

    def test_split(self):
        self.hold("a")
        for server, owner in zip(self.servers, "xyz"):
            server.command("DEL", "a", "quorlock:lock:{a}")
            server.command("SET", "a", "%040x %s" % (ord(owner), owner), "PX",
                           "100000")
        self.assertRegex(self.list(), r"\Aa: split: [xyz] has it on 1 of 3 "
                         r"nodes, others on 2\n\Z")
        report = json.loads(self.list("--json"))
        self.assertEqual(report["locks"][0]["state"], "split")

    def test_on_a_minority(self):
        self.hold("a")
        for server in self.servers[:2]:
            server.command("DEL", "a", "quorlock:lock:{a}")
        self.assertRegex(self.list(), r"\Aa: split: %s has it on 1 of 3 nodes, "
                         r"others on 0\n\Z" % LABEL)

    def test_many(self):
        # A pass takes several rounds; each is found once.
        for server in self.servers:
            for start in range(0, 5000, 500):
                server.command("MSET", *[
                    word for number in range(start, start + 500)
                    for word in ("n%04d" % number, "%040x me" % number)])
        names = self.names("n4")
        self.assertEqual(names, ["n%04d" % n for n in range(4000, 5000)])

    def test_a_node_that_is_down(self):
        self.hold("a")
        self.servers[0].kill()
        result = self.verb("list")
        self.assertExit(result, 0, r"0\.sock: not searched: \w+ \(.*\)\n\Z")
        self.assertIn("a: held by", result.stdout)
        self.assertIn("(2 of 3 nodes)", result.stdout)
        self.servers[1].kill()
        self.assertExit(self.verb("list"), 69,
                        "1 of 3 nodes could be searched, 2 must be")

    def test_without_the_right(self):
        for server in self.servers:
            server.command("ACL", "SETUSER", "ann", "on", "nopass", "~*",
                           "+@all", "-scan")
        result = self.verb("list", QUORLOCK_USER="ann", QUORLOCK_PASSWORD="x")
        self.assertExit(result, 77, "not searched: noperm .*scan")

    def test_names_that_are_no_words(self):
        self.hold("line\nline")
        self.assertEqual(self.list().count("\n"), 1)


class Forced(Locks):
    def force(self, *args, **changes):
        return self.verb("force-release", *args, **changes)

    def test_asks_first(self):
        self.hold("a")
        result = self.force("a")
        self.assertExit(result, 64, r"a: held by %s for another .*, fence \d+ "
                        r"\(3 of 3 nodes\)\n.*its holder is not told.*\n.*add "
                        "--yes" % LABEL)
        self.assertEqual(len(self.holders("a")), 3)

    def test_takes_it_away(self):
        for level in ("guarded", "plain"):
            token = self.hold("a", level=level)
            result = self.force("--yes", "a")
            self.assertExit(result, 0, LABEL + r".*\n.*a: released on 3 of 3 "
                            "nodes; now free")
            self.assertEqual(self.holders("a"), [])
            result = self.verb("extend", "--level", level, "a", token)
            self.assertExit(result, 1, "not extended")
        self.hold("a")
        self.assertExit(self.force("-y", "-q", "a"), 0)

    def test_the_number_is_not_forgotten(self):
        first = json.loads(self.verb("acquire", "--level", "guarded", "--json",
                                     "a").stdout)["fence"]
        self.assertEqual(self.force("--yes", "a").returncode, 0)
        self.assertEqual(self.servers[0].command(
            "GET", "quorlock:lock:{a}").split()[2:4], [str(first), "released"])
        result = self.verb("acquire", "--level", "guarded", "--json", "a")
        self.assertExit(result, 0)
        report = json.loads(result.stdout)
        self.assertGreater(report["fence"], first)
        self.assertIs(report["owner_died"], False)

    def test_a_running_holder_loses_it(self):
        run = self.start("run", "--level", "guarded", "--ttl", "1s", "a", "sh",
                         "-c", "echo begun; exec sleep %d" % PATIENCE)
        self.assertEqual(run.stdout.readline(), "begun\n")
        self.assertEqual(self.force("--yes", "a").returncode, 0)
        self.assertEqual(run.wait(PATIENCE), 76)
        eventually(lambda: self.verb("status", "a").returncode == 0,
                   "a lock that is free")

    def test_json(self):
        self.hold("a")
        result = self.force("--yes", "--json", "a")
        self.assertEqual(result.returncode, 0)
        report = json.loads(result.stdout)
        self.assertEqual((report["released"], report["state"],
                          report["exit_code"]), (3, "free", 0))

    def test_nobody_holds_it(self):
        self.assertExit(self.force("--yes", "a"), 1, "a: nobody holds it")

    def test_split(self):
        for server, owner in zip(self.servers, "xyz"):
            server.command("SET", "a", owner * 40, "PX", "1000000")
        result = self.force("--yes", "a")
        self.assertExit(result, 0, r"split: .*\n.*0\.sock: held by x+\n.*"
                        r"1\.sock: held by y+\n.*2\.sock: held by z+\n")
        self.assertEqual(self.holders("a"), [])

    def test_data_is_left_alone(self):
        for server in self.servers:
            server.command("SET", "a", "x" * 1000)
        self.assertExit(self.force("--yes", "a"), 78, "holds something that is "
                        "no lock: nothing was changed")
        self.assertEqual(len(self.holders("a")), 3)
        for server in self.servers:
            server.command("LPUSH", "b", "x")
        result = self.force("--yes", "b")
        self.assertExit(result, 69)
        self.assertIn("wrongtype", result.stdout)
        self.assertEqual(self.servers[0].command("LLEN", "b"), 1)

    def test_a_node_that_is_down(self):
        self.hold("a")
        self.servers[0].freeze()
        result = self.force("--yes", "a")
        self.servers[0].thaw()
        self.assertExit(result, 0, r"0\.sock: not released: \w+ \(.*\)\n.*"
                        "released on 2 of 3 nodes; now free")
        for server in self.servers[:2]:
            server.freeze()
        result = self.force("--yes", "b")
        for server in self.servers[:2]:
            server.thaw()
        self.assertExit(result, 69)

    def test_usage(self):
        self.assertExit(self.force(), 64, "too few arguments")
        self.assertExit(self.force("a", "b"), 64, "too many arguments")


if __name__ == "__main__":
    main()
