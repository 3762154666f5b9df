#!/usr/bin/env python3
"""measure.py COMPILE_COMMANDS [--json FILE] [--sizes 47,344,910]: what the compiler spends on headers and on large networks.

For each room its umbrella header alone; for each size, on 8 ranks with one back-and-forth, the plan alone (checks, plan,
proofs: a static_assert) and a whole program (dice::main): wall and CPU seconds, the compiler's peak memory, the object's size.
Exit status 1 if 910 layers go beyond a budget; the compiler is one thread, so its CPU seconds are what a free core needs.
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

import make_network

PLAN = """#include <dice/schedule/schedule.hpp>
#include "net.hpp"
#include "plan.inc"
static_assert(dice::schedule::plan_of<net::network, plan>.ranks.size() == 8);
"""
PROGRAM = """#include <dice/dice.hpp>
#include "net.hpp"
#include "plan.inc"
int main(int argc, char** argv) { return dice::main<net::network, plan>(argc, argv); }
"""
# Of 910 layers.
BUDGETS = {"plan": {"cpu_seconds": 3.0},
           "program": {"cpu_seconds": 60.0, "peak_mib": 1500 / 1.048576, "object_mib": 8 / 1.048576}}


def compile_one(command, folder, text, name):
    """Compile text in folder; returns its figures."""
    source, result = folder / f"{name}.cpp", folder / f"{name}.o"
    source.write_text(text)
    start = time.monotonic()
    words = [*command, f"-I{folder}", "-c", str(source), "-o", str(result)]
    child = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - start
    if status:
        sys.exit(f"{name} does not compile:\n{errors[:4000]}")
    return {"seconds": round(seconds, 2), "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 2),
            "peak_mib": round(usage.ru_maxrss / 1024, 1), "object_mib": round(result.stat().st_size / 2**20, 3)}


def rooms(command, include):
    """Compile each room's umbrella header alone; returns a row for each."""
    rows = []
    print(f"{'room':15} {'seconds':>8} {'CPU s':>7} {'peak MiB':>9}")
    for folder in sorted(path for path in (include / "dice").iterdir() if path.is_dir()):
        umbrella = include / "dice/dice.hpp" if folder.name == "app" else folder / f"{folder.name}.hpp"
        headers = [umbrella] if umbrella.exists() else sorted(folder.glob("*.hpp"))  # meta has no umbrella
        text = "".join(f"#include <{header.relative_to(include)}>\n" for header in headers)
        with tempfile.TemporaryDirectory() as scratch:
            row = {"room": folder.name, **compile_one(command, pathlib.Path(scratch), text, folder.name)}
        rows.append(row)
        print(f"{row['room']:15} {row['seconds']:8.2f} {row['cpu_seconds']:7.2f} {row['peak_mib']:9.1f}", flush=True)
    return rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("commands")
    arguments.add_argument("--json")
    arguments.add_argument("--sizes", default="47,344,910")
    arguments.add_argument("--parts", default="plan,program")
    given = arguments.parse_args()
    entries = json.loads(pathlib.Path(given.commands).read_text())
    words = shlex.split(next(e["command"] for e in entries if e["file"].endswith("compile_time/probe.cpp")))
    command = words[: words.index("-o")]
    version = subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    print(f"{version}; {' '.join(w for w in command[1:] if w[:2] in ('-O', '-m', '-g'))}")
    by_room = rooms(command, pathlib.Path(__file__).resolve().parents[2] / "include")
    print(f"{'layers':>6} {'part':8} {'seconds':>8} {'CPU s':>7} {'peak MiB':>9} {'object MiB':>11}")
    rows, beyond = [], []
    for size in map(int, given.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            make_network.write(size, 8, folder)
            for part in given.parts.split(","):
                row = {"layers": size, "part": part,
                       **compile_one(command, pathlib.Path(folder), PLAN if part == "plan" else PROGRAM, part)}
                rows.append(row)
                print(f"{size:6} {part:8} {row['seconds']:8.2f} {row['cpu_seconds']:7.2f} {row['peak_mib']:9.1f} "
                      f"{row['object_mib']:11.3f}", flush=True)
                for key, most in BUDGETS[part].items() if size == 910 else ():
                    if row[key] > most:
                        beyond.append(f"{part}: {key} {row[key]} > {most:.1f}")
    if given.json:
        figures = {"compiler": version, "rooms": by_room, "ranks": 8, "results": rows}
        pathlib.Path(given.json).write_text(json.dumps(figures, indent=2) + "\n")
    for line in beyond:
        print("beyond the budget:", line)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
