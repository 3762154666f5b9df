#!/usr/bin/env python3
"""headers.py ROOT JOBS COMPILE_COMMANDS [together]: each header in ROOT/include/dice compiles alone, without warnings.

With "together" all are compiled as one file, in a tenth of the time: that finds warnings, but no missing includes. JOBS compilers
run at once. COMPILE_COMMANDS is CMake's list; the command that compiles probe.cpp is used. Headers that need libraries that this
build has not found are skipped.

Most of the time goes into the headers that a header includes. So headers share compilations: if each of A, B, C includes the one
before it, one file includes A, B and C; and what begins such a chain comes after a precompiled header that it includes itself.
Missing includes are still found, since what comes before a header is nothing that it does not bring itself. Of headers that
include the same but for what none of the others includes, such as the kernels of a backend, two files include all, in both
orders: what one of them lacks comes after it in one of the two.
"""
import concurrent.futures
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
    ("DICE_WITH_MPI", re.compile(r"dice/channels/mpi/(?!launcher|transport)"), "MPI and Boost.MPI"),
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


def batches(headers, reached):
    """Lists of four headers or more of which each includes what all include, and what no other of them does."""
    out = []
    for name in sorted(headers, key=lambda one: (one.rsplit("/", 1)[0], len(reached[one]), one)):
        for batch in out:
            common = batch["common"] if len(batch["headers"]) > 1 else batch["common"] & reached[name]
            first = batch["common"] - common  # what only the batch's first header includes
            own = reached[name] - common
            if common <= reached[name] and max(len(own), len(first)) <= 3 and not own & (batch["own"] | first):
                batch["headers"].append(name)
                batch["common"], batch["own"] = common, batch["own"] | first | own
                break
        else:
            out.append({"headers": [name], "common": reached[name], "own": set()})
    return [batch["headers"] for batch in out if len(batch["headers"]) >= 4]


def files(once, headers, reached):
    """What is compiled after a precompiled header: lists of headers to be included in this order."""
    rest = [name for name in headers if name != once]  # which is compiled without itself
    both = [order for batch in batches(rest, reached) for order in (batch, batch[::-1])]
    alone = set(headers).difference(*both)
    return both + chains(sorted(alone), reached)


def main():
    root, jobs, commands, *together = sys.argv[1:]
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

    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        def compiled(once, after, headers):
            """What the compiler says against these headers."""
            before = ["-Winvalid-pch", "-include", after.result()] if once and headers[0] != once else []
            source = "".join(f'#include "{name}"\n#include "{name}"\n' for name in headers) + "int main() {}\n"
            result = run(*before, "-fsyntax-only", "-x", "c++", "-", text=source)
            return result.stderr or (result.returncode and "failed")

        def precompiled(number, name):
            file = pathlib.Path(scratch) / f"once{number}.hpp"
            file.write_text(f'#include "{name}"\n')
            run("-x", "c++-header", file, "-o", f"{file}.gch")  # what is wrong with it is told by compiled()
            return file

        work = {} if together else groups(reached)
        made = {once: pool.submit(precompiled, i, once) for i, once in enumerate(filter(None, work))}
        results = [(one, pool.submit(compiled, once, made.get(once), one))
                   for once, headers in work.items() for one in files(once, headers, reached)]
        if together:
            results.append((sorted(reached), pool.submit(compiled, None, None, sorted(reached))))
        bad = set()
        for headers, complaint in results:
            if complaint.result():
                bad.update(headers)
                print("" if together else f"{' '.join(headers)}:\n", complaint.result()[:3000], sep="")
    print(f"{len(reached)} headers in {base}")
    if bad and together:
        print("together they do not compile without warnings")
    elif bad:
        print("not all of these compile alone without warnings:", *sorted(bad))
    return 1 if bad or not reached else 0


if __name__ == "__main__":
    sys.exit(main())
