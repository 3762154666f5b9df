"""What the commands of this folder share: networks, programs that are built for them, and the hosts of test/testbed."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(HERE.parent))
import host  # noqa: E402, F401

TESTBED = ROOT / "test/testbed/testbed"
SECONDS = 3  # of each run, about

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
    """Run a command; its standard output. Ends this program with what it said if it fails."""
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


def parser(doc, networks):
    out = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    out.add_argument("networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(networks)} (default: all)")
    out.add_argument("--work", type=pathlib.Path, default=pathlib.Path("papers"), metavar="DIR", help="keeps what was built (papers)")
    out.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each program, in turn (3)")
    out.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures, too")
    return out


def understood(of, networks):
    """The parsed command line, with networks that exist."""
    given = of.parse_args()
    given.networks = given.networks or list(networks)
    if unknown := [n for n in given.networks if n not in networks]:
        of.error(f"there is no {unknown[0]}; choose from {', '.join(networks)}")
    if os.geteuid() != 0:
        of.error("hosts in network namespaces need root")
    return given


class Bed:
    """Hosts h1, h2, … on one machine, and programs for them in folder `work`. Ends with the hosts gone: use it by `with`."""

    def __init__(self, work, networks):
        self.work, self.programs, self.layers, self.up_as = work.resolve(), {}, {}, None
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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        call([TESTBED, "down"])

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
        if not file.exists() or file.read_text() != text:  # else what was built stays
            file.write_text(text)
        self.programs[target] = network

    def up(self, shares, *link):
        """Hosts h1 … with these percentages of a core each, and links as `testbed up` has them."""
        if self.up_as == (shares, link):
            return
        call([TESTBED, "up", len(shares), *link])
        for k, share in enumerate(shares, 1):
            call([TESTBED, "cpu", f"h{k}", share])
        self.up_as = shares, link

    def start(self, target, hosts, *options):
        """Run a program with a rank on each of `hosts`; its output."""
        if len(hosts) == 1:
            return call([TESTBED, "run", "-h", hosts[0], self.work / f"build/{target}", *options])
        file = self.work / "hosts"
        file.write_text("".join(f"{h} slots=1\n" for h in hosts))
        return call([TESTBED, "run", "-h", hosts[0], "mpirun", "--hostfile", file, "-n", len(hosts), "--bind-to", "none",
                     self.work / f"build/{target}", *options])

    def profile(self, target, hosts, name):
        """Measure with a program, and make src/NETWORK_NAME.hpp of it, where the namespace is NETWORK_NAME."""
        network, file = self.programs[target], self.work / f"profiles/{self.programs[target]}_{name}.json"
        self.start(target, hosts, "--measure", file)
        folder = self.work / "profiles" / f"{network}_{name}"
        call([self.onnx2hpp, "-q", "-o", folder, self.work / f"models/{network}.onnx", "--profile", file])
        text = (folder / f"{network}_profile.hpp").read_text().replace(f"namespace {network}_profile", f"namespace {network}_{name}")
        (self.work / f"src/{network}_{name}.hpp").write_text(text)
        return json.loads(file.read_text())

    def plan(self, target):
        """What --plan=json says."""
        return json.loads(call([self.work / f"build/{target}", "--plan=json"]))

    def report(self, target, hosts, frames):
        """What --json says of a run."""
        file = self.work / "run.json"
        self.start(target, hosts, "--weights", self.work / f"models/{self.programs[target]}.safetensors", "--random", 1, "--warmup", 5,
                   "--frames", frames, "--json", file)
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
