# SPDX-License-Identifier: BSD-2-Clause
"""Servers that are a group, for the tests of the operators' verbs."""
import os

from harness import Case, Server, json

# A quarantine lasts 1 s * 1.02 + 100 ms + 1 s then.
SHORT = ("--max-ttl", "1s", "--clock-slack", "100ms")


class Group(Case):
    """The case's servers are a group whose quarantine is short."""
    nodes = 3
    limits = SHORT

    def setUp(self):
        super().setUp()
        self.assertExit(self.verb("init", *self.limits), 0)

    def urls(self, servers):
        return ",".join(server.url for server in servers)

    def verb(self, *args, servers=None, **changes):
        """Runs the command with a list of servers of its own."""
        if servers is not None:
            changes["QUORLOCK_SERVERS"] = self.urls(servers)
        return self.quorlock(*args, env=self.environment(**changes))

    def begin(self, *args, servers):
        return self.start(*args, env=self.environment(
            QUORLOCK_SERVERS=self.urls(servers)))

    def more(self, *options):
        """One server more, of which no list knows."""
        index = 100 + len(os.listdir(self.directory))
        server = Server(self.directory, index, *options)
        self.addCleanup(server.kill)
        return server

    @staticmethod
    def forget(server):
        """Ends and starts the server, which keeps nothing."""
        server.kill()
        server.start()

    @staticmethod
    def record(server):
        fields = server.command("HGETALL", "quorlock:node")
        return dict(zip(fields[::2], fields[1::2]))

    def records(self, servers=None):
        return [self.record(server) for server in servers or self.servers]

    def states(self, servers=None):
        return [(r["state"], r["cfg"].split(".", 1)[1], bool(r["prev"]))
                for r in self.records(servers)]

    def guarded(self, name="a", servers=None, ttl="1s", wait="60s"):
        """Takes the lock at the guarded level; its report."""
        result = self.verb("acquire", "--level", "guarded", "--ttl", ttl,
                           "--json", "-w", wait, name, servers=servers)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)


__all__ = ["Group", "SHORT"]
