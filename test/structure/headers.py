#!/usr/bin/env python3
"""headers.py ROOT SHARD/SHARDS COMPILE_COMMANDS: each header in ROOT/include/dice compiles alone, without warnings.

SHARD/SHARDS: one of so many parts of the work, 0/1 for all of it. COMPILE_COMMANDS is CMake's list; the command that compiles
probe.cpp is used. Headers that need libraries that this build has not found are skipped.

Most of the time goes into the headers that a header includes. So headers share compilations: if each of A, B, C includes the one
before it, one file includes A, B and C; and what begins such a chain comes after a precompiled header that it includes itself.
Missing includes are still found, since what comes before a header is nothing that it does not bring itself.
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
    ("DICE_WITH_CUDNN", re.compile(r"dice/kernels/cudnn/(?!operators|open)"), "CUDA and cuDNN"),
    ("DICE_WITH_OPENMP", re.compile(r"dice/kernels/openmp/"), "OpenMP"),
    ("DICE_WITH_MPI", re.compile(r"dice/channels/mpi/"), "MPI and Boost.MPI"),
    ("DICE_WITH_PICTURES", re.compile(r"stb/"), "stb"),
]
# Precompiled for the headers that include them: those that save most. Each takes as long as a few headers.
ONCE = [f"dice/{name}.hpp" for name in ("kernels/cudnn/detail/base", "kernels/openmp/detail/base", "runtime/tensor", "tensor/region")]


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


def cost(reached):
    return sum(1 if name.startswith("dice/") else 3 if "/" not in name else 50 for name in reached)  # libraries are large


def groups(reached):
    """{header that is precompiled, or None: headers that come after it}"""
    out = {}
    for name in sorted(reached):
        brought = [one for one in ONCE if one in reached[name] and one in reached]
        out.setdefault(max(brought, key=lambda one: cost(reached[one]), default=None), []).append(name)
    return out


def chains(headers, reached):
    """The headers as few lists, in each of which every header includes the one before it."""
    after = {}  # as few as possible are the last of a list: a matching of headers and those that follow them

    def follow(name, seen):
        for other in sorted(set(headers) & reached[name] - {name}, key=lambda one: (-len(reached[one]), one)):
            if other not in seen:
                seen.add(other)
                if other not in after or follow(after[other], seen):
                    after[other] = name
                    return True
        return False

    for name in sorted(headers, key=lambda one: (len(reached[one]), one)):
        follow(name, set())
    first = set(headers) - set(after.values())
    out = []
    for name in sorted(first):
        out.append([name])
        while out[-1][-1] in after:
            out[-1].append(after[out[-1][-1]])
    return out


def main():
    root, shard, commands = sys.argv[1:4]
    shard, shards = map(int, shard.split("/"))
    base = pathlib.Path(root) / "include"
    entries = json.loads(pathlib.Path(commands).read_text())
    probe = next(entry for entry in entries if entry["file"].endswith("structure/probe.cpp"))
    words = shlex.split(probe["command"])
    words = words[: words.index("-o")]  # then come the object and the source
    reached = closures(base)
    for macro, included, library in OPTIONAL:
        without = [] if f"-D{macro}" in words else [name for name in sorted(reached) if any(map(included.match, reached[name]))]
        if without:
            reached = {name: to for name, to in reached.items() if name not in without}
            print(f"left out, for this build has no {library}:", *without)

    def run(*more, text=None):
        return subprocess.run([*words, *more], cwd=probe["directory"], capture_output=True, text=True, input=text)

    work = [(once, chain) for once, headers in groups(reached).items() for chain in chains(headers, reached)]
    total = sum(cost(reached[chain[-1]] - reached.get(once, set())) for once, chain in work)
    checked, bad, done = 0, set(), 0
    with tempfile.TemporaryDirectory() as scratch:
        made = {}
        for once, chain in work:
            begins, done = done, done + cost(reached[chain[-1]] - reached.get(once, set()))
            if begins * shards // total != shard:
                continue
            before = []
            if once:
                if once not in made:
                    made[once] = pathlib.Path(scratch) / f"once{len(made)}.hpp"
                    made[once].write_text(f'#include "{once}"\n')
                    run("-x", "c++-header", made[once], "-o", f"{made[once]}.gch")  # what is wrong with it is told below
                before = ["-Winvalid-pch", "-include", made[once]] if chain[0] != once else []
            source = "".join(f'#include "{name}"\n#include "{name}"\n' for name in chain) + "int main() {}\n"
            result = run(*before, "-fsyntax-only", "-x", "c++", "-", text=source)
            checked += len(chain)
            if result.returncode or result.stderr:
                bad.update(chain)
                print(f"{' '.join(chain)}:\n{result.stderr[:3000]}")
    print(f"{checked} headers in {base}")
    if bad:
        print("not all of these compile alone without warnings:", *sorted(bad))
    return 1 if bad or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
