# SPDX-License-Identifier: BSD-2-Clause
"""Leaves nothing behind, however the test ends.

The guardian is a shell that waits for the end of its stdin: it comes when the
test closes it, and when the test is killed. Then it kills what still runs in
the test's namespaces, deletes them, and removes the test's directory.
"""
import os
import shutil
import signal
import subprocess
import tempfile

SCRIPT = """
trap '' INT TERM HUP
read -r _
for name in "$@"; do
    for pid in $(ip netns pids "$name" 2>/dev/null); do kill -9 "$pid"; done
done
for name in "$@"; do ip netns del "$name" 2>/dev/null; done
rm -rf "$directory"
"""


class Guardian:
    def __init__(self, namespaces):
        self.namespaces = namespaces
        self.directory = tempfile.mkdtemp(
            prefix="ql-chaos-", dir=os.environ.get("TMPDIR") or "/tmp")
        self.process = subprocess.Popen(
            ["sh", "-c", SCRIPT, "guardian", *namespaces],
            stdin=subprocess.PIPE, start_new_session=True,
            env={**os.environ, "directory": self.directory})

    def path(self, name):
        return os.path.join(self.directory, name)

    def finish(self):
        """Returns what is left nevertheless, which should be nothing."""
        self.process.stdin.close()
        self.process.wait()
        left = [name for name in self.namespaces
                if os.path.exists("/run/netns/" + name)]
        if os.path.exists(self.directory):
            left.append(self.directory)
            shutil.rmtree(self.directory, ignore_errors=True)
        return left


def end_politely():
    """An interrupted test ends like any other: through its `finally`s."""
    def interrupt(*_):
        raise KeyboardInterrupt
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def with_parent(words):
    """The command, killed by the kernel when we die."""
    return ["setpriv", "--pdeathsig", "KILL", *words]


def is_alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] not in b"ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
