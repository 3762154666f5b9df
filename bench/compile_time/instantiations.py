#!/usr/bin/env python3
"""instantiations.py COMPILE_COMMANDS --networks DIR [--write]: holds dice's template instantiations to limits.json.

Compiled by clang 14 without generating code: the umbrella header; what the example of handwritten digits (DIR has
digits.hpp) instantiates beyond it; and what the plan of 344 layers on 8 ranks instantiates beyond the header of the room
`schedule`, with the steps of its longest constant evaluation. Counts do not depend on the machine, only on compiler and
packages.

Exit status 1 if a count is more than a tenth beyond its limit, with what grew; 77 if there is no clang 14. --write measures
again and writes limits.json: for changes that are worth the increase.
"""
import argparse
import collections
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import make_network

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = HERE / "limits.json"
GROWTH = 1.1
HEADER = "#include <dice/dice.hpp>\n"
ROOM = "#include <dice/schedule/schedule.hpp>\n"
PLAN = """#include <dice/schedule/schedule.hpp>
#include "net.hpp"
#include "plan.inc"
static_assert(dice::schedule::plan_of<net::network, plan>.ranks.size() == 8);
"""
NO_LIMIT = 2**31 - 1


def clang14():
    """The compiler and its version, or None."""
    for name in "clang++-14", "clang++":
        if path := shutil.which(name):
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
            if " 14." in version:
                return path, version
    return None, None


def arguments_of(commands):
    """The directory and arguments with which a user of dice::dice is compiled, without options of a single compiler or
    machine, and without CUDA, which not every machine has."""
    entry = next(e for e in json.loads(pathlib.Path(commands).read_text()) if e["file"].endswith("compile_time/probe.cpp"))
    words, out = iter(shlex.split(entry["command"])), ["-std=c++20", "-fopenmp", "-DNDEBUG", "-fbracket-depth=4096"]
    for word in words:
        if word.startswith(("-I", "-D")) and word not in ("-DNDEBUG", "-DDICE_WITH_CUDNN"):
            out.append(word)
        elif word == "-isystem":
            out += [word, next(words)]
    return out


def run(compiler, arguments, source, steps, folder):
    return subprocess.run([*compiler, *arguments, f"-fconstexpr-steps={steps}", "-fsyntax-only", str(source)], cwd=folder,
                          capture_output=True, text=True)


def owner(name):
    """The owner of a name: dice::schedule::build<…>::f belongs to dice::schedule, std::array<…> to std."""
    parts = re.match(r"[\w:]*", name)[0].split("::")
    return "::".join(parts[:2]) if parts[0] == "dice" and len(parts) > 2 else parts[0] or "others"


def counted(compiler, arguments, source):
    """{"classes": instantiated by owner, "functions": …}"""
    with tempfile.TemporaryDirectory() as folder:
        done = run(compiler, [*arguments, "-ftime-trace", "-ftime-trace-granularity=0"], source, NO_LIMIT, folder)
        if done.returncode:
            sys.exit(f"{source} does not compile:\n{done.stderr[:4000]}")
        events = json.loads((pathlib.Path(folder) / ".json").read_text())["traceEvents"]
    out = {}
    for key, event in ("classes", "InstantiateClass"), ("functions", "InstantiateFunction"):
        out[key] = collections.Counter(owner(e.get("args", {}).get("detail", "")) for e in events if e["name"] == event)
    return out


def less(counts, others):
    return {key: counts[key] - others[key] for key in counts}


def longest_evaluation(compiler, arguments, source):
    """The steps of the longest constant evaluation, to 1 %."""
    least, fits = 0, NO_LIMIT
    while fits - least > fits / 100:
        middle = (least + fits) // 2
        if run(compiler, arguments, source, middle, "/").returncode:
            least = middle
        else:
            fits = middle
    return fits


def grown(case, key, found, limit):
    """What to report of counts by owner that exceed their limit; "" if they do not."""
    total, most = sum(found.values()), sum(limit.values())
    if total <= most * GROWTH:
        return ""
    changes = sorted(((found.get(o, 0) - limit.get(o, 0), o) for o in {*found, *limit}), reverse=True)
    told = ", ".join(f"{o} {limit.get(o, 0)} -> {found.get(o, 0)}" for change, o in changes[:5] if change > 0)
    return f"{case}: {total} {key} instantiated, limit {most} + 10 %; grown most: {told}"


def compare(measured, limits):
    """Lines about what exceeds the limits."""
    lines = [grown(case, key, counts[key], limits[case][key]) for case, counts in measured.items() for key in counts]
    return [line for line in lines if line]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands")
    parser.add_argument("--networks", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    compiler, version = clang14()
    if not compiler:
        print("no clang 14: its counts are those that limits.json has")
        return 77
    compiler, arguments = [compiler], arguments_of(given.commands)
    limits = json.loads(LIMITS.read_text()) if LIMITS.exists() else {}
    digits = HERE.parents[1] / "examples/digits/digits.cpp"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        make_network.write(344, 8, folder)
        sources = {"header": HEADER, "room": ROOM, "plan": PLAN}
        for name, text in sources.items():
            sources[name] = folder / f"{name}.cpp"
            sources[name].write_text(text)
        header, room = (counted(compiler, arguments, sources[name]) for name in ("header", "room"))
        measured = {"umbrella header": header,
                    "digits": less(counted(compiler, [*arguments, f"-I{given.networks}"], digits), header),
                    "plan of 344 layers": less(counted(compiler, arguments, sources["plan"]), room)}
        limit = int(limits["constexpr_steps"] * GROWTH) if not given.write else 0
        if given.write or run(compiler, arguments, sources["plan"], limit, folder).returncode:
            steps = longest_evaluation(compiler, arguments, sources["plan"])
            beyond = [f"plan of 344 layers: {steps} steps in one constant evaluation, limit {int(limit / GROWTH)} + 10 %"]
        else:
            beyond = []
    for case, counts in measured.items():
        print(f"{case:20} {sum(counts['classes'].values()):6} classes {sum(counts['functions'].values()):6} functions")
    if given.write:
        ordered = {case: {key: dict(counts[key].most_common()) for key in counts} for case, counts in measured.items()}
        LIMITS.write_text(json.dumps({"compiler": version, "constexpr_steps": steps, "cases": ordered}, indent=1) + "\n")
        print(f"{LIMITS} written; {steps} steps in the longest constant evaluation")
        return 0
    beyond += compare(measured, limits["cases"])
    for line in beyond:
        print("beyond the limit:", line)
    if beyond:
        print(f"Instantiate less, or say in the change why it is worth it and write new limits:\n  "
              f"bench/compile_time/instantiations.py {given.commands} --networks {given.networks} --write")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
