#!/usr/bin/env python3
"""measure.py ONNX2HPP [options]: the costs of compiling with dice, compared with their budgets (budgets.py); exit status 1
if one is exceeded.

dice is installed and used by a separate project (project/), with g++ and, if installed, with clang:

  digits       examples/digits, 2 ranks
  vgg19        VGG-19, 8 ranks
  densenet121  DenseNet-121, 8 ranks
  slices       914 layers in slices on 8 ranks, with one back-and-forth
  scattered    914 layers, each on a random one of 8 ranks
  vgg19_rows   VGG-19 with all convolutions by rows on 8 ranks, beyond the case vgg19
  rows         914 layers by rows on 4 ranks
  gpu          digits with a GPU rank; left out where there is no CUDA
  best_mapping a search for DenseNet-121 on 8 devices of three kinds, beyond the same program with what it finds written by hand
  mixes        a search for a mix of stages, splits and replicas of VGG-19 on four hosts, in the same way
  library      dice's library, in a new build folder, by all cores
  changed      one layer of digits goes to the other rank: cmake --build, and a run on 2 ranks by mpirun
  mapping      the same run without a compiler, by --mapping
  program      the size of digits without symbols and without other mappings (DICE_FIXED_MAPPING), and how many shared libraries it
               loads

For the first ten a single compiler process is measured, with the library compiled before: its user seconds (it has one
thread, so this is its time on a core of its own) and its peak memory. For the next three it is the wall time of the whole
command. Figures are the minimum of the rounds.

--before measures another checkout in turn with this one, and limits the program's size and libraries by that checkout's.
ONNX2HPP makes the headers of networks.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time

import make_network
import searches
from budgets import BUDGETS, CLANG, GROWTH

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(HERE.parent))
import host  # noqa: E402

TITLES = {"user_seconds": "user s", "peak_mib": "peak MiB", "object_mib": "object MiB", "wall_seconds": "wall s", "size_kib": "KiB",
          "libraries": "shared libraries"}
LAYERS = 914
DIGITS = ROOT / "examples/digits"
MOVED = [("digits::pool2>>", "digits::relu2>>"), ("digits::conv3,", "digits::pool2,")]  # in digits.cpp
MAPPING = "mapping<dev<0>, layers<range<picture, relu2>>, dev<1>, layers<range<pool2, scores>>>"  # the same as text
ON_GPU = [("dice::dev<0, dice::cpu>", "dice::dev<0, dice::gpu>")]
SEARCH = ("densenet121", "8 of three kinds, messages", "throughput")
MIXES = ("vgg19", searches.MIXES, "latency")
PROGRAM = """#include <dice/dice.hpp>
#include "HEADER.hpp"
using whole = HEADER::network;
PLAN
int main(int argc, char** argv) { return dice::main<whole, plan>(argc, argv); }
"""
PLATFORMS = {"": "-DDICE_CUDA=OFF", "_gpu": "-DDICE_CUDA=AUTO"}  # of programs without and with a GPU rank


class Refused(Exception):
    """A compiler or another command failed."""


def call(command, folder=None):
    """Run a command; returns its standard output, or raises what it printed if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise Refused(f"{' '.join(map(str, command))}: exit {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def timed(*commands):
    """Wall seconds of commands, one after the other, and CPU seconds of them and their children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    for command in commands:
        call(command)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall_seconds": wall, "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def replaced(text, words):
    for old, new in words:
        if old not in text:
            sys.exit(f"{DIGITS}/digits.cpp has no '{old}' any more")
        text = text.replace(old, new)
    return text


def slices(ranks):
    """The mapping `plan` of `whole` with the same number of layers on each rank."""
    rows = ",\n    ".join(f"dice::dev<{r}, dice::cpu>, dice::layers<dice::range<whole::layer<whole::size * {r} / {ranks}>, "
                          f"whole::layer<whole::size * {r + 1} / {ranks} - 1>>>" for r in range(ranks))
    return f"using plan = dice::mapping<\n    {rows}>;"


def rows(header, ranks):
    """The mapping `plan` of `whole` with all layers by rows on all ranks, until one has fewer rows than there are ranks."""
    layers = re.findall(r"int id = (\d+);.*?tensor::shape result\{([^}]*)\}", header.read_text(), re.S)
    few = [at for at, shape in layers if (shape + ", 1, 1").split(", ")[2] in map(str, range(ranks))]
    end = int([*few, layers[-1][0]][0])  # at the latest, the graph output
    devices = ", ".join(f"dice::dev<{r}, dice::cpu>" for r in range(1, ranks))
    return (f"using plan = dice::mapping<\n    dice::dev<0, dice::cpu>, dice::layers<whole::layer<0>>,\n    dice::ranks<0>, {devices}, "
            f"dice::rows<dice::range<whole::layer<1>, whole::layer<{end - 1}>>>,\n    "
            f"dice::ranks<0>, dice::layers<dice::from<whole::layer<{end}>>>>;")


def program(header, plan):
    return PROGRAM.replace("HEADER", header).replace("PLAN", plan)


class Side:
    """A checkout of dice for one compiler: its library, installed, and projects that use it."""

    def __init__(self, root, folder, compiler, networks):
        self.root, self.folder, self.compiler, self.networks = root, folder, compiler, networks
        self.build = folder / "dice"
        self.options = ["-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_CXX_COMPILER={compiler}"]
        if shutil.which("ninja"):
            self.options += ["-G", "Ninja"]
        self.commands = {}
        self.failed = {}
        self.found = {}  # by what best_mapping finds: the mapping

    def configure(self):
        call(["cmake", "-S", self.root, "-B", self.build, *self.options, "-DDICE_BUILD_TESTS=OFF", "-DDICE_BUILD_EXAMPLES=OFF",
              "-DDICE_BUILD_ONNX2HPP=OFF", "-DDICE_CUDA=OFF"])

    def library(self):
        """Compiles the library again; returns None if this checkout has none."""
        shutil.rmtree(self.build, ignore_errors=True)
        self.configure()
        if "dice_library" not in call(["cmake", "--build", self.build, "--target", "help"]):
            return None
        return timed(["cmake", "--build", self.build, "--parallel", len(host.cores()), "--target", "dice_library"])

    def install(self):
        """Makes the projects, for programs without and with GPU ranks."""
        if not (self.build / "CMakeCache.txt").exists():
            self.configure()
        call(["cmake", "--build", self.build, "--parallel", len(host.cores())])
        call(["cmake", "--install", self.build, "--prefix", self.folder / "prefix"])
        text = (DIGITS / "digits.cpp").read_text()
        for suffix, cuda in PLATFORMS.items():
            project = self.folder / f"project{suffix}"
            project.mkdir(parents=True, exist_ok=True)
            (project / "digits.cpp").write_text(text)
            (project / "gpu.cpp").write_text(replaced(text, ON_GPU))
            call(["cmake", "-S", HERE / "project", "-B", project, *self.options, cuda, f"-DNETWORKS={self.networks}",
                  f"-DCMAKE_PREFIX_PATH={self.folder / 'prefix'}"])
            for entry in json.loads((project / "compile_commands.json").read_text()):
                words = shlex.split(entry["command"])
                if "-DDICE_FIXED_MAPPING" not in words:  # of `fixed`, which is only built
                    self.commands[pathlib.Path(entry["file"]).stem + suffix] = words[: words.index("-o")]
        self.digits = self.folder / "project/digits"

    def compile(self, text, target="digits", only_check=False):
        """One compiler process; its figures."""
        source, result = self.folder / "program.cpp", self.folder / "program.o"
        source.write_text(text)
        words = [*self.commands[target], f"-I{self.networks}", "-c", source, *(["-fsyntax-only"] if only_check else ["-o", result])]
        child = subprocess.Popen([str(word) for word in words], stderr=subprocess.PIPE, text=True)
        errors = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise Refused(f"{self.compiler} with {self.root}: does not compile:\n{text}\n{errors[:2000]}")
        figures = {"user_seconds": usage.ru_utime, "cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_mib": usage.ru_maxrss / 1024}
        return figures if only_check else {**figures, "object_mib": result.stat().st_size / 2**20}

    def search(self, what=SEARCH):
        """What best_mapping costs beyond its result written by hand."""
        network, cluster, objective = what
        checked = [*self.commands["digits"], f"-I{self.networks}"]
        if what not in self.found:
            self.found[what] = searches.found_mappings(checked, network, cluster, self.folder)[searches.OBJECTIVES.index(objective)]
        hand, found = (self.compile(searches.source(network, cluster, plan), only_check=True)
                       for plan in (self.found[what], searches.request(cluster, objective)))
        return {"user_seconds": found["user_seconds"] - hand["user_seconds"], "by_hand_user_seconds": hand["user_seconds"],
                "peak_mib": found["peak_mib"]}

    def split(self, network, ranks, like=None):
        """What a program with layers by rows costs, beyond the same network with the plan `like` if that is given."""
        found = self.compile(program(network, rows(self.networks / f"{network}.hpp", ranks)))
        less = self.compile(program(network, like)) if like else {}
        return {"user_seconds": found["user_seconds"] - less.get("user_seconds", 0), "peak_mib": found["peak_mib"]}

    def build_digits(self, words=()):
        (self.folder / "project/digits.cpp").write_text(replaced((DIGITS / "digits.cpp").read_text(), words))
        return ["cmake", "--build", self.folder / "project", "--target", "digits"]

    def run_digits(self, *options):
        return [*host.MPIRUN, "-n", "2", "--bind-to", "none", self.digits, "--input", DIGITS / "digits_in.npy", "--expect",
                DIGITS / "digits_out.npy", *options]

    def change(self):
        """Moves a layer of digits to the other rank; builds and runs it."""
        call(self.build_digits())
        return timed(self.build_digits(MOVED), self.run_digits())

    def remap(self):
        """The same by --mapping."""
        call(self.build_digits())
        return timed(self.run_digits("--mapping", MAPPING))

    def program(self):
        """The size of digits, and the number of shared libraries that it loads."""
        call([*self.build_digits(), "fixed"])
        fixed = self.digits.with_name("fixed")
        call(["strip", "-o", self.folder / "stripped", fixed])
        # The kernel's vdso is not a library.
        loaded = [line for line in call(["ldd", fixed]).splitlines() if "vdso" not in line]
        return {"size_kib": (self.folder / "stripped").stat().st_size / 1024, "libraries": len(loaded)}


# What is measured, by name: a function of a Side that returns figures, or None if there is nothing to measure.
CASES = {
    "library": Side.library,
    "digits": lambda side: side.compile((DIGITS / "digits.cpp").read_text()),
    "vgg19": lambda side: side.compile(program("vgg19", slices(8))),
    "densenet121": lambda side: side.compile(program("densenet121", slices(8))),
    "slices": lambda side: side.compile(program("net", '#include "plan.inc"')),
    "scattered": lambda side: side.compile(program("net", '#include "scattered.inc"')),
    "vgg19_rows": lambda side: side.split("vgg19", 8, like=slices(8)),
    "rows": lambda side: side.split("net", 4),
    "gpu": lambda side: side.compile(replaced((DIGITS / "digits.cpp").read_text(), ON_GPU), "gpu_gpu") if "gpu_gpu" in side.commands else None,
    "best_mapping": Side.search,
    "mixes": lambda side: side.search(MIXES),
    "changed": Side.change,
    "mapping": Side.remap,
    "program": Side.program,
}
ONCE = ("library", "program")


def least(figures):
    """The minimum of several rounds."""
    return {key: min(f[key] for f in figures) for key in figures[0]} if figures else None


def measure(sides, cases, rounds):
    """{case: [figures of each side, or None]}; sides take turns."""
    found = {}
    for case in cases:
        rows = [[] for _ in sides]
        for _ in range(1 if case in ONCE else rounds):
            for side, row in zip(sides, rows):
                if side is None or case in side.failed:
                    continue
                try:
                    figures = CASES[case](side)
                except Refused as refused:
                    if side is sides[-1]:
                        sys.exit(str(refused))
                    side.failed[case] = str(refused)  # an older dice may not know it
                    print(refused, file=sys.stderr)
                    continue
                if figures:
                    row.append(figures)
        found[case] = [least(row) for row in rows]
        if case == "library":
            for side in sides:
                if side:
                    side.install()
        if sys.stderr.isatty():
            print("measured:", case, file=sys.stderr, flush=True)
    return found


def told(value):
    return "–" if value is None else f"{value:.2f}" if value < 20 else f"{value:.0f}"


def tell(found, clang):
    """Print the table; returns the cases that exceed a budget."""
    rows, beyond = [], []
    for case, (before, now) in found.items():
        limits = {key: most * (CLANG if clang else 1) for key, most in BUDGETS.get(case, {}).items()}
        if case == "program" and before:
            limits = {key: before[key] * times for key, times in GROWTH.items()}
        if not now:
            rows.append([case, "left out: there is no CUDA here" if case == "gpu" else "nothing to measure", "", "", ""])
            if case != "gpu":
                beyond.append(f"{case}: nothing was measured")
            continue
        for key, title in TITLES.items():
            if key not in now:
                continue
            rows.append([case, title, told((before or {}).get(key)), told(now[key]), told(limits.get(key))])
            if key in limits and now[key] > limits[key]:
                beyond.append(f"{case}: {told(now[key])} {title}, budget {told(limits[key])}")
    host.table(["", "before", "after", "budget"], [[f"{row[0]}, {row[1]}".strip(", "), *row[2:]] for row in rows])
    return beyond


def compilers(only):
    found = {"g++": shutil.which("g++-12") or shutil.which("g++"), "clang": shutil.which("clang++-14") or shutil.which("clang++")}
    if only and not found[only]:
        sys.exit(f"--compiler {only}: there is none here")
    if not any(found.values()):
        sys.exit("there is neither g++ nor clang here")
    return {name: path for name, path in found.items() if path and only in (None, name)}


def headers(compile_one):
    """Measures each room's umbrella header by itself."""
    rows = []
    for folder in sorted(path for path in (ROOT / "include/dice").iterdir() if path.is_dir()):
        umbrella = folder / f"{folder.name}.hpp" if folder.name != "app" else ROOT / "include/dice/dice.hpp"
        names = [umbrella] if umbrella.exists() else sorted(folder.glob("*.hpp"))  # meta has no umbrella
        figures = compile_one("".join(f"#include <{name.relative_to(ROOT / 'include')}>\n" for name in names))
        rows.append([folder.name, told(figures["user_seconds"]), told(figures["peak_mib"])])
    host.table(["room", "user s", "peak MiB"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("onnx2hpp", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path, metavar="DIR", help="another checkout of dice")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build_compile_time"), metavar="DIR", help="for all that is made (build_compile_time)")
    parser.add_argument("--only", nargs="+", choices=list(CASES), metavar="CASE", help="only these; a library that is in DIR is taken as it is")
    parser.add_argument("--compiler", choices=["g++", "clang"], help="only this one")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="of each measurement, of which the least counts (2)")
    parser.add_argument("--rooms", action="store_true", help="also each room's umbrella header alone")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    given = parser.parse_args()
    cases = [case for case in CASES if not given.only or case in given.only]
    work, onnx2hpp = given.work.resolve(), given.onnx2hpp.resolve()
    networks = work / "networks"
    networks.mkdir(parents=True, exist_ok=True)
    call([onnx2hpp, "-q", "-o", networks, DIGITS / "digits.onnx"])
    for network in ("vgg19", "densenet121"):
        if network in cases or f"{network}_rows" in cases or (network, True) in ((SEARCH[0], "best_mapping" in cases), (MIXES[0], "mixes" in cases)):
            searches.make_header(onnx2hpp, network, networks)
    make_network.write(LAYERS, 8, networks)

    here, figures, beyond = host.begin(), {}, []
    for name, compiler in compilers(given.compiler).items():
        print(f"\n{call([compiler, '--version']).splitlines()[0]}", flush=True)
        roots = {"before": given.before and given.before.resolve(), "now": ROOT}
        sides = [root and Side(root, work / re.sub(r"\W", "", f"{name}_{which}".replace("+", "x")), compiler, networks) for which, root in roots.items()]
        if "library" not in cases:
            for side in sides:
                if side:
                    side.install()
        figures[name] = measure(sides, cases, given.rounds)
        beyond += [f"{name}: {line}" for line in tell(figures[name], name == "clang")]
        if given.rooms:
            headers(sides[-1].compile)
    host.write(given.json, here, figures=figures)
    for line in beyond:
        print("beyond the budget:", line)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
