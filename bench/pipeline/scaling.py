#!/usr/bin/env python3
"""Scaling on one board: one rank with 1 … N threads, and two ranks with one thread each against one rank with two threads.

    scaling.py [--work DIR] [--level x86-64-v3] [--rounds N] [--json FILE] [NETWORK…]

The cut between the two ranks makes the slower one as fast as possible, by the layers' times on one thread; mpirun binds each
to a core. Frames/s of the two are measured with as many frames in flight as the plan allows, latency with one. Programs run
in turn, round after round, each when the machine is idle; figures are medians over the rounds, ± half the distance between
the quartiles in percent. --work is that of bench/peers/run.
"""
import argparse
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "peers"))
from peers import add_arguments, build, call, host, layer_times, prepare, progress, quiet, run_dice, understood  # noqa: E402

NETWORKS = ["vgg19", "resnet50", "squeezenet1_1", "mobilenet_v1"]  # unless others are named
SECONDS = 2  # of each run, about


def cut(groups):
    """The last layer of the first of two ranks, and the ms of both, for the cut at which the slower one is fastest."""
    best = None
    for last in sorted(max(group["ids"]) for group in groups)[:-1]:
        if any(min(group["ids"]) <= last < max(group["ids"]) for group in groups):
            continue
        halves = [sum(g["ms"] for g in groups if (g["ids"][0] <= last) == first) for first in (True, False)]
        if not best or max(halves) < max(best[1]):
            best = last, halves
    return best


def figures(file):
    told = json.loads(file.read_text())
    return told["frames_per_second"], told["latency_ms"]["median"]


def one_rank(work, name, threads, frames):
    file = work / "run.json"
    run_dice(work, name, threads, "--in-flight", 1, "--warmup", 3, "--frames", frames, "--json", file)
    return figures(file)


def two_ranks(work, name, frames):
    """Frames/s with several frames in flight, latency with one."""
    file = work / "run.json"

    def run(*options):
        call([*host.MPIRUN, "--bind-to", "core", "-n", 2, work / f"build/halves_{name}", "--weights",
              work / f"build/dice_networks/{name}.safetensors", "--input", work / f"models/{name}_in.npy", "--warmup", 3,
              "--frames", frames, "--json", file, *options], env={**os.environ, "OMP_NUM_THREADS": "1"})
        return figures(file)
    return run()[0], run("--in-flight", 1)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--patience", type=float, default=60, metavar="SECONDS",
                        help="how long to wait for an idle machine before each run (default: 60)")
    parser.add_argument("--json", type=pathlib.Path)
    given = parser.parse_args()
    networks, work = understood(parser, given)
    networks = given.networks or NETWORKS
    prepare(work, networks)
    cuts, alone = {}, {}
    for name in networks:
        quiet(given.patience)
        groups, alone[name] = layer_times(work, name, 1)
        cuts[name] = cut(groups)
    build(work, [f"halves_{name}" for name in networks],
          f"-DDICE_PEERS_CUTS={';'.join(f'{name}={last}' for name, (last, _) in cuts.items())}")
    here = host.begin()
    ways = [*range(1, len(host.cores()) + 1), "2 ranks"]
    rounds = []
    for number in range(given.rounds):
        rounds.append({})
        for name in networks:
            frames = max(10, int(1000 * SECONDS / alone[name]))
            for way in ways:
                progress(f"round {number + 1} of {given.rounds}: {name}, {way}")
                quiet(given.patience)
                told = two_ranks(work, name, frames) if way == "2 ranks" else one_rank(work, name, way, frames)
                rounds[-1].setdefault(name, {})[way] = told
    progress("")
    rows = []
    for name in networks:
        def spread(way, which):
            return host.spread([r[name][way][which] for r in rounds])

        def text(way, which):
            middle, around = spread(way, which)
            return f"{middle:.2f} ± {around:.1f} %"
        for way in ways:
            against = [f"{spread(way, 0)[0] / spread(base, 0)[0]:.2f}" if base in ways else "–" for base in (1, 2)]
            what = "2 ranks of {:.1f} and {:.1f} ms".format(*cuts[name][1]) if way == "2 ranks" else f"1 rank, threads: {way}"
            rows.append([name, what, text(way, 0), text(way, 1), *against])
    host.table(["network", "by", "frames/s", "latency ms", "frames/s of 1 thread", "frames/s of 2 threads"], rows)
    host.write(given.json, here, cuts={name: {"last": last, "ms": ms} for name, (last, ms) in cuts.items()}, rounds=rounds)


if __name__ == "__main__":
    main()
