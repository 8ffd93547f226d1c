#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes other lock clients' mistakes in a copy of our sources, one at a time.

    run.py [--build DIRECTORY] [ID...]      all exhibits by default

For each one the check that it names must fail, by its own word and not for want
of compiling; and on the unchanged copy the same check must pass. The copy and
its build stay in the directory, so that the next run is quicker.
"""
import argparse
import ctypes
import filecmp
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import museum  # noqa: E402

LIMIT_S = 120
PR_SET_CHILD_SUBREAPER = 36
COPIED = ["CMakeLists.txt", "cmake", "doc", "examples", "include", "lua",
          "packaging", "src", "tests"]


class Broken(Exception):
    """The exhibit, the build or the check is not what it should be."""


# --- The copy ---------------------------------------------------------------

def files_in(root):
    for name in COPIED:
        path = root / name
        for file in [path] if path.is_file() else path.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file.relative_to(root)


def bring_up_to_date(tree):
    """Copies what differs, so that what does not is not built again."""
    wanted = set(files_in(museum.ROOT))
    if tree.exists():
        for file in set(files_in(tree)) - wanted:
            (tree / file).unlink()
    for file in wanted:
        copy = tree / file
        if copy.exists() and filecmp.cmp(museum.ROOT / file, copy, False):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(museum.ROOT / file, copy)
        shutil.copymode(museum.ROOT / file, copy)


class Workshop:
    def __init__(self, directory):
        self.tree = directory / "tree"
        self.build = directory / "build"
        bring_up_to_date(self.tree)
        self.tool("cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build,
                  "-DCMAKE_BUILD_TYPE=", "-DCMAKE_C_FLAGS=-O0 -w")

    @staticmethod
    def tool(*words):
        done = subprocess.run([str(word) for word in words], text=True,
                              stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise Broken("does not build:\n" + done.stdout[-3000:])

    def make(self, *targets):
        self.tool("ninja", "-C", self.build, *targets)

    def command(self, check):
        if not check.is_script:
            return [self.build / "tests" / check.target]
        return [sys.executable, self.tree / check.source, check.test]

    def run(self, check, limit_s):
        """The exit status, None if it never ends; and what was printed."""
        env = dict(os.environ, CMOCKA_TEST_FILTER=check.test or "*",
                   CMOCKA_MESSAGE_OUTPUT="STDOUT",
                   QUORLOCK=str(self.build / "quorlock"),
                   QUORLOCK_BUILD=str(self.build))
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                self.command(check), env=env, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT)
            try:
                status = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                status = None
                end(process)
            end_descendants()
            output.seek(0)
            return status, output.read().decode(errors="replace")


# --- What checks leave behind -----------------------------------------------

def end(process):
    """First as a person would, so that it can tidy up."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def adopt_orphans():
    """What loses its parent in a check becomes our child."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def children():
    path = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
    return [int(pid) for pid in path.read_text().split()]


def end_descendants():
    """A fault may be just that something is not ended."""
    while True:
        pids = children()
        if not pids:
            return
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


# --- Exhibits ---------------------------------------------------------------

def tests_run(output):
    """As cmocka or unittest says."""
    found = re.search(r"Running (\d+) test|Ran (\d+) test", output)
    return int(found[1] or found[2]) if found else 0


def must_pass(workshop, check):
    """Returns the seconds that it takes."""
    began = time.monotonic()
    status, output = workshop.run(check, LIMIT_S)
    seconds = time.monotonic() - began
    if status != 0:
        raise Broken(f"{check.text} fails without any fault:\n"
                     + output[-3000:])
    if tests_run(output) == 0:
        raise Broken(f"{check.text}: there is no such test")
    return seconds


def changed(path, text, old, new):
    if text.count(old) != 1:
        raise Broken(f"{path} has changed: {text.count(old)} places look like"
                     f"\n{old}\nMend the exhibit.")
    return text.replace(old, new)


def plant(workshop, exhibit):
    """Returns what brings each file back."""
    before, after = {}, {}
    for name, old, new in exhibit.edits:
        path = workshop.tree / name
        before.setdefault(path, path.read_text())
        after[path] = changed(name, after.get(path, before[path]), old, new)
    for path, text in after.items():
        path.write_text(text)
    return before


def must_fail(workshop, exhibit, usual_s):
    """`usual_s`: what its check takes without the fault."""
    before = plant(workshop, exhibit)
    try:
        workshop.make(exhibit.check.target)
        status, output = workshop.run(
            exhibit.check, 4 + 3 * usual_s if exhibit.hangs else LIMIT_S)
    finally:
        for path, text in before.items():
            path.write_text(text)
    if status == 0:
        raise Broken(f"{exhibit.check.text} does not notice")
    if status is None and not exhibit.hangs:
        raise Broken(f"{exhibit.check.text} does not end:\n" + output[-1000:])
    if status is not None and status >= 0 and "FAILED" not in output:
        raise Broken(f"{exhibit.check.text} could not be run:\n"
                     + output[-3000:])


def show(exhibit, seconds, wrong):
    print(f"{'FAILED' if wrong else 'caught':6} {exhibit.id:4} "
          f"{exhibit.elsewhere}\n            {exhibit.fault}\n"
          f"            {exhibit.check.text}  ({seconds:.1f} s)", flush=True)
    if wrong:
        print("    | " + wrong.replace("\n", "\n    | "), flush=True)


def attempt(what, *arguments):
    """What it returns, and None; or None, and what is wrong."""
    try:
        return what(*arguments), None
    except Broken as error:
        return None, str(error)


def look_through(workshop, exhibits):
    """The number of exhibits that are not as they should be."""
    workshop.make(*{exhibit.check.target for exhibit in exhibits})
    usual = {}
    for exhibit in exhibits:
        if exhibit.check not in usual:
            usual[exhibit.check] = attempt(must_pass, workshop, exhibit.check)
    failed = 0
    for exhibit in exhibits:
        began = time.monotonic()
        seconds, wrong = usual[exhibit.check]
        if not wrong:
            _, wrong = attempt(must_fail, workshop, exhibit, seconds)
        failed += wrong is not None
        show(exhibit, time.monotonic() - began, wrong)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path,
                        default=museum.ROOT / "build" / "museum")
    parser.add_argument("ids", nargs="*", metavar="ID")
    arguments = parser.parse_args()
    exhibits = [exhibit for exhibit in museum.read_all()
                if exhibit.edits and
                (not arguments.ids or exhibit.id in arguments.ids)]
    unknown = set(arguments.ids) - {exhibit.id for exhibit in exhibits}
    if unknown:
        parser.error("no such exhibit: " + " ".join(sorted(unknown)))
    adopt_orphans()
    try:
        failed = look_through(Workshop(arguments.build.resolve()), exhibits)
    except Broken as error:
        print(error)
        failed = len(exhibits)
    print(f"{len(exhibits) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
