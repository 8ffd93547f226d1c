#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""members: one server more or less, with clients at work, and in steps."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from groups import Group  # noqa: E402
from harness import PATIENCE, eventually, json, main  # noqa: E402


class Shown(Group):
    def test_the_group(self):
        result = self.verb("members")
        self.assertExit(result, 0)
        lines = result.stdout.splitlines()
        self.assertRegex(lines[0], "epoch 1: 3 nodes, 2 must agree$")
        for server, line in zip(self.servers, lines[2:]):
            self.assertRegex(line, r"^  %s +ready +epoch 1 +run [0-9a-f]{8}$" %
                             server.url)

    def test_json(self):
        self.forget(self.servers[2])
        report = json.loads(self.verb("members", "--json").stdout)
        self.assertEqual([node["verdict"] for node in report["nodes"]],
                         ["granted", "granted", "not ready"])
        self.assertEqual([node["state"] for node in report["nodes"]],
                         ["ready", "ready", "absent"])
        self.assertGreater(report["nodes"][2]["left_ms"], 0)
        self.assertIsNone(report["before"])

    def test_nodes_that_are_away(self):
        self.servers[0].kill()
        result = self.verb("members")
        self.assertExit(result, 0)
        self.servers[1].kill()
        self.assertExit(self.verb("members"), 69)

    def test_no_group(self):
        other = self.more()
        result = self.verb("members", servers=[other])
        self.assertExit(result, 69)
        self.assertRegex(result.stdout, r"\Ano group\n.*run quorlock init -S")

    def test_usage(self):
        for args in (["grow"], ["add"], ["remove"], ["settle", "x"],
                     ["add", "x", "y"]):
            self.assertExit(self.verb("members", *args), 64, "members")
        self.assertExit(self.verb("members", "add", "http://x"), 64,
                        "server address")

    def test_a_password_is_not_shown(self):
        secret = "s3cr3t-Word"
        url = "redis://:%s@127.0.0.1:1" % secret
        for what in ("add", "remove"):
            result = self.verb("members", what, url)
            self.assertNotIn(secret, result.stdout + result.stderr)
            self.assertIn("127.0.0.1:1", result.stderr)


class Added(Group):
    def add(self, server, *args, servers=None):
        return self.verb("members", "add", *args, server.url, servers=servers)

    def test_one_more(self):
        other = self.more()
        hw = max(int(r["hw"]) for r in self.records())
        result = self.add(other)
        self.assertExit(result, 0)
        self.assertRegex(result.stdout, "epoch 2: 4 nodes, 3 must agree\n")
        self.assertIn("the list before is still served", result.stdout)
        self.assertIn("clients must now use %s\n" %
                      self.urls(self.servers + [other]), result.stdout)
        self.assertIn("4 nodes survive the loss of no more than 3 do",
                      result.stdout)
        self.assertEqual(self.states(), [("ready", "2.4", True)] * 3)
        # It never speaks for the list before, which does not name it.
        self.assertEqual(self.states([other]), [("ready", "2.4", False)])
        self.assertGreaterEqual(int(self.record(other)["hw"]), hw)

    def test_a_list_that_never_was_is_refused(self):
        other = self.more()
        self.assertExit(self.add(other), 0)
        result = self.verb("acquire", "-n", "--level", "guarded", "--ttl", "1s",
                           "a", servers=self.servers[:1] + [other, self.more()])
        self.assertNotEqual(result.returncode, 0)
        result = self.verb("acquire", "-n", "--level", "guarded", "--ttl", "1s",
                           "a", servers=[other] + [self.more()])
        self.assertNotEqual(result.returncode, 0)

    def test_the_older_list_is_retired_and_then_refused(self):
        other = self.more()
        new = self.servers + [other]
        self.assertExit(self.add(other), 0)
        result = self.verb("members", "settle", servers=new)
        self.assertExit(result, 64, "the list before the last change is "
                        "retired now: .*\n.*add --yes")
        self.assertEqual(self.states(), [("ready", "2.4", True)] * 3)
        self.assertExit(self.verb("members", "settle", "--yes", servers=new), 0)
        self.assertEqual(self.states(new), [("ready", "2.4", False)] * 4)
        result = self.verb("acquire", "-n", "--level", "guarded", "--ttl", "1s",
                           "a")
        self.assertExit(result, 78, "group has 4 nodes, the list 3")
        self.guarded("a", servers=new)
        # Once more is nothing.
        at = self.record(self.servers[0])["at"]
        self.assertExit(self.verb("members", "settle", servers=new), 0)
        self.assertEqual(self.record(self.servers[0])["at"], at)

    def test_two_steps_with_a_wait_between_them(self):
        one, two = self.more(), self.more()
        self.assertExit(self.add(one), 0)
        four = self.servers + [one]
        result = self.add(two, servers=four)
        self.assertExit(result, 64, "is retired now.*\n.*add --yes")
        result = self.add(two, "--yes", servers=four)
        self.assertExit(result, 0, r"waiting .* for locks of the "
                        "retired list to end; if this is interrupted, run the "
                        "same again")
        self.assertEqual(self.states(four + [two]),
                         [("ready", "3.5", True)] * 4 +
                         [("ready", "3.5", False)])
        self.guarded("a", servers=four + [two])
        self.guarded("a", servers=four)
        self.assertExit(self.verb("acquire", "-n", "--level", "guarded",
                                  "--ttl", "1s", "a"), 78, "group")

    def test_an_interrupted_step_is_carried_on(self):
        other, stranger = self.more(), self.more()
        was = self.record(self.servers[1])
        cfg = was["cfg"][:-3] + "2.4"
        # As it is when the first of three has been told.
        self.servers[1].command(
            "HSET", "quorlock:node", "prev", was["cfg"], "cfg", cfg, "members",
            self.urls(self.servers + [other]))
        self.guarded("a")
        self.assertExit(self.add(stranger), 78, "another change has begun and "
                        "not ended, to the members .*%s" % other.url)
        self.assertExit(self.verb("members", "remove", self.servers[0].url),
                        78, "the list of servers is not the group's")
        # In any order, and with the new one listed or not.
        self.assertExit(self.add(other, servers=[other] + self.servers[::-1]),
                        0)
        self.assertEqual({r["cfg"] for r in self.records() +
                          [self.record(other)]}, {cfg})
        self.guarded("a", servers=self.servers + [other])

    def test_a_node_that_fails_during_the_step(self):
        other = self.more()
        self.servers[2].command("CONFIG", "SET", "min-replicas-to-write", "1")
        result = self.add(other)
        self.assertExit(result, 69, r"2\.sock: not told of the plan; run "
                        r"the same again: noreplicas")
        self.servers[2].command("CONFIG", "SET", "min-replicas-to-write", "0")
        self.guarded("a")
        self.assertExit(self.add(other), 0)
        self.assertEqual(self.states(), [("ready", "2.4", True)] * 3)

    def test_another_change_is_planned(self):
        other, stranger = self.more(), self.more()
        self.servers[1].command("HSET", "quorlock:node", "plan",
                                self.urls(self.servers + [stranger]))
        self.assertExit(self.add(other), 78, "another change is planned, to "
                        "the members .*%s .*members abandon" % stranger.url)
        self.assertEqual(self.states(), [("ready", "1.3", False)] * 3)
        self.assertExit(self.verb("members", "abandon"), 0)
        self.assertEqual([r["plan"] for r in self.records()], [""] * 3)
        self.assertExit(self.add(other), 0)
        self.assertEqual(self.states(), [("ready", "2.4", True)] * 3)
        self.assertEqual([r["plan"] for r in self.records()], [""] * 3)

    def test_a_plan_is_taken_up_in_any_order(self):
        other = self.more()
        self.servers[1].command("HSET", "quorlock:node", "plan",
                                self.urls([other] + self.servers[::-1]))
        self.assertExit(self.add(other), 0)
        self.assertEqual(self.states(), [("ready", "2.4", True)] * 3)

    def test_numbers_are_carried_on(self):
        other = self.more()
        self.servers[1].command("HSET", "quorlock:node", "hw",
                                "8000000000000000")
        self.assertExit(self.add(other), 0)
        self.assertEqual({r["least"] for r in self.records()},
                         {"8000000000000000"})

    def test_once_more_is_nothing(self):
        other = self.more()
        self.assertExit(self.add(other), 0)
        before = self.records(self.servers + [other])
        for servers in (self.servers + [other], self.servers):
            self.assertExit(self.add(other, servers=servers), 0,
                            "is a member already")
        self.assertEqual(self.records(self.servers + [other]), before)

    def test_a_member_under_another_name(self):
        before = self.records()
        result = self.verb("members", "add", self.servers[0].path)
        self.assertExit(result, 0, "is a member already")
        self.assertEqual(self.records(), before)

    def refuse(self, code, pattern, server, servers=None):
        before = self.records()
        self.assertExit(self.add(server, servers=servers), code, pattern)
        self.assertEqual(self.records(), before)

    def test_refused(self):
        other = self.more("--maxmemory", "100mb", "--maxmemory-policy",
                          "allkeys-lru")
        self.refuse(78, "may evict locks", other)
        other.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        other.command("REPLICAOF", "127.0.0.1", "1")
        self.refuse(78, "is a replica", other)
        other.command("REPLICAOF", "NO", "ONE")
        self.assertExit(self.verb("init", servers=[other]), 0)
        self.refuse(78, "belongs to another group already: its members are "
                    "unix://.* DEL quorlock:node there", other)
        other.kill()
        self.refuse(69, "cannot be used", other)
        self.refuse(78, "the list of servers is not the group's: the members "
                    "are unix", self.more(), servers=self.servers[:2])

    def test_every_member_must_be_ready(self):
        self.forget(self.servers[1])
        result = self.add(self.more())
        self.assertExit(result, 78, r"1\.sock has no record of a group: if it "
                        "is a member it has lost its data; quorlock init")
        self.assertExit(self.verb("init"), 0)
        result = self.add(self.more())
        self.assertExit(result, 69, r"1\.sock not ready \(lost its data: .*\): "
                        "every member must be ready; run the same again then")
        self.servers[2].kill()
        result = self.add(self.more())
        self.assertExit(result, 69, r"2\.sock cannot be used: ")


class Slower(Group):
    """With time for what must happen meanwhile, on a busy machine."""
    limits = ("--max-ttl", "5s", "--clock-slack", "100ms")

    add = Added.add

    def test_both_lists_are_served_and_exclude_each_other(self):
        other = self.more()
        new = self.servers + [other]
        first = self.guarded("a")
        self.assertExit(self.add(other), 0)
        fences = [first["fence"]]
        for servers, wrong in ((new, self.servers), (self.servers, new)):
            report = self.guarded("a", ttl="5s", servers=servers)
            held = self.verb("acquire", "-n", "--level", "guarded", "--ttl",
                             "1s", "a", servers=wrong)
            self.assertIn(held.returncode, (1, 75), held)
            fences.append(report["fence"])
        self.assertEqual(fences, sorted(set(fences)))

    def test_a_holder_goes_on_across_the_change(self):
        run = self.start("run", "--level", "guarded", "--ttl", "5s", "b",
                         "sh", "-c", "echo begun; read x; exit 7", stdin=-1)
        self.assertEqual(run.stdout.readline(), "begun\n")
        other = self.more()
        self.assertExit(self.add(other), 0)
        self.assertExit(self.verb("acquire", "-w", "2s", "--level", "guarded",
                                  "--ttl", "5s", "b",
                                  servers=self.servers + [other]), 1,
                        "held by")
        self.assertIsNone(run.poll())
        run.stdin.write("\n")
        run.stdin.flush()
        self.assertEqual(run.wait(PATIENCE), 7)

    def test_an_interrupted_wait_is_carried_on(self):
        one, two = self.more(), self.more()
        self.assertExit(self.add(one), 0)
        four = self.servers + [one]
        process = self.begin("members", "add", "--yes", two.url, servers=four)
        eventually(lambda: "waiting" in process.stderr.readline(), "a wait")
        process.kill()
        process.wait()
        before = self.records(four)
        self.assertEqual(self.states(four), [("ready", "2.4", False)] * 4)
        # Nobody has to be asked again, and the time has not begun anew.
        result = self.add(two, servers=four)
        self.assertExit(result, 0, "|waiting")
        now = int(two.command("TIME")[0]) * 1000000
        for record in before:
            self.assertGreaterEqual(now + 1000000 - int(record["at"]), 6200000)
        self.assertEqual(self.states(four), [("ready", "3.5", True)] * 4)


class Removed(Group):
    nodes = 4

    def remove(self, server, *args, servers=None):
        return self.verb("members", "remove", *args, server.url,
                         servers=servers)

    def test_one_less(self):
        three, gone = self.servers[:3], self.servers[3]
        result = self.remove(gone)
        self.assertExit(result, 0)
        self.assertIn("clients must now use %s\n" % self.urls(three),
                      result.stdout)
        self.assertEqual(self.states(three), [("ready", "2.3", True)] * 3)
        self.assertEqual(self.record(gone)["state"], "removed")
        self.guarded("a", servers=three)
        self.guarded("a")
        result = self.verb("acquire", "-n", "--level", "guarded", "--ttl", "1s",
                           "b", servers=self.servers[:2] + [gone])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(gone.command("EXISTS", "b"), 0)
        before = self.records()
        for servers in (self.servers, three):
            self.assertExit(self.remove(gone, servers=servers), 0,
                            "is no member")
        self.assertEqual(self.records(), before)

    def test_a_dead_one(self):
        three, gone = self.servers[:3], self.servers[3]
        gone.kill()
        result = self.remove(gone)
        self.assertExit(result, 0, r"3\.sock could not be told \(\w+\): do not "
                        "put it to use elsewhere before its key quorlock:node")
        self.assertEqual(self.states(three), [("ready", "2.3", True)] * 3)
        self.guarded("a", servers=three)

    def test_replaced(self):
        three, gone, other = self.servers[:3], self.servers[3], self.more()
        gone.kill()
        self.assertEqual(self.remove(gone).returncode, 0)
        result = self.verb("members", "add", "--yes", other.url, servers=three)
        self.assertExit(result, 0, "waiting")
        self.assertEqual(self.states(three), [("ready", "3.4", True)] * 3)
        gone.start()
        self.guarded("a", servers=three + [other])
        result = self.verb("acquire", "-n", "--level", "guarded", "--ttl", "1s",
                           "a", servers=self.servers)
        self.assertNotEqual(result.returncode, 0)

    def test_put_back(self):
        three, gone = self.servers[:3], self.servers[3]
        self.assertExit(self.remove(gone), 0)
        result = self.verb("members", "add", "--yes", gone.url, servers=three)
        self.assertExit(result, 0, "waiting")
        self.assertEqual(self.states([gone]), [("ready", "3.4", False)])
        self.guarded("a")

    def test_put_back_although_it_was_never_told(self):
        three, gone = self.servers[:3], self.servers[3]
        gone.freeze()
        self.assertEqual(self.remove(gone).returncode, 0)
        gone.thaw()
        self.assertEqual(self.states([gone]), [("ready", "1.4", False)])
        result = self.verb("members", "add", "--yes", gone.url, servers=three)
        self.assertExit(result, 0, "waiting")
        self.assertEqual(self.states([gone]), [("ready", "3.4", False)])
        self.guarded("a")

    def test_no_member(self):
        before = self.records()
        self.assertExit(self.remove(self.more()), 0, "is no member")
        other = self.more()
        other.kill()
        self.assertExit(self.remove(other), 0, "is no member\n.*could "
                        "not be told")
        self.assertExit(self.remove(other, servers=self.servers[:3]), 78,
                        "is no member: the members are")
        self.assertEqual(self.records(), before)

    def test_the_last_one(self):
        other = self.more()
        self.assertExit(self.verb("init", servers=[other]), 0)
        self.assertExit(self.remove(other, servers=[other]), 64, "last member")

    def test_down_to_one(self):
        servers = list(self.servers)
        while len(servers) > 1:
            gone = servers.pop()
            result = self.remove(gone, "--yes", servers=servers + [gone])
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.states(servers), [("ready", "4.1", True)])
        self.guarded("a", servers=servers)


if __name__ == "__main__":
    main()
