#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""On a terminal: the waiting line, job control, ^C and ^Z."""
import os
import pty
import re
import select
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from harness import (QUORLOCK, Case, eventually,  # noqa: E402
                     is_alive, main)


class Terminal(Case):
    nodes = 3

    def spawn(self, *words, **changes):
        """Starts a program as the leader of a session on a new terminal."""
        env = self.environment(**changes)
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], words, env)
        self.seen = ""
        self.status = None
        self.addCleanup(self.end)
        return self.pid

    def end(self):
        if self.status is None:
            print(self.seen, file=sys.stderr)
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.master)

    def pump(self):
        """Takes what has been written to the terminal."""
        while select.select([self.master], [], [], 0)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:  # the other side is closed
                return
            if not data:
                return
            self.seen += data.decode(errors="replace")

    def see(self, pattern):
        """Waits until the terminal shows it; what stood before is dropped."""
        def found():
            self.pump()
            return re.search(pattern, self.seen)
        match = eventually(found, "%r on the terminal" % pattern)
        self.seen = self.seen[match.end():]
        return match

    def type(self, text):
        os.write(self.master, text.encode())

    def answer(self, pattern):
        """Types a line now and then, until somebody has read one."""
        typed = [0]

        def found():
            self.pump()
            if time.monotonic() - typed[0] > 0.3:
                typed[0] = time.monotonic()
                self.type("x\n")
            return re.search(pattern, self.seen)
        eventually(found, "%r on the terminal" % pattern)

    def wait(self):
        """The status as os.waitpid() has it."""
        def ended():
            self.pump()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            return (status,) if pid else None
        (self.status,) = eventually(ended, "the end")
        self.pump()
        return self.status

    def assertCode(self, code):
        status = self.wait()
        self.assertTrue(os.WIFEXITED(status), status)
        self.assertEqual(os.WEXITSTATUS(status), code)


class WaitingLine(Terminal):
    def test_for_whom_and_how_long(self):
        token = self.hold("a", ttl="100s")
        self.spawn(QUORLOCK, "run", "a", "echo", "ran")
        line = r"\r\x1b\[Kquorlock: a: waiting for %s, held by web3:4121:" \
               r"report\.sh for another "
        self.see(line % r"\d+ ms")
        self.see(line % r"1\.\d s")
        self.see(line % r"[23]\.\d s")
        self.assertExit(self.quorlock("release", "a", token), 0)
        self.see(r"\r\x1b\[Kran\r\n")
        self.assertCode(0)

    def test_it_is_erased_at_the_end(self):
        self.hold("a")
        self.spawn(QUORLOCK, "acquire", "-w", "1.5", "a")
        self.see(r"waiting for ")
        self.assertCode(1)
        self.assertRegex(self.seen, r"\r\x1b\[Kquorlock: a: held by web3:4121:"
                         r"report\.sh for another \S+ [^\r]*\r\n\Z")

    def test_nodes_that_are_down(self):
        for server in self.servers[:2]:
            server.kill()
        self.spawn(QUORLOCK, "run", "a", "true")
        self.see("a: waiting: too few nodes could be used\r\n")
        self.see(re.escape(self.servers[0].url) + " ")
        self.see(re.escape(self.servers[1].url) + " ")
        self.see(r"waiting for \S+ m?s, too few nodes could be used")
        self.servers[0].start()
        self.assertCode(0)

    def test_quiet(self):
        self.hold("a")
        self.spawn(QUORLOCK, "run", "-q", "-w", "1", "a", "true")
        self.assertCode(1)
        self.assertEqual(self.seen, "")

    def test_interrupted(self):
        self.hold("a")
        self.spawn(QUORLOCK, "run", "a", "true")
        self.see("waiting for ")
        self.type("\x03")
        self.assertCode(130)
        self.assertEqual(len(self.holders("a")), 3)


class JobControl(Terminal):
    def test_the_command_has_the_terminal(self):
        self.spawn(QUORLOCK, "run", "a", "sh", "-c",
                   "read word </dev/tty; echo got $word; exit 6")
        self.type("x\n")
        self.see("got x")
        self.assertCode(6)

    def test_the_terminal_comes_back(self):
        self.spawn("sh", "-c", "%s run a true; read word </dev/tty; "
                   "echo got $word" % QUORLOCK)
        self.answer("got x")
        self.assertCode(0)

    def test_interrupt_goes_to_the_command(self):
        self.spawn(QUORLOCK, "run", "a", "sh", "-c",
                   "trap 'echo trapped; exit 5' INT; echo ready; "
                   "while :; do sleep 0.02; done")
        self.see("ready\r\n")
        self.type("\x03")
        self.see("trapped\r\n")
        self.assertCode(5)
        self.assertEqual(self.holders("a"), [])

    def test_interrupt_ends_the_script_around_it_too(self):
        self.spawn("bash", "-c", "%s run a sh -c 'echo ready; exec sleep 1000'"
                   "; echo went on" % QUORLOCK)
        self.see("ready\r\n")
        self.type("\x03")
        status = self.wait()
        self.assertTrue(os.WIFSIGNALED(status), status)
        self.assertEqual(os.WTERMSIG(status), signal.SIGINT)
        self.assertNotIn("went on", self.seen)
        self.assertEqual(self.holders("a"), [])

    def test_it_is_not_suspended(self):
        self.spawn(QUORLOCK, "run", "a", "sh", "-c",
                   "echo ready; read word; echo got $word")
        self.see("ready\r\n")
        self.type("\x1a")
        self.see("not suspended, because others wait for the lock")
        self.type("x\n")
        self.see("got x")
        self.assertCode(0)

    def test_beside_a_pager_the_terminal_is_not_taken(self):
        """The other end of the pipe reads the terminal, as less(1) does."""
        self.spawn("bash", "-ic", "%s run a echo text | "
                   "(read line; read word </dev/tty; echo $line $word)" %
                   QUORLOCK)
        self.answer("text x")
        self.wait()

    def test_a_command_in_a_pipe_gets_the_terminal_when_it_asks(self):
        """As ssh does, for a password."""
        self.spawn("bash", "-ic", "%s run a sh -c 'read word </dev/tty; "
                   "echo got $word' | cat" % QUORLOCK)
        self.answer("got x")
        self.wait()

    def test_in_the_background(self):
        self.spawn("bash", "-i", PS1="", PS2="")
        self.type("%s run a sh -c 'read w; echo \"got <$w>\"' &\n" % QUORLOCK)
        eventually(lambda: self.pump() or len(self.holders("a")) == 3,
                   "the lock")
        time.sleep(0.2)
        self.type("fg\n")
        self.answer("got <x>")
        self.type("\nexit 0\n")
        self.wait()
        self.assertEqual(self.holders("a"), [])

    def test_hang_up(self):
        self.spawn(QUORLOCK, "run", "a", "sh", "-c",
                   "echo $$ >%s; echo ready; exec sleep 1000" %
                   self.path("pid"))
        self.see("ready\r\n")
        pid = self.read_pid("pid")
        os.kill(self.pid, signal.SIGHUP)
        self.assertCode(129)
        self.assertFalse(is_alive(pid))


if __name__ == "__main__":
    main()
