#!/usr/bin/env python3
"""Networks divided between the GPU and the CPU of one machine: frames/s and latency at several cuts, and on each unit alone.

    pipeline.py --programs DIR --models DIR [--libraries DIR:…] [--rounds N] [--seconds S] [--json FILE] NETWORK…

The folder of programs has full_NETWORK and split_NETWORK_… (test/gpu/run builds them): split_x_gpu_2_cpu computes two
eighths of the layers on the GPU and then the others on the CPU. Both ranks are threads of one process. Programs take turns,
round after round; a figure is the median of the rounds. Exit status 1 if an output differs by more than 1e-4.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import host  # noqa: E402


def run(given, program, name, *options):
    with tempfile.TemporaryDirectory() as scratch:
        figures = pathlib.Path(scratch) / "figures.json"
        command = [program, "--transport", "in-process", "--input", given.models / f"{name}_in.npy", "--json", figures,
                   *options]
        done = subprocess.run([str(w) for w in command], capture_output=True, text=True,
                              env={**os.environ, **({"LD_LIBRARY_PATH": given.libraries} if given.libraries else {})})
        if done.returncode:
            sys.exit(f"{program.name} fails: {(done.stdout + done.stderr)[-1000:]}")
        return json.loads(figures.read_text())


def title(program, name):
    if program.name.startswith("full_"):
        return "GPU alone"
    text = program.name.removeprefix(f"split_{name}_")
    if text == "cpu":
        return "CPU alone"
    first, eighths, second = re.fullmatch(r"(\w+)_(\d)_(\w+)", text).groups()
    return f"{eighths}/8 of the layers on the {first.upper()}, then {second.upper()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--libraries", metavar="DIR:…", help="LD_LIBRARY_PATH of the programs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1, metavar="S", help="that each measurement takes (default: 1)")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("networks", nargs="+", metavar="NETWORK")
    given = parser.parse_args()
    here = host.begin()
    results = []
    for name in given.networks:
        programs = [given.programs / f"full_{name}", *sorted(given.programs.glob(f"split_{name}_*"))]
        programs = [p for p in programs if p.is_file() and not p.suffix]
        frames, samples = {}, {p: [] for p in programs}
        for program in programs:
            told = run(given, program, name, "--expect", given.models / f"{name}_out.npy", "--tolerance", 1e-4)
            told = run(given, program, name, "--frames", 10, "--warmup", 5)
            frames[program] = max(10, int(given.seconds * told["frames_per_second"]))
        for _ in range(given.rounds):
            for program in programs:
                samples[program].append(run(given, program, name, "--frames", frames[program], "--warmup",
                                            max(5, frames[program] // 4)))
        alone = []
        for program, told in samples.items():
            results.append({"network": name, "mapping": title(program, name),
                            "frames_per_second": statistics.median(t["frames_per_second"] for t in told),
                            "latency_ms": statistics.median(t["latency_ms"]["median"] for t in told), "rounds": told})
            if "alone" in results[-1]["mapping"]:
                alone.append(results[-1]["frames_per_second"])
        print(f"\n{name}")
        host.table(["mapping", "frames/s", "of the better one alone", "latency ms", "rank 0 computes ms", "rank 1"],
                   [[r["mapping"], f"{r['frames_per_second']:.1f}", f"{r['frames_per_second'] / max(alone):.2f}",
                     f"{r['latency_ms']:.2f}", *[f"{k['compute_ms']:.2f}" for k in r["rounds"][-1]["ranks"]],
                     *["–"] * (2 - len(r["rounds"][-1]["ranks"]))]
                    for r in results if r["network"] == name])
        host.write(given.json, here, results=results)


if __name__ == "__main__":
    sys.exit(main())
