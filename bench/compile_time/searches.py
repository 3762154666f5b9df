#!/usr/bin/env python3
"""searches.py COMPILE_COMMANDS ONNX2HPP [--json FILE]: what best_mapping adds to the compile time of a program.

Networks are VGG-19, ResNet-101 and DenseNet-121 (headers are made once, in --networks), on 24 devices in a given order, on 8
of three kinds in any order, and on 8 of which two have a slower connection; "messages": processors with sending<> and
receiving<>. For three objectives it compiles (syntax only) a program with best_mapping and predicted<>, and the same with
the resulting mapping written by hand. With g++, and with clang if installed, the figure is the difference in the compiler's
CPU seconds, the minimum of the rounds; the compiler has one thread. best_mapping gets whole_layers, but for the rows "mixes", in which
it may split layers over four alike hosts.
"""
import argparse
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

from budgets import BUDGETS

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import host  # noqa: E402

NETWORKS = ["vgg19", "resnet101", "densenet121"]
MOST = BUDGETS["best_mapping"]["user_seconds"]
OBJECTIVES = ["throughput", "latency", "energy"]
SPEEDS = [(24, 8, 7.3, 3), (13.6, 4, 6.0, 2.5), (52, 12, 11.0, 4)]  # gflops, gbytes_per_s, watts
PROGRAM = """#include <dice/partition/partition.hpp>
#include "NETWORK.hpp"
using namespace dice;
using namespace dice::literals;
using whole = NETWORK::network;
BOARDSusing lab = cluster<HOSTS, connection<mbit_per_s<940>, us<150>>LINKS>;
using plan = PLAN;
static_assert(predicted<whole, plan, lab>.throughput > 0);
"""
# Prints for each request the hosts of the ranks, and the rank of each layer.
FINDER = """
#include <cstdio>
int main() {
  for (const auto best : {partition::objective::throughput, partition::objective::latency, partition::objective::energy}) {
    partition::request request;
    request.aim.best = best, request.aim.in_order = IN_ORDER;
    const auto problem = cost::problem_of(cost::setting_of<whole, lab>);
    const auto found = partition::find_best(cost::setting_of<whole, lab>, request);
    for (const int d : found.ranks.devices) std::printf("%d ", problem.devices[d].host);
    std::printf(";");
    for (const int rank : found.ranks.owner) std::printf(" %d", rank);
    std::printf("\\n");
  }
}
"""
MESSAGES = ", sending<us<20>, gbytes_per_s<0.5>>, receiving<us<30>, gbytes_per_s<0.4>>"


def cluster(count, slower, messages):
    boards = "".join(
        f'using kind{k} = board<"kind{k}", ram<4_GiB>, processor<cores<0, 1, 2, 3>, gflops<{g}>, gbytes_per_s<{b}>, watts<{w}, {i}>'
        f"{MESSAGES if messages else ''}>>;\n" for k, (g, b, w, i) in enumerate(SPEEDS))
    hosts = ", ".join(f'host<"h{h}", kind{h % len(SPEEDS)}>' for h in range(count))
    links = ', connection<between<"h0", "h1">, mbit_per_s<95>, us<300>>' if slower else ""
    return boards, hosts, links


CLUSTERS = {"24 in order": (24, False, False), "24 in order, messages": (24, False, True), "8 of three kinds": (8, False, False),
            "8 of three kinds, messages": (8, False, True), "8, a slower connection": (8, True, False)}


MIXES = "4 alike, mixes"
CLUSTERS_OF_MIXES = {MIXES: (4, False, False)}


def request(name, objective):
    """best_mapping for a cluster of these."""
    more = ", in_order" if "order" in name else ""
    return f"best_mapping<whole, lab, {objective}{more}{'' if name == MIXES else ', whole_layers'}>"


def source(network, name, plan):
    boards, hosts, links = cluster(*{**CLUSTERS, **CLUSTERS_OF_MIXES}[name])
    if name == MIXES:
        hosts = ", ".join(f'host<"h{h}", kind1>' for h in range(4))
    text = PROGRAM
    for word, value in (("NETWORK", network), ("BOARDS", boards), ("HOSTS", hosts), ("LINKS", links), ("PLAN", plan)):
        text = text.replace(word, value)
    return text


def found_mixes(command, network, name, folder):
    """The mappings that best_mapping finds, as it writes them."""
    file, program, out = folder / "find.cpp", folder / "find", []
    for objective in OBJECTIVES:
        file.write_text(source(network, name, request(name, objective)) + """
#include <dice/placement/text/write.hpp>
#include <cstdio>
int main() { std::puts(placement::write(placement::written<whole, plan>, whole::name, graph::view_of<whole>).c_str()); }
""")
        subprocess.run([*(word for word in command if word != "-fsyntax-only"), "-O1", str(file), "-o", str(program)], check=True)
        out.append(subprocess.run([program], capture_output=True, text=True, check=True).stdout)
    return out


def found_mappings(command, network, name, folder):
    """The mappings that best_mapping finds, as if written by hand, in the order of OBJECTIVES."""
    if name == MIXES:
        return found_mixes(command, network, name, folder)
    file, program = folder / "find.cpp", folder / "find"
    head, _ = source(network, name, "int").split("using plan")
    file.write_text(head + FINDER.replace("IN_ORDER", str("order" in name).lower()))
    subprocess.run([*(word for word in command if word != "-fsyntax-only"), "-O1", str(file), "-o", str(program)], check=True)
    out = []
    for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines():
        hosts, owners = (part.split() for part in line.split(";"))
        devices = []
        for rank, at in enumerate(hosts):
            ranges, begin = [], None
            for layer, owner in enumerate([*owners, None]):
                if owner == str(rank) and begin is None:
                    begin = layer
                elif owner != str(rank) and begin is not None:
                    ranges.append(f"range<whole::layer<{begin}>, whole::layer<{layer - 1}>>")
                    begin = None
            devices.append(f'dev<{rank}, cores<0, 1, 2, 3>, on<"h{at}">>, layers<{", ".join(ranges)}>')
        out.append(f"mapping<{', '.join(devices)}>")
    return out


def cpu_seconds(command, text, folder):
    file = folder / "program.cpp"
    file.write_text(text)
    child = subprocess.Popen([*command, str(file)], stderr=subprocess.PIPE, text=True)
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"this does not compile:\n{text}\n{errors[:2000]}")
    return usage.ru_utime + usage.ru_stime


def make_header(onnx2hpp, network, folder):
    """FOLDER/NETWORK.hpp, unless it is there."""
    if not (folder / f"{network}.hpp").exists():
        with tempfile.TemporaryDirectory() as scratch:
            model = pathlib.Path(scratch) / f"{network}.onnx"
            subprocess.run([sys.executable, "-B", HERE.parent / "models.py", network, "-o", model], check=True)
            subprocess.run([onnx2hpp, "-q", "-o", scratch, model], check=True)
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(model.with_suffix(".hpp"), folder)


def compilers(commands, networks):
    """{name: command} with which a user's program is compiled, without generating code."""
    entry = next(e for e in json.loads(commands.read_text()) if e["file"].endswith("compile_time/probe.cpp"))
    words = shlex.split(entry["command"])
    common = [w for w in words[1:] if w.startswith(("-D", "-I", "-m", "-fopenmp"))] + ["-std=c++20", "-fsyntax-only", f"-I{networks}"]
    common += [w for k, w in enumerate(words) if k and (w == "-isystem" or words[k - 1] == "-isystem")]
    found = {"g++": ["g++", *common, "-fconstexpr-ops-limit=4294967296", "-fconstexpr-loop-limit=16777216"]}
    if clang := shutil.which("clang++-14") or shutil.which("clang++"):
        found["clang"] = [clang, *common, "-fconstexpr-steps=2147483647", "-fbracket-depth=4096"]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", type=pathlib.Path)
    parser.add_argument("onnx2hpp", type=pathlib.Path)
    parser.add_argument("--networks", type=pathlib.Path, default=pathlib.Path("networks"), metavar="DIR", help="keeps the headers (networks)")
    parser.add_argument("--of", nargs="+", choices=NETWORKS, default=NETWORKS, metavar="NETWORK", help="only of these")
    parser.add_argument("--compiler", choices=["g++", "clang"], help="only this one")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="compilations of each, of which the fastest counts (3)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    given = parser.parse_args()
    for network in given.of:
        make_header(given.onnx2hpp, network, given.networks)
    here, rows, figures = host.begin(), [], []
    commands = compilers(given.commands, given.networks.resolve())
    if given.compiler:
        if given.compiler not in commands:
            sys.exit(f"--compiler {given.compiler}: there is none here, only {', '.join(commands)}")
        commands = {given.compiler: commands[given.compiler]}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        names = [*CLUSTERS, *CLUSTERS_OF_MIXES]
        mappings = {(network, name): found_mappings(next(iter(commands.values())), network, name, folder)
                    for network in given.of for name in names}
        for compiler, command in commands.items():
            for network in given.of:
                for name in names:
                    more, by_hand = {}, {}
                    for objective, plan in zip(OBJECTIVES, mappings[network, name]):
                        best = request(name, objective)
                        hand, found = (min(cpu_seconds(command, source(network, name, p), folder) for _ in range(given.rounds))
                                       for p in (plan, best))
                        by_hand[objective], more[objective] = hand, found - hand
                    figures.append({"compiler": compiler, "network": network, "cluster": name, "by_hand": by_hand, "more": more})
                    rows.append([compiler, network, name, f"{max(by_hand.values()):.1f}", *(f"{more[w]:+.1f}" for w in OBJECTIVES)])
                    print("measured:", *rows[-1], file=sys.stderr, flush=True)
    host.table(["compiler", "network", "devices", "by hand", *OBJECTIVES], rows)
    host.write(given.json, here, figures=figures)
    beyond = [f for f in figures if "slower" not in f["cluster"] and f["cluster"] != MIXES and max(f["more"].values()) > MOST]
    print(f"{len(beyond)} of {len(figures)} take more than {MOST:g} s longer" if beyond else f"none takes more than {MOST:g} s longer"
          " (clusters with a slower connection, and mixes, are not counted)")


if __name__ == "__main__":
    main()
