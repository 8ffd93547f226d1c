#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""init: makes servers a group, once, and says why it does not."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import Case, Server, eventually, json, main  # noqa: E402

# A quarantine lasts 1 s * 1.02 + 100 ms + 1 s.
SHORT = ("--max-ttl", "1s", "--clock-slack", "100ms")


class Groups(Case):
    nodes = 3

    def record(self, server):
        fields = server.command("HGETALL", "quorlock:node")
        return dict(zip(fields[::2], fields[1::2]))

    def records(self):
        return [self.record(server) for server in self.servers]

    def init(self, *args, servers=None, env=None):
        if servers is not None:
            env = self.environment(
                QUORLOCK_SERVERS=",".join(s.url for s in servers))
        return self.quorlock("init", *args, env=env)

    def again(self, server):
        """Ends and starts the server, which forgets everything."""
        server.kill()
        server.start()

    def more(self, count=1, *options):
        """So many servers more, of which the list knows nothing."""
        found = []
        for _ in range(count):
            index = 100 + len(os.listdir(self.directory))
            server = Server(self.directory, index, *options)
            self.addCleanup(server.kill)
            found.append(server)
        return found


class New(Groups):
    def test_writes_a_record_on_each_node(self):
        result = self.init()
        self.assertExit(result, 0)
        lines = result.stdout.splitlines()
        self.assertRegex(lines[0], r"^group [0-9a-f]{16}, epoch 1: 3 nodes, 2 "
                         r"must agree$")
        self.assertRegex(lines[1], "^longest ttl 5 min 0 s, clock slack 500 ms")
        for server, line in zip(self.servers, lines[2:]):
            self.assertRegex(line, r"^  %s +ready +epoch 1 +run [0-9a-f]{8} +"
                             "initialised$" % server.url)
        records = self.records()
        self.assertEqual(len({record["cfg"] for record in records}), 1)
        for record, server in zip(records, self.servers):
            self.assertRegex(record["cfg"], r"^[0-9a-f]{16}\.1\.3$")
            self.assertEqual(record["state"], "ready")
            self.assertIn("run_id:" + record["run"],
                          server.command("INFO", "server"))
            self.assertEqual((record["max_ttl_ms"], record["slack_ms"]),
                             ("300000", "500"))
            self.assertEqual(record["members"].split(","),
                             [s.url for s in self.servers])

    def test_may_be_repeated(self):
        self.assertExit(self.init(*SHORT), 0)
        before = self.records()
        result = self.init()
        self.assertExit(result, 0)
        self.assertEqual(result.stdout.count("was initialised before"), 3)
        self.assertExit(self.init(*SHORT), 0)
        self.assertEqual(self.records(), before)

    def test_the_order_of_the_list_does_not_matter(self):
        self.assertExit(self.init(), 0)
        self.assertExit(self.init(servers=self.servers[::-1]), 0)

    def test_two_at_once_make_one_group(self):
        both = [self.start("init"), self.start("init")]
        for process in both:
            self.assertEqual(process.wait(), 0, process.stderr.read())
        self.assertEqual(len({r["cfg"] for r in self.records()}), 1)

    def test_json(self):
        report = json.loads(self.init("--json", *SHORT).stdout)
        self.assertEqual((report["epoch"], report["members"],
                          report["quorum"], report["max_ttl_ms"],
                          report["clock_slack_ms"], report["quarantine_ms"]),
                         (1, 3, 2, 1000, 100, 2120))
        self.assertEqual([node["address"] for node in report["nodes"]],
                         [server.url for server in self.servers])
        self.assertEqual({node["done"] for node in report["nodes"]},
                         {"initialised"})

    def test_quiet(self):
        result = self.init("-q")
        self.assertExit(result, 0)
        self.assertEqual(result.stdout, "")

    def test_an_init_that_was_interrupted_is_completed(self):
        self.assertExit(self.init(), 0)
        record = self.record(self.servers[0])
        # As if it had come as far as the first `activate`.
        self.servers[1].command("HSET", "quorlock:node", "state", "forming")
        self.servers[2].command("HSET", "quorlock:node", "state", "forming")
        self.assertExit(self.init(), 0)
        self.assertEqual({r["state"] for r in self.records()}, {"ready"})
        self.assertEqual({r["cfg"] for r in self.records()}, {record["cfg"]})

    def test_one_node(self):
        self.assertExit(self.init(servers=self.servers[:1]), 0)
        env = self.environment(QUORLOCK_SERVERS=self.servers[0].url)
        self.assertExit(self.quorlock("acquire", "--level", "guarded", "a",
                                      env=env), 0)


class Refused(Groups):
    def refuse(self, code, pattern, *args, servers=None, env=None):
        before = [server.command("HGETALL", "quorlock:node")
                  for server in self.servers if server.process.poll() is None]
        result = self.init(*args, servers=servers, env=env)
        self.assertExit(result, code, pattern)
        self.assertEqual(result.stdout, "")
        self.assertEqual(before,
                         [server.command("HGETALL", "quorlock:node")
                          for server in self.servers
                          if server.process.poll() is None])

    def test_a_replica(self):
        self.servers[1].command("REPLICAOF", "127.0.0.1", "1")
        self.refuse(78, r"1\.sock is a replica: list a master of its own")

    def test_a_cluster(self):
        other = self.more(1, "--cluster-enabled", "yes",
                          "--cluster-config-file", self.path("nodes.conf"))
        self.refuse(78, r"sock runs in cluster mode: use independent masters",
                    servers=self.servers[:2] + other)

    def test_the_same_server_twice(self):
        env = self.environment(QUORLOCK_SERVERS="%s,%s,%s" % (
            self.servers[0].url, self.servers[1].url, self.servers[0].path))
        self.refuse(78, r"0\.sock is the same server as unix://\S+0\.sock: "
                    "list each server once", env=env)

    def test_a_server_that_evicts(self):
        self.servers[2].command("CONFIG", "SET", "maxmemory", "100mb")
        self.servers[2].command("CONFIG", "SET", "maxmemory-policy",
                                "volatile-lru")
        self.refuse(78, r"2\.sock may evict locks: CONFIG SET maxmemory-policy "
                    r"noeviction \(it is volatile-lru\)")

    def test_a_server_that_is_down(self):
        self.servers[0].kill()
        self.refuse(69, r"0\.sock cannot be used: (refused|connection) ")
        self.servers[1].freeze()
        self.refuse_frozen()

    def refuse_frozen(self):
        result = self.init()
        self.servers[1].thaw()
        self.assertExit(result, 69, r"1\.sock cannot be used: timeout")

    def test_a_user_without_rights(self):
        self.servers[0].command("ACL", "SETUSER", "ann", "on", "nopass",
                                "~*", "+@all", "-info")
        for server in self.servers[1:]:
            server.command("ACL", "SETUSER", "ann", "on", "nopass", "~*",
                           "+@all")
        env = self.environment(QUORLOCK_USER="ann", QUORLOCK_PASSWORD="x")
        self.refuse(78, r"0\.sock does not say which process it is: its user "
                    r"needs the right \+info", env=env)
        env = self.environment(QUORLOCK_USER="bob", QUORLOCK_PASSWORD="x")
        self.servers[0].command("ACL", "SETUSER", "bob", "on", ">y")
        self.refuse(77, r"0\.sock cannot be used: noauth", env=env)

    def test_nodes_of_another_group(self):
        others = self.more(3)
        self.assertExit(self.init(), 0)
        self.assertExit(self.init(servers=others), 0)
        self.refuse(78, r"sock belongs to another group than the nodes before "
                    r"it: its members are unix://",
                    servers=self.servers[:2] + others[:1])

    def test_a_list_of_another_length(self):
        other = self.more()
        self.assertExit(self.init(), 0)
        self.refuse(78, r"0\.sock belongs to a group of 3 nodes, the list has "
                    r"4: list unix://.*0\.sock,.*2\.sock; to change the group: "
                    "quorlock members", servers=self.servers + other)
        self.refuse(78, "a group of 3 nodes, the list has 2",
                    servers=self.servers[:2])

    def test_a_list_with_a_stranger(self):
        other = self.more()
        self.assertExit(self.init(), 0)
        self.refuse(78, "no member under this name",
                    servers=self.servers[:2] + other)
        self.assertEqual(other[0].command("EXISTS", "quorlock:node"), 0)

    def test_other_limits(self):
        self.assertExit(self.init(), 0)
        self.refuse(78, "longest ttl is 5 min 0 s\n.*nothing was changed: "
                    "other limits need quorlock init --again",
                    "--max-ttl", "1h")
        self.refuse(78, "clock slack is 500 ms", "--clock-slack", "1s")

    def test_another_init_that_has_not_ended(self):
        other = self.more()
        self.assertExit(self.init(servers=self.servers[:2] + other), 0)
        for server in self.servers[:2]:
            server.command("HSET", "quorlock:node", "state", "forming")
        self.refuse(78, "another initialisation was begun and has not ended")

    def test_a_removed_node(self):
        self.assertExit(self.init(), 0)
        self.servers[0].command("HSET", "quorlock:node", "state", "removed")
        self.refuse(78, r"0\.sock was removed from a group")

    def test_a_record_of_somebody_else(self):
        self.servers[0].command("HSET", "quorlock:node", "state", "great",
                                "cfg", "x")
        self.refuse(78, r"0\.sock: its key quorlock:node is not what this "
                    "version writes")
        self.servers[0].command("DEL", "quorlock:node")
        self.servers[0].command("SET", "quorlock:node", "x")
        result = self.init()
        self.assertExit(result, 78, r"0\.sock cannot be used: wrongtype")

    def test_usage(self):
        self.refuse(64, "too many arguments", "a")
        self.refuse(64, "too long", "--max-ttl", "25h")
        self.refuse(64, "too short", "--clock-slack", "0")


class Lost(Groups):
    def guarded(self, name="a"):
        result = self.quorlock("acquire", "--level", "guarded", "--ttl",
                               "500ms", "--json", "-w", "60", name)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["fence"]

    def test_a_node_that_lost_its_data_comes_back(self):
        self.assertExit(self.init(*SHORT), 0)
        self.again(self.servers[1])
        result = self.init()
        self.assertExit(result, 0)
        self.assertRegex(result.stdout, r"1\.sock +not ready .*lost its data: "
                         r"votes again in \d s")
        eventually(lambda: "not ready" not in self.init().stdout,
                   "a node that is ready")
        self.assertEqual({r["state"] for r in self.records()}, {"ready"})
        self.assertGreaterEqual(int(self.record(self.servers[1])["hw"]),
                                int(self.record(self.servers[0])["hw"]))

    def test_a_majority_that_lost_its_data_needs_a_word(self):
        self.assertExit(self.init(*SHORT), 0)
        fence = self.guarded()
        for server in self.servers[:2]:
            self.again(server)
        result = self.init()
        self.assertExit(result, 78, "2 of 3 nodes have lost their records, .* "
                        "quorlock init --again")
        result = self.init("--again")
        self.assertExit(result, 64, "all locks of the guarded level on these 3 "
                        "nodes are taken .* for 2.1 s\n.*add --yes")
        self.assertEqual(self.record(self.servers[2])["state"], "ready")
        result = self.init("--again", "--yes")
        self.assertExit(result, 0, r"begun anew; .*\n.*waiting .* for")
        self.assertRegex(result.stdout, r"\Agroup [0-9a-f]{16}, epoch 2: ")
        self.assertEqual(result.stdout.count("votes again"), 3)
        for record in self.records():
            self.assertEqual((record["state"], record["max_ttl_ms"]),
                             ("ready", "1000"))
        self.assertGreater(self.guarded(), fence)

    def test_nobody_can_lock_until_it_is_over(self):
        self.assertExit(self.init(*SHORT), 0)
        begun = self.start("init", "--again", "--yes")
        self.assertIn("begun anew", begun.stderr.readline())
        result = self.quorlock("acquire", "-n", "--level", "guarded", "--ttl",
                               "500ms", "a")
        if "quarantine" in {r["state"] for r in self.records()}:
            self.assertExit(result, 69, "not ready")
        self.assertEqual(begun.wait(), 0)
        self.guarded()

    def test_an_interrupted_one_is_completed_by_init(self):
        self.assertExit(self.init(*SHORT), 0)
        begun = self.start("init", "--again", "--yes", "--max-ttl", "2s")
        begun.stderr.readline()
        self.assertIn("waiting", begun.stderr.readline())
        begun.kill()
        before = self.records()
        self.assertEqual({r["state"] for r in before}, {"quarantine"})
        self.assertExit(self.init(), 0, "waiting")
        after = self.records()
        self.assertEqual({r["state"] for r in after}, {"ready"})
        self.assertEqual([r["cfg"] for r in after], [r["cfg"] for r in before])
        for was, now in zip(before, after):
            self.assertGreaterEqual(int(now["at"]) - int(was["at"]), 2120000)

    def test_shorter_limits_wait_for_the_longer_ones(self):
        self.assertExit(self.init("--max-ttl", "3s", "--clock-slack", "100ms"),
                        0)
        before = time.monotonic()
        self.assertExit(self.init("--again", "--yes", "--max-ttl", "100ms"), 0,
                        r"waiting [34]\.\d s")
        self.assertGreaterEqual(time.monotonic() - before, 4)
        self.assertEqual({r["max_ttl_ms"] for r in self.records()}, {"100"})

    def test_asked_at_a_terminal(self):
        self.assertExit(self.init(*SHORT), 0)
        for answer, code in ((b"n\n", 1), (b"y\n", 0)):
            master, slave = os.openpty()
            process = self.start("init", "--again", stdin=slave, stderr=slave,
                                 stdout=-3)
            os.close(slave)
            seen = b""
            while b"go on? [y/N]" not in seen:
                seen += os.read(master, 4096)
            os.write(master, answer)
            while process.poll() is None:
                try:
                    seen += os.read(master, 4096)
                except OSError:
                    break
            self.assertEqual(process.wait(), code, seen)
            os.close(master)
        self.assertIn(b"waiting", seen)
        self.assertEqual({r["cfg"][-4:] for r in self.records()}, {".2.3"})


if __name__ == "__main__":
    main()
