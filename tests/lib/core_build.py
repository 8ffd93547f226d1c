# SPDX-License-Identifier: BSD-2-Clause
"""Builds the core with one file changed, and runs the core's tests on it.

The tests are linked once, to a shared library of the core; a change costs the
compilation of one file.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORE = ROOT / "src" / "core"
LIB = [ROOT / "tests" / "lib" / name
       for name in ("story.c", "story_actions.c", "story_text.c", "world.c",
                     "world_fence.c", "world_node.c")]
UNIT = ["time", "rand", "ballot", "validity", "backoff", "names",
        "machine", "twice", "contract"]
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-w", "-O1", "-fPIC"]
TIME_LIMIT_S = 20


def story_names():
    """The stories, the quick ones first."""
    names = sorted(path.stem for path in (ROOT / "tests" / "story").glob("*.c"))
    names.remove("random")
    return names + ["random"]


class CoreBuild:
    def __init__(self, tests, random_runs, flags=()):
        """`tests`: "story/acquire", ... in the order in which to run them."""
        self.flags = [*FLAGS, *flags]
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="quorlock-core-"))
        self.environ = dict(os.environ, QUORLOCK_RUNS=str(random_runs),
                            CMOCKA_MESSAGE_OUTPUT="STDOUT")
        self.environ.pop("QUORLOCK_SEED", None)
        self.tests = tests
        self.objects = {path.name: self.dir / (path.stem + ".o")
                        for path in sorted(CORE.glob("*.c"))}
        for name, object_file in self.objects.items():
            self._compile(CORE / name, object_file)
        self._link(self.objects.values())
        lib_objects = [self.dir / ("lib_" + path.stem + ".o") for path in LIB]
        for source, object_file in zip(LIB, lib_objects):
            self._compile(source, object_file)
        for test in tests:
            self._run_tool([ROOT / "tests" / (test + ".c"), *lib_objects,
                            "-I", ROOT / "tests" / "lib", "-L", self.dir,
                            "-lcore", "-Wl,-rpath," + str(self.dir),
                            "-lcmocka", "-o", self._program(test)])

    def close(self):
        shutil.rmtree(self.dir)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _program(self, test):
        return self.dir / test.replace("/", "_")

    def _run_tool(self, arguments):
        command = [os.environ.get("CC", "cc"), *self.flags, "-I", ROOT / "src",
                   "-I", ROOT / "include", *arguments]
        done = subprocess.run([str(word) for word in command], text=True,
                              stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise SyntaxError(done.stderr)

    def _compile(self, source, object_file):
        self._run_tool(["-I", ROOT / "tests" / "lib", "-c", source,
                        "-o", object_file])

    def _link(self, objects):
        library = self.dir / "libcore.so"
        library.unlink(missing_ok=True)
        self._run_tool(["-shared", *objects, "-o", library])

    def change(self, name, text):
        """The core with `name` replaced; SyntaxError if it does not compile."""
        changed = self.dir / ("changed_" + name)
        changed.write_text(text)
        object_file = changed.with_suffix(".o")
        self._compile(changed, object_file)
        self._link([object_file if other == name else path
                    for other, path in self.objects.items()])

    def first_failure(self):
        """The first test that fails, or None."""
        for test in self.tests:
            try:
                done = subprocess.run(
                    [self._program(test)], env=self.environ, check=False,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    timeout=TIME_LIMIT_S, preexec_fn=_no_core_file)
            except subprocess.TimeoutExpired:
                return test + " (time limit)"
            if done.returncode != 0:
                return test
        return None


def _no_core_file():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
