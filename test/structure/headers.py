#!/usr/bin/env python3
"""headers.py ROOT FOLDER COMPILE_COMMANDS: each header in ROOT/include/dice/FOLDER compiles alone, without warnings.

FOLDER is a room, a folder in a room with all below it, or "." for dice.hpp.  COMPILE_COMMANDS is CMake's list; the command
that compiles probe.cpp is used.  Headers that need libraries that this build has not found are skipped; exit status 77 if
all are. One header of dice that most of them include anyway is precompiled and put before those that include it. Missing
includes are still found, since it brings nothing that these headers do not bring themselves.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')
CONDITION = re.compile(r"\s*#\s*(if|endif)")
# Headers that include one of these need a library: the macro that says it was found, what is included, the library's name.
OPTIONAL = [
    ("DICE_WITH_CUDNN", re.compile(r"dice/kernels/cudnn/"), "CUDA and cuDNN"),
    ("DICE_WITH_OPENMP", re.compile(r"dice/kernels/openmp/"), "OpenMP"),
    ("DICE_WITH_MPI", re.compile(r"dice/channels/mpi/"), "MPI and Boost.MPI"),
    ("DICE_WITH_PICTURES", re.compile(r"stb/"), "stb"),
]


def direct(text):
    """Headers that a text includes unconditionally."""
    found, depth = [], 0
    for line in text.splitlines():
        if match := CONDITION.match(line):
            depth += 1 if match.group(1) == "if" else -1
        elif depth == 0 and (match := INCLUDE.match(line)):
            found.append(match.group(1))
    return found


def closures(base):
    """{header of dice: all headers that it always includes, itself among them}."""
    names = [path.relative_to(base).as_posix() for path in (base / "dice").rglob("*.hpp")]
    includes = {name: direct((base / name).read_text(encoding="utf-8")) for name in names}

    def reach(name, seen):
        if name not in seen:
            seen.add(name)
            for other in includes.get(name, ()):
                reach(other, seen)
        return seen

    return {name: reach(name, set()) for name in names}


def shared(headers, reached):
    """The header of dice that saves most if it is compiled once for those that include it; None if that is little."""
    def cost(one):
        return sum(1 if name.startswith("dice/") or "/" not in name else 50 for name in reached[one])  # libraries are large

    def users(one):
        return sum(one in reached[name] for name in headers if name != one)

    best = max(sorted(reached), key=lambda one: cost(one) * (users(one) - 1))
    return best if users(best) > 1 else None


def main():
    root, folder, commands = sys.argv[1:4]
    base = pathlib.Path(root) / "include"
    place = base / "dice" / folder
    entries = json.loads(pathlib.Path(commands).read_text())
    probe = next(entry for entry in entries if entry["file"].endswith("structure/probe.cpp"))
    words = shlex.split(probe["command"])
    words = words[: words.index("-o")]  # then come the object and the source
    paths = place.rglob("*.hpp") if "/" in folder else place.glob("*.hpp")
    headers = sorted(path.relative_to(base).as_posix() for path in paths)
    reached = closures(base)
    for macro, included, library in OPTIONAL:
        without = [] if f"-D{macro}" in words else [name for name in headers if any(map(included.match, reached[name]))]
        if without:
            headers = [name for name in headers if name not in without]
            print(f"left out, for this build has no {library}:", *without)
            if not headers:
                return 77
    once = shared(headers, reached)
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        prefix = pathlib.Path(scratch) / "once.hpp"
        prefix.write_text(f'#include "{once}"\n')
        if once:  # its own check reports what is wrong with it
            subprocess.run([*words, "-x", "c++-header", prefix, "-o", f"{prefix}.gch"], cwd=probe["directory"],
                           capture_output=True)
        for name in headers:
            before = ["-Winvalid-pch", "-include", prefix] if name != once and once in reached[name] else []
            done = subprocess.run([*words, *before, "-fsyntax-only", "-x", "c++", "-"], cwd=probe["directory"], text=True,
                                  capture_output=True, input=f'#include "{name}"\n#include "{name}"\nint main() {{}}\n')
            if done.returncode or done.stderr:
                bad += 1
                print(f"{name}:\n{done.stderr[:3000]}")
    print(f"{len(headers)} headers in {place}, of which {bad} do not compile alone without warnings")
    return 1 if bad or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
