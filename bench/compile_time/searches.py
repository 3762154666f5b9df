#!/usr/bin/env python3
"""searches.py COMPILE_COMMANDS ONNX2HPP [--json FILE]: what best_mapping adds to the compile time of a program.

Programs of VGG-19, ResNet-101 and DenseNet-121, whose headers are made in --networks once, are compiled, checked only, with a mapping by hand
and with best_mapping for three objectives on the same cluster: 24 devices in a given order, 8 of three kinds in free order, and 8 of
which two have a slower connection. "messages": processors with sending<> and receiving<>. With g++, and with clang if it is there:
CPU seconds of the compiler beyond the mapping by hand, the least of the rounds; the compiler is one thread.
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

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import host  # noqa: E402

NETWORKS = ["vgg19", "resnet101", "densenet121"]
WISHES = ["throughput", "latency", "energy"]
MOST = 2.0  # CPU seconds, of the first two clusters
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


def source(network, layers, name, wish):
    boards, hosts, links = cluster(*CLUSTERS[name])
    half = layers // 2
    plan = (f"best_mapping<whole, lab, {wish}{', in_order' if 'order' in name else ''}>" if wish else
            f"mapping<dev<0, cpu>, layers<to<whole::layer<{half}>>>, dev<1, cpu>, layers<from<whole::layer<{half + 1}>>>>")
    text = PROGRAM
    for word, value in (("NETWORK", network), ("BOARDS", boards), ("HOSTS", hosts), ("LINKS", links), ("PLAN", plan)):
        text = text.replace(word, value)
    return text


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
    """{name: command}, as a user's program is compiled, without code."""
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
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="compilations of each, of which the fastest counts (3)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    given = parser.parse_args()
    for network in NETWORKS:
        make_header(given.onnx2hpp, network, given.networks)
    here, rows, figures = host.begin(), [], []
    with tempfile.TemporaryDirectory() as scratch:
        for compiler, command in compilers(given.commands, given.networks.resolve()).items():
            for network in NETWORKS:
                layers = (given.networks / f"{network}.hpp").read_text().count("\nstruct ") - 1
                for name in CLUSTERS:
                    seconds = {wish: min(cpu_seconds(command, source(network, layers, name, wish), pathlib.Path(scratch))
                                         for _ in range(given.rounds)) for wish in (None, *WISHES)}
                    more = {wish: seconds[wish] - seconds[None] for wish in WISHES}
                    figures.append({"compiler": compiler, "network": network, "cluster": name, "by_hand": seconds[None], "more": more})
                    rows.append([compiler, network, name, f"{seconds[None]:.1f}", *(f"{more[w]:+.1f}" for w in WISHES)])
                    print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    host.table(["compiler", "network", "devices", "by hand", *WISHES], rows)
    host.write(given.json, here, figures=figures)
    beyond = [f for f in figures if "slower" not in f["cluster"] and max(f["more"].values()) > MOST]
    print(f"{len(beyond)} of {len(figures)} take more than {MOST:g} s longer" if beyond else f"none takes more than {MOST:g} s longer"
          " (clusters with a slower connection are not counted)")


if __name__ == "__main__":
    main()
