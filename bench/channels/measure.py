#!/usr/bin/env python3
"""measure.py PROGRAM [--rounds N] [--json FILE]: latency and bandwidth of dice's channels against raw MPI.

Two ranks of this machine, each bound to a core if there are two. Latency is half a ping-pong; bandwidth is measured in a
stream with 8 messages in flight. Figures are medians over the rounds, in which both take turns.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import host  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json")
    given = parser.parse_args()
    here = host.begin()
    bind = "core" if len(host.cores()) >= 2 else "none"
    done = subprocess.run([*host.MPIRUN, "--bind-to", bind, "-n", "2", given.program, str(given.rounds)], check=True,
                          capture_output=True, text=True)
    samples = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    results = []
    for size in sorted({s["bytes"] for s in samples}):
        median = {key: statistics.median(s[key] for s in samples if s["bytes"] == size) for key in samples[0]}
        results.append({**median, "latency_ratio": median["dice_us"] / median["mpi_us"],
                        "bandwidth_ratio": median["mpi_stream_us"] / median["dice_stream_us"]})
    host.table(["bytes", "MPI us", "dice us", "ratio", "MPI GB/s", "dice GB/s", "ratio"],
               [[r["bytes"], f"{r['mpi_us']:.2f}", f"{r['dice_us']:.2f}", f"{r['latency_ratio']:.2f}",
                 f"{r['bytes'] / r['mpi_stream_us'] / 1000:.3f}", f"{r['bytes'] / r['dice_stream_us'] / 1000:.3f}",
                 f"{r['bandwidth_ratio']:.2f}"] for r in results])
    host.write(given.json, here, rounds=given.rounds, results=results)


if __name__ == "__main__":
    main()
