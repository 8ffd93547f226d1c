#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The habits of this house, as far as a program can see them.

Each rule is one check; what breaks it is printed with its file and line.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WIDTH = 80
# Ratchets: these numbers may become smaller, never larger.
FUNCTION_MAX = 70
FILE_MAX = 600

# What has no place for a licence line.
BARE = re.compile(r"(\.md|\.json|go\.sum|go\.mod|requirements\.txt|LICENSE"
                  r"|\.gitignore)$")
CODE = re.compile(r"\.(c|h|cpp|lua|py|sh|js|go)$|^scripts/|^demo/sale$")

# The core is pure: time, chance and memory are handed to it.
BANNED_IN_CORE = """
    clock_gettime time gettimeofday rand random malloc calloc realloc free
    printf fprintf snprintf getenv usleep nanosleep sleep socket write read
    getrandom abort exit""".split()

# folder -> whose headers it may include, and which system libraries'.
MAY_INCLUDE = {
    "core": (["core"], []),
    "base": (["base", "quorlock"], []),
    "guard": (["guard", "base", "quorlock"], []),
    "redis": (["redis", "guard", "base", "quorlock"], ["hiredis"]),
    "client": (["client", "core", "redis", "guard", "base", "quorlock"], []),
    "admin": (["admin", "redis", "guard", "base", "quorlock"], ["hiredis"]),
    "cli": (["cli", "admin", "guard", "quorlock"], ["jansson.h"]),
}
LIBRARIES = ["hiredis", "jansson.h", "sqlite3.h"]
CORE_HEADERS = ["assert.h", "limits.h", "stdbool.h", "stddef.h", "stdint.h",
                "string.h"]

COMMENT_OR_STRING = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def list_files():
    """What is, or may be, committed; all there is where git is not."""
    try:
        names = subprocess.run(
            ["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"],
            cwd=ROOT, check=True, capture_output=True, text=True).stdout
        files = [name for name in names.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        files = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")]
    return sorted(name for name in files if (ROOT / name).is_file() and
                  not re.search(r"^\.git/|^build|__pycache__|/seeds/", name))


def lines_of(name):
    return (ROOT / name).read_text(encoding="utf-8").split("\n")


def code_lines(name):
    """The lines of a C file, without comments and strings."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])
    text = (ROOT / name).read_text(encoding="utf-8")
    return COMMENT_OR_STRING.sub(blank, text).split("\n")


def in_c(files, folder=""):
    return [name for name in files
            if name.startswith(folder) and re.search(r"\.[ch]$", name)]


def licence_line(files):
    """every file says its licence at the top"""
    for name in files:
        if not BARE.search(name) and not any(
                "SPDX-License-Identifier: BSD-2-Clause" in line
                for line in lines_of(name)[:2]):
            yield name, 1, "no SPDX line"


def width(files):
    """80 columns"""
    for name in files:
        if CODE.search(name):
            for number, line in enumerate(lines_of(name), 1):
                if len(line) > WIDTH:
                    yield name, number, f"{len(line)} columns"


def spaces(files):
    """no tabs in C, no space at the end of a line, a newline at the end"""
    for name in files:
        lines = lines_of(name)
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                yield name, number, "space at the end"
            if "\t" in line and re.search(r"\.[ch]$", name):
                yield name, number, "tab"
        if lines[-1]:
            yield name, len(lines), "no newline at the end"


def pure_core(files):
    """the core calls nothing of the world"""
    banned = re.compile(r"\b(%s)\s*\(|\b(errno)\b" % "|".join(BANNED_IN_CORE))
    for name in in_c(files, "src/core/"):
        for number, line in enumerate(code_lines(name), 1):
            match = banned.search(line)
            if match:
                yield name, number, match[1] or match[2]


def includes(files):
    """includes point one way: cli -> client -> core, redis -> base"""
    pattern = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
    for name in in_c(files, "src/"):
        folder = name.split("/")[1]
        ours, libraries = MAY_INCLUDE[folder]
        for number, line in enumerate(lines_of(name), 1):
            match = pattern.match(line)
            if not match:
                continue
            owner = match[2].split("/")[0]
            if match[1] == '"':
                allowed = "/" not in match[2] or owner in ours
            else:
                allowed = owner not in LIBRARIES or owner in libraries
                if folder == "core":
                    allowed = match[2] in CORE_HEADERS
            if not allowed:
                yield name, number, f"{folder} includes {match[2]}"


def short_functions(files):
    """functions of 70 lines at most"""
    for name in in_c(files):
        start = None
        for number, line in enumerate(code_lines(name), 1):
            if line.rstrip() == "{":
                start = number
            elif line.rstrip() == "}" and start:
                if number - start - 1 > FUNCTION_MAX:
                    yield name, start, f"{number - start - 1} lines"
                start = None


def short_files(files):
    """files of 600 lines at most"""
    for name in in_c(files, "src/"):
        count = len(lines_of(name)) - 1
        if count > FILE_MAX:
            yield name, count, f"{count} lines"


RULES = [licence_line, width, spaces, pure_core, includes, short_functions,
         short_files]


def main():
    files = list_files()
    failed = 0
    for rule in RULES:
        found = list(rule(files))
        failed += bool(found)
        print("FAIL" if found else "ok  ", rule.__doc__)
        for name, number, what in found:
            print(f"     {name}:{number}: {what}")
    print(f"{len(RULES) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
