# SPDX-License-Identifier: BSD-2-Clause
"""Plants known faults into copies of the library and of the command.

The oracle must notice every one of them: a check that cannot fail is none.
Each row: what is wrong; the file; a piece of it that is there once; what it
becomes. Where the file is decides which test has to notice.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess

from contention import Contention
from guardian import Guardian
from kill import Kill

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-w", "-O1"]
SECONDS = 90  # so long a fault has to show itself; most need two or ten
MOMENTS = 40

FAULTS = [
    ("a minority is taken for a majority", "src/core/ballot.c",
     "if (yes >= ballot->quorum)", "if (yes + 1 >= ballot->quorum)"),
    ("the lock is believed to last twice as long", "src/core/validity.c",
     "ql_time_add(t0, ttl_ns - drift)", "ql_time_add(t0, 2 * ttl_ns)"),
    ("a release deletes whatever is there", "lua/release.lua",
     "if value == token or string.sub(value, 1, #token + 1) =="
     " token .. ' ' then", "if true then"),
    ("the time that acquiring took is ignored", "src/core/acquire.c",
     "ql_valid_until(m->t0,", "ql_valid_until(m->now,"),
    ("quorlock run does not act on the loss of its lock",
     "src/cli/supervise.c",
     "if (!s->lost || s->plan->on_lost == ON_LOST_IGNORE)", "if (true)"),
    ("quorlock run kills a process group, not a family", "src/cli/family.c",
     "if (!member->ours ||", "if (true ||"),
    ("a child does not die with quorlock", "src/cli/child.c",
     "prctl(PR_SET_PDEATHSIG, SIGKILL) ||", "false ||"),
]


class Builder:
    """Links programs out of the build and one changed file."""

    def __init__(self, build):
        self.build = build
        self.guardian = Guardian([])
        self.directory = pathlib.Path(self.guardian.directory)
        self.includes = [ROOT / "src", ROOT / "include", build / "generated",
                         ROOT / "tests" / "chaos"]
        self.command_objects = {}
        self.client_objects = {}
        self.made = 0

    def close(self):
        self.guardian.finish()

    def program(self, path, text):
        """(the name of the program with the fault, where it is)."""
        if path.startswith("src/cli/"):
            return "quorlock", self._command(path, text)
        return "worker", self._link("worker", [self._changed({path: text})])

    def clients(self, edits, names):
        """{name: program} with all of the edits (file, old, new)."""
        texts = {}
        for path, old, new in edits:
            text = texts.get(path) or (ROOT / path).read_text()
            if text.count(old) != 1:
                raise SyntaxError(f"{path} is not what it was: mend the text "
                                  f"of this fault: {old}")
            texts[path] = text.replace(old, new)
        changed = [self._changed({path: text}) for path, text in texts.items()
                   if not path.startswith("lua/")]
        scripts = {path: text for path, text in texts.items()
                   if path.startswith("lua/")}
        if scripts:
            changed.append(self._changed(scripts))
        self.made += 1
        return {name: str(self._link(name, changed, f"{name}{self.made}"))
                for name in names}

    def _run(self, *words):
        done = subprocess.run([str(word) for word in words], text=True,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise SyntaxError(done.stderr)

    def _compile(self, source, output, first=()):
        includes = [f"-I{path}" for path in [*first, *self.includes]]
        self._run(os.environ.get("CC", "cc"), *FLAGS, *includes, "-c", source,
                  "-o", output)
        return output

    def _object(self, name):
        if name not in self.client_objects:
            self.client_objects[name] = self._compile(
                ROOT / "tests" / "chaos" / f"{name}.c",
                self.directory / f"{name}.o")
        return self.client_objects[name]

    def _link(self, name, changed, output=""):
        """The changed objects come first, so that the archive's own members
        are not taken."""
        output = self.directory / (output or name)
        self._run(os.environ.get("CC", "cc"), self._object(name),
                  self._object("oracle"), *changed,
                  self.build / "libquorlock_inside.a", "-lhiredis",
                  "-lpthread", "-o", output)
        return output

    def _changed(self, texts):
        """One file of C, or any number of scripts."""
        path, text = next(iter(texts.items()))
        if not path.startswith("lua/"):
            source = self._write(path, text)
            return self._compile(source, source.with_suffix(".o"))
        lua = self.directory / "lua"
        shutil.copytree(ROOT / "lua", lua, dirs_exist_ok=True)
        for path, text in texts.items():
            (self.directory / path).write_text(text)
        scripts = ";".join(str(file) for file in sorted(lua.glob("*.lua")))
        generated = self.directory / "generated"
        self._run("cmake", f"-DSCRIPTS={scripts}",
                  f"-DOUTPUT={generated}/redis/scripts.inc",
                  "-P", ROOT / "cmake" / "embed.cmake")
        return self._compile(ROOT / "src" / "redis" / "script.c",
                             self.directory / "changed.o", [generated])

    def _write(self, path, text):
        changed = self.directory / ("changed_" + pathlib.Path(path).name)
        changed.write_text(text)
        return changed

    def _command(self, path, text):
        if not self.command_objects:
            sources = sorted((ROOT / "src" / "cli").glob("*.c"))
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                self.command_objects = dict(zip(
                    [source.name for source in sources],
                    pool.map(lambda source: self._compile(
                        source, self.directory / f"cli_{source.stem}.o"),
                        sources)))
        changed = self._compile(self._write(path, text),
                                self.directory / "changed.o")
        output = self.directory / "quorlock"
        self._run(os.environ.get("CC", "cc"),
                  *[changed if name == pathlib.Path(path).name else file
                    for name, file in self.command_objects.items()],
                  self.build / "src" / "admin" / "libquorlock_admin.a",
                  f"-L{self.build}", f"-Wl,-rpath,{self.build}", "-lquorlock",
                  "-lhiredis", "-ljansson", "-o", output)
        return output


def notice(builder, programs, seed, fault):
    """(what is wrong with the test or "", what it saw of the fault)."""
    _, path, old, new = fault
    text = (ROOT / path).read_text()
    if text.count(old) != 1:
        return f"{path} has changed: mend this fault's text", ""
    try:
        name, program = builder.program(path, text.replace(old, new))
    except SyntaxError as error:
        return f"does not compile:\n{error}", ""
    programs = {**programs, name: str(program)}
    if name == "quorlock":
        figures = Kill(programs, seed, MOMENTS, watch=True).go()
        seen = figures["problems"]
        return "" if seen else "not noticed", seen[0] if seen else ""
    profile = "late" if "acquire.c" in path else "crowd"
    figures = Contention(profile, programs, seed, SECONDS, watch=True,
                         commands=0).go()
    count = figures["overlaps inside the model"]
    return ("" if count else "not noticed",
            f"{count} overlaps in {figures['acquisitions']} acquisitions, "
            f"{figures['seconds']} s")


def check_all(build, programs, seed, report):
    builder = Builder(build)
    try:
        for fault in FAULTS:
            wrong, seen = notice(builder, programs, seed, fault)
            report.planted(fault[0], wrong, seen)
    finally:
        builder.close()
