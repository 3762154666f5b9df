"""What the commands of this folder share: networks, programs built for them, and the hosts of tools/testbed."""
import argparse
import array
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(HERE.parent))
import host  # noqa: E402, F401

TESTBED = ROOT / "tools/testbed/dice-testbed"
SECONDS = 3  # of each run, about
NETWORKS = ["resnet18", "resnet50", "resnet101", "densenet121", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1", "vgg16", "vgg19",
            "inception_v3", "yolov2_16"]  # those of models.py

SOURCE = """#include <dice/dice.hpp>

#include "{network}.hpp"
{more}
using namespace dice;
using namespace dice::literals;
using whole = {network}::network;
{plan}

int main(int argc, char** argv) {{ return dice::main<whole, plan{lab}>(argc, argv); }}
"""


def call(command, log=None, **how):
    """Run a command; returns its standard output. If it fails, prints what it said and ends this program."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT if log else subprocess.PIPE,
                          text=True, **how)
    if log:
        log.write_text(done.stdout)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr or ''}")
    return done.stdout


def show(text=""):
    """Progress on a terminal."""
    if sys.stderr.isatty():
        print("\r\033[K" + text, end="", file=sys.stderr, flush=True)


def parser(doc, default, known=NETWORKS):
    """The options of all commands; `default`: the networks if none is named."""
    def network(name):
        if name not in known:
            raise argparse.ArgumentTypeError(f"there is no {name}; choose from {', '.join(known)}")
        return name

    out = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    out.add_argument("networks", nargs="*", type=network, default=[*default], metavar="NETWORK",
                     help=f"of {', '.join(known)} (default: {', '.join(default)})")
    out.add_argument("--work", type=pathlib.Path, default=pathlib.Path("papers"), metavar="DIR", help="keeps what was built (papers)")
    out.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each program, in turn (3)")
    out.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures, too")
    return out


def cell(number, form="{:.2f}"):
    """A number that may be missing, for a table."""
    return "" if number is None else form.format(number)


def hosts_of(plan):
    """The ranks' hosts, in the order of the ranks, from the result of Bed.plan."""
    return tuple(host for _, host in sorted({(s["rank"], s["host"]) for s in plan["predicted"]["stages"]}))


class Bed:
    """Hosts h1, h2, … on one machine, and programs for them in folder `work`. Use it by `with`, which removes the hosts at
    the end."""

    def __init__(self, work, networks):
        if os.geteuid() != 0:
            sys.exit("hosts in network namespaces need root")
        self.work, self.programs, self.layers, self.frame_bytes, self.up_as = work.resolve(), {}, {}, {}, None
        for folder in ("models", "src", "profiles"):
            (self.work / folder).mkdir(parents=True, exist_ok=True)
        for name in networks:
            if not (self.work / f"models/{name}.onnx").exists():
                call([sys.executable, "-B", HERE.parent / "models.py", name, "-o", self.work / f"models/{name}.onnx"])
        self.build("onnx2hpp")
        self.onnx2hpp = self.work / "build/dice/tools/onnx2hpp/onnx2hpp"
        for name in networks:
            call([self.onnx2hpp, "-q", "-o", self.work / "models", self.work / f"models/{name}.onnx"])
            header = (self.work / f"models/{name}.hpp").read_text()
            self.layers[name] = re.findall(r"^struct (\w+) final", header, re.MULTILINE)[:-1]  # in the order of their ids
            self.frame(name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        call([TESTBED, "down"])

    def frame(self, network):
        """Make models/NETWORK.npy, a random frame: a single one, so that it takes little memory."""
        shape = json.loads((self.work / f"models/{network}.json").read_text())["inputs"][0]["shape"]
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode().ljust(117) + b"\n"
        seeded = random.Random(1)
        numbers = array.array("f", (seeded.gauss(0, 1) for _ in range(math.prod(shape))))
        (self.work / f"models/{network}.npy").write_bytes(b"\x93NUMPY\1\0v\0" + head + numbers.tobytes())
        self.frame_bytes[network] = 4 * len(numbers)

    def build(self, *targets):
        print("builds", *targets, flush=True)
        programs = ";".join(f"{target}={network}" for target, network in self.programs.items())
        call(["cmake", "-G", "Ninja", "-S", HERE, "-B", self.work / "build", "-DCMAKE_BUILD_TYPE=Release",
              f"-DDICE_BED_WORK={self.work}", f"-DDICE_BED_PROGRAMS={programs}"], self.work / "cmake.log")
        call(["cmake", "--build", self.work / "build", "--target", *targets], self.work / "build.log")

    def add(self, target, network, plan, lab="", more=""):
        """A program; `plan` defines the type plan, and the type `lab` if there is one."""
        self.add_source(target, network, SOURCE.format(network=network, plan=plan, lab=lab and ", " + lab, more=more))

    def add_source(self, target, network, text):
        file = self.work / f"src/{target}.cpp"
        if not file.exists() or file.read_text() != text:  # else the existing build stays valid
            file.write_text(text)
        self.programs[target] = network

    def add_ranks(self, network, *lasts):
        """Adds a program whose ranks end with these layers, the last one with the network's; returns its name,
        NETWORK_LAST_… or NETWORK_all."""
        target = "_".join(map(str, (network, *(lasts or ["all"]))))
        ranges = zip((0, *(last + 1 for last in lasts)), (*lasts, len(self.layers[network]) - 1))
        self.add(target, network, "using plan = mapping<" + ", ".join(
            f"dev<{k}, threads<1>>, layers<range<whole::layer<{a}>, whole::layer<{b}>>>" for k, (a, b) in enumerate(ranges)) + ">;")
        return target

    def add_best(self, target, network, profile, hosts, links=None, objective="throughput"):
        """Adds a program of best_mapping on `hosts`, {name: host in the profile of this name}; unless given, `links` are the
        profile's links between all of them."""
        names, space = [*hosts], f"{network}_{profile}"
        links = links or ", ".join(f"{space}::{a}_{b}" for i, a in enumerate(names) for b in names[i + 1:])
        units = ", ".join(f'host<"{name}", computer<{space}::{unit}>>' for name, unit in hosts.items())
        self.add(target, network, "template <class Measured> using computer = "
                 f'board<"computer", ram<16_GiB>, processor<threads<1>, profile<Measured>>>;\nusing lab = cluster<{units}, {links}>;\n'
                 f"using plan = best_mapping<whole, lab, {objective}>;", "lab", f'#include "{space}.hpp"')

    def table(self, network):
        """[(layer, operator, shape)] of a network, in order."""
        table = call([self.onnx2hpp, self.work / f"models/{network}.onnx", "--list-layers"])
        rows = [line.split() for line in table.splitlines()]
        return [(row[1], row[2], row[3]) for row in rows if len(row) > 4 and row[0].isdigit() and "x" in row[3]]

    def up(self, shares, *link):
        """Starts hosts h1 … with these percentages of a core each, and links given as for `testbed up`."""
        wanted = tuple(shares), link
        if self.up_as == wanted:
            return
        call([TESTBED, "up", len(shares), *link])
        for k, share in enumerate(shares, 1):
            call([TESTBED, "cpu", f"h{k}", share])
        self.up_as = wanted

    def start(self, target, hosts, *options):
        """Run a program with a rank on each of `hosts`; returns its output."""
        if len(hosts) == 1:
            return call([TESTBED, "run", "-h", hosts[0], self.work / f"build/{target}", *options])
        file = self.work / "hosts"
        file.write_text("".join(f"{h} slots=1\n" for h in hosts))
        return call([TESTBED, "run", "-h", hosts[0], "mpirun", "--hostfile", file, "-n", len(hosts), "--bind-to", "none",
                     self.work / f"build/{target}", *options])

    def profile(self, target, hosts, name):
        """Measure with a program, and convert the profile to src/NETWORK_NAME.hpp, in the namespace NETWORK_NAME."""
        network, file = self.programs[target], self.work / f"profiles/{self.programs[target]}_{name}.json"
        self.start(target, hosts, "--measure", file)
        folder = self.work / "profiles" / f"{network}_{name}"
        call([self.onnx2hpp, "-q", "-o", folder, self.work / f"models/{network}.onnx", "--profile", file])
        text = (folder / f"{network}_profile.hpp").read_text().replace(f"namespace {network}_profile", f"namespace {network}_{name}")
        (self.work / f"src/{network}_{name}.hpp").write_text(text)
        return json.loads(file.read_text())

    def plan(self, target):
        """The output of --plan=json."""
        return json.loads(call([self.work / f"build/{target}", "--plan=json"]))

    def report(self, target, hosts, frames):
        """The figures of a run by --json."""
        file = self.work / "run.json"
        model = self.work / f"models/{self.programs[target]}"
        self.start(target, hosts, "--weights", f"{model}.safetensors", "--input", f"{model}.npy", "--warmup", 5, "--frames", frames,
                   "--json", file)
        return json.loads(file.read_text())

    def run(self, todo, rounds):
        """Reports of all rounds, by (target, hosts): each runs for some seconds, in turn with the others."""
        frames = {what: max(10, round(SECONDS * self.report(*what, 10)["frames_per_second"])) for what in todo}
        out = {what: [] for what in todo}
        for k in range(rounds):
            for what in todo:
                show(f"round {k + 1} of {rounds}: {what[0]} on {', '.join(what[1])}")
                out[what].append(self.report(*what, frames[what]))
        show()
        return out
