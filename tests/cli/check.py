#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check: what it sees, what it concludes, and that its least rights will do."""
import glob
import os
import re
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from groups import Group  # noqa: E402
from harness import decode, encode, eventually, json, main  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Checks(Group):
    def check(self, code, *args, servers=None, **changes):
        result = self.verb("check", "--json", *args, servers=servers, **changes)
        self.assertEqual((result.returncode, result.stderr), (code, ""), result)
        report = json.loads(result.stdout)
        self.assertEqual(report["exit_code"], code)
        self.assertEqual(report["verdict"],
                         ("sound", "weakened", "unsafe")[code])
        return report

    def found(self, report, level=None):
        return [finding["text"] for finding in report["findings"]
                if level in (None, finding["level"])]

    def assertFound(self, report, level, pattern):
        found = self.found(report, level)
        self.assertTrue(any(re.search(pattern, text) for text in found),
                        (pattern, report["findings"]))


class Sound(Checks):
    def test_a_good_group(self):
        report = self.check(0)
        self.assertEqual(report["findings"], [])
        self.assertEqual((report["votes"], report["quorum"]), (3, 2))
        for server, node in zip(self.servers, report["nodes"]):
            info = server.command("INFO", "server")
            self.assertEqual(node["address"], server.url)
            self.assertIn("run_id:" + node["run_id"], info)
            self.assertIn(node["server"] + "_version:" + node["version"], info)
            self.assertEqual((node["verdict"], node["state"], node["keeps"],
                              node["eviction"], node["epoch"]),
                             ("granted", "ready", "nothing", "noeviction", 1))
            self.assertLess(abs(node["clock_offset_us"]), 500000)
            self.assertGreaterEqual(node["round_trip_us"], 0)
            self.assertEqual(node["rights_missing"], [])

    def test_it_leaves_nothing(self):
        before = [server.command("KEYS", "*") for server in self.servers]
        self.check(0)
        self.assertEqual(before, [["quorlock:node"]] * 3)
        self.assertEqual(before, [server.command("KEYS", "*")
                                  for server in self.servers])

    def test_for_people(self):
        result = self.verb("check")
        self.assertExit(result, 0)
        for server in self.servers:
            self.assertIn("%s: votes\n" % server.url, result.stdout)
        for pattern in (r"  (Redis|Valkey) \d+\.\d+\.\d+, master, up .*, run ",
                        "keeps nothing: after a restart it does not vote",
                        r"clock [+-]\d+\.\d ms off the median, rate [+-]\d+ ",
                        "record: ready", "  3 can vote, 2 must",
                        "ACL SETUSER NAME on >PASSWORD resetkeys ~quorlock",
                        "verdict: sound\n  promised: one holder at a time, and "
                        "fencing tokens that only grow;\n    1 more node may "
                        "fail, forget, or have a wrong clock"):
            self.assertRegex(result.stdout, pattern)
        result = self.verb("check", "-q")
        self.assertExit(result, 0)
        self.assertEqual(result.stdout, "")

    def test_what_it_keeps(self):
        os.mkdir(self.path("aof"))
        server = self.more("--dir", self.path("aof"), "--appendonly", "yes",
                           "--appendfsync", "always")
        for settings, keeps in (
                ((), "all"), (("no-appendfsync-on-rewrite", "yes"), "most"),
                (("appendfsync", "everysec"), "most"),
                (("appendonly", "no"), "nothing"),
                (("save", "60 1"), "snapshots")):
            if settings:
                server.command("CONFIG", "SET", *settings)
            node = self.check(1, servers=[server])["nodes"][0]
            self.assertEqual(node["keeps"], keeps)
        self.assertIn("after a restart it may give away a lock that is held",
                      self.verb("check", servers=[server]).stdout)


class Weakened(Checks):
    def test_no_group(self):
        servers = [self.more() for _ in range(3)]
        report = self.check(1, servers=servers)
        self.assertFalse(report["initialised"])
        self.assertFound(report, "weakened", "only the plain level can be "
                         "used.*quorlock init -S " + self.urls(servers))
        result = self.verb("check", servers=servers)
        self.assertIn("promised: one holder at a time, as long as no node "
                      "forgets and no clock is set", result.stdout)

    def test_a_node_that_is_down(self):
        self.servers[0].kill()
        report = self.check(1)
        self.assertFound(report, "weakened", "cannot be used: ")
        self.assertEqual([n["votes"] for n in report["nodes"]],
                         [False, True, True])

    def test_a_node_that_has_forgotten(self):
        self.forget(self.servers[1])
        report = self.check(1)
        self.assertFound(report, "weakened", "does not vote: lost its data")

    def test_a_policy_that_would_evict(self):
        self.servers[1].command("CONFIG", "SET", "maxmemory-policy",
                                "allkeys-lru")
        self.assertFound(self.check(1), "weakened", "would evict locks if "
                         "maxmemory were set: CONFIG SET maxmemory-policy "
                         "noeviction")

    def test_few_nodes_and_even_ones(self):
        other = self.more()
        self.assertExit(self.verb("init", servers=[other]), 0)
        self.assertFound(self.check(1, servers=[other]), "weakened",
                         "with 1 node no failure is survived")
        self.assertExit(self.verb("members", "add", self.more().url), 0)
        members = self.record(self.servers[0])["members"]
        report = self.check(0, QUORLOCK_SERVERS=members)
        self.assertFound(report, "note", "4 nodes survive no more failures")

    def test_another_name(self):
        report = self.check(0, QUORLOCK_SERVERS="%s,%s,%s" % (
            self.servers[0].path, self.servers[1].url, self.servers[2].url))
        self.assertEqual(len(report["findings"]), 1)
        self.assertFound(report, "note", "does not know it under this name: .* "
                         "list it as one of unix://")

    def test_a_slow_node(self):
        report = self.check(1, QUORLOCK_NODE_TIMEOUT="1ms",
                            servers=[Proxy(self, self.servers[0], delay=0.02)] +
                            self.servers[1:])
        self.assertFound(report, "weakened", r"takes \d+\.\d ms to answer, "
                         "which is longer than it is waited for: use "
                         "--node-timeout")

    def test_a_clock_that_is_off(self):
        for off, pattern in (
                (5000000, r"clock is 5\.0\d\d s off the median of all: set it"),
                (-5000000, r"clock is -[45]\.\d\d\d s off the median"),
                (80000, r"clock is 0\.0\d\d s off the median of all, 100 ms "
                        "are allowed")):
            report = self.check(1, servers=[Proxy(self, self.servers[0],
                                                  offset_us=off)] +
                                self.servers[1:])
            self.assertFound(report, "weakened", pattern)

    def test_a_clock_that_runs_wrong(self):
        for rate in (1.05, 0.9, 0):
            report = self.check(1, servers=self.servers[:2] + [
                Proxy(self, self.servers[2], rate=rate)])
            self.assertFound(report, "weakened",
                             "its clock runs at another rate than the others")


class Unsafe(Checks):
    def test_a_majority_is_down(self):
        self.servers[0].kill()
        self.servers[1].kill()
        report = self.check(2)
        self.assertFound(report, "unsafe", "1 of 3 nodes can vote, 2 must: no "
                         "lock can be had")
        result = self.verb("check")
        self.assertIn("verdict: unsafe\n  promised: nothing", result.stdout)

    def test_a_server_that_evicts(self):
        self.servers[1].command("CONFIG", "SET", "maxmemory", "100mb")
        self.servers[1].command("CONFIG", "SET", "maxmemory-policy",
                                "volatile-ttl")
        self.assertFound(self.check(2), "unsafe", "may evict locks: CONFIG SET "
                         r"maxmemory-policy noeviction \(it is volatile-ttl\)")

    def test_a_replica(self):
        self.servers[1].command("REPLICAOF", "127.0.0.1", "1")
        self.assertFound(self.check(2), "unsafe", "is a replica")

    def test_a_promoted_replica(self):
        server = self.more("--port", "0")
        server.command("REPLICAOF", "127.0.0.1", "1")
        server.command("REPLICAOF", "NO", "ONE")
        self.check(1, servers=[server])

    def test_a_cluster(self):
        other = self.more("--cluster-enabled", "yes",
                          "--cluster-config-file", self.path("nodes.conf"))
        report = self.check(2, servers=self.servers[:2] + [other])
        self.assertFound(report, "unsafe", "runs in cluster mode")

    def test_the_same_server_twice(self):
        report = self.check(2, QUORLOCK_SERVERS="%s,%s,%s" % (
            self.servers[0].url, self.servers[1].url, self.servers[0].path))
        self.assertFound(report, "unsafe", "is the same server as")

    def test_the_wrong_list(self):
        report = self.check(2, servers=self.servers[:2])
        self.assertFound(report, "unsafe", "its group has 3 nodes, the list 2")
        report = self.check(2, servers=self.servers[:2] + [self.more()])
        self.assertFound(report, "unsafe", "no member under this name")


class Rights(Checks):
    def setUp(self):
        super().setUp()
        self.user = {"QUORLOCK_USER": "ann", "QUORLOCK_PASSWORD": "secret"}
        acl = self.check(0)["acl"]
        self.assertTrue(acl.startswith("ACL SETUSER NAME on >PASSWORD "))
        self.words = acl.split()[2:]
        self.rights = [word for word in self.words if word[0] == "+"]
        for server in self.servers:
            server.command("ACL", "SETUSER", *[
                {"NAME": "ann", ">PASSWORD": ">secret",
                 "~LOCKS*": "~job*"}.get(word, word) for word in self.words])

    def change(self, *rules):
        for server in self.servers:
            server.command("ACL", "SETUSER", "ann", *rules)

    def works(self, level):
        """Whether all that a client does can be done."""
        token = self.verb("acquire", "--level", level, "--ttl", "1s", "-w",
                          "5s", "job", **self.user)
        self.assertExit(token, 0)
        token = token.stdout.strip()
        for args in (["extend", "--ttl", "900ms", "job", token],
                     ["status", "job"], ["release", "job", token],
                     ["run", "--ttl", "1s", "job-2", "true"]):
            result = self.verb(args[0], "--level", level, *args[1:],
                               **self.user)
            self.assertExit(result, 1 if args[0] == "status" else 0)

    def test_the_least_rights_will_do(self):
        for level in ("plain", "guarded", "strict"):
            self.works(level)
        self.assertExit(self.verb("members", **self.user), 0)
        self.assertExit(self.verb("init", **self.user), 0)
        self.assertExit(self.verb("force-release", "job", **self.user), 1,
                        "nobody holds it")
        report = self.check(0, **self.user)
        self.assertEqual({finding["level"] for finding in report["findings"]},
                         {"note"})
        self.assertFound(report, "note", r"lacks \+config\|get")
        for node in report["nodes"]:
            self.assertEqual(node["rights_missing"],
                             ["+config|get", "+client|setname", "+scan"])

    def test_the_least_rights_make_a_group(self):
        for server in self.servers:
            server.command("DEL", "quorlock:node")
        self.assertExit(self.verb("init", **self.user), 0)
        self.works("guarded")

    def test_a_quarantine_ends_with_the_least_rights(self):
        self.servers[0].command("DEL", "quorlock:node")
        self.assertExit(self.verb("init", **self.user), 0)
        eventually(lambda: "not ready" not in
                   self.verb("init", **self.user).stdout, "a node that votes")

    def test_one_right_less_is_diagnosed(self):
        self.assertGreater(len(self.rights), 10)
        for right in self.rights:
            self.change("-" + right[1:])
            report = self.check(2, **self.user)
            for node in report["nodes"]:
                self.assertIn(right, node["rights_missing"])
            self.assertFound(report, "weakened", r"^its user lacks %s \(.*\): "
                             "ACL SETUSER NAME %s$" % (2 * (re.escape(right),)))
            self.change(right)
        self.check(0, **self.user)
        for server in self.servers:
            eventually(lambda: server.command("KEYS", "quorlock:check:*") == [],
                       "no key that is left")

    def test_none_of_the_keys(self):
        self.change("resetkeys", "~job*")
        report = self.check(2, **self.user)
        self.assertFound(report, "weakened", "may not touch keys quorlock:")

    def test_one_user_of_three(self):
        self.servers[0].command("ACL", "SETUSER", "ann", "-info")
        report = self.check(1, **self.user)
        self.assertEqual(report["votes"], 2)

    def test_the_wrong_password(self):
        report = self.check(2, QUORLOCK_USER="ann", QUORLOCK_PASSWORD="wrong")
        self.assertFound(report, "weakened", "cannot be used: noauth")

    def test_another_database_needs_select(self):
        urls = ",".join("unix://%s?db=3" % s.path for s in self.servers)
        report = self.check(1, QUORLOCK_SERVERS=urls)
        self.assertIn("+select", report["acl"].split())

    def test_every_command_of_the_scripts_is_among_them(self):
        used = set()
        for name in glob.glob(os.path.join(ROOT, "lua", "*.lua")):
            with open(name) as file:
                used |= set(re.findall(r"redis\.call\('(\w+)'", file.read()))
        self.assertIn("GET", used)
        self.assertEqual(sorted("+" + word.lower() for word in used),
                         sorted(set(self.rights) -
                                {"+evalsha", "+script|load"}))


class Proxy:
    """A server as it would look with another clock, or far away."""

    def __init__(self, case, server, offset_us=0, rate=1, delay=0):
        self.server, self.offset_us, self.rate = server, offset_us, rate
        self.delay, self.first, self.case = delay, None, case
        self.path = case.path("proxy%d.sock" % len(os.listdir(case.directory)))
        self.url = "unix://" + self.path
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        case.addCleanup(self.listener.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,),
                             daemon=True).start()

    def serve(self, client):
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self.server.path)
            asked = client.makefile("rb")
            while True:
                words = self.request(asked)
                if not words:
                    return
                server.sendall(encode(*words))
                if words == [b"TIME"]:
                    answer = decode(server.makefile("rb", buffering=0))
                    client.sendall(encode(*self.time(answer)))
                else:
                    self.pass_on(server, client)

    @staticmethod
    def request(stream):
        line = stream.readline()
        words = []
        for _ in range(int(line[1:]) if line else 0):
            size = int(stream.readline()[1:])
            words.append(stream.read(size + 2)[:-2])
        return words

    def pass_on(self, server, client):
        """One reply, unchanged: read to its end by a copy of a parser."""
        taken = bytearray()

        class Tap:
            def __init__(self, stream):
                self.stream = stream

            def readline(self):
                line = self.stream.readline()
                taken.extend(line)
                return line

            def read(self, size):
                data = b""
                while len(data) < size:
                    data += self.stream.read(size - len(data))
                taken.extend(data)
                return data
        try:
            decode(Tap(server.makefile("rb", buffering=0)))
        except (RuntimeError, UnicodeDecodeError):
            pass
        client.sendall(taken)

    def time(self, answer):
        now = int(answer[0]) * 1000000 + int(answer[1])
        self.first = self.first or now
        threading.Event().wait(self.delay)
        shown = int(self.first + (now - self.first) * self.rate +
                    self.offset_us)
        return [shown // 1000000, shown % 1000000]


if __name__ == "__main__":
    main()
