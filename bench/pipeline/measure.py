#!/usr/bin/env python3
"""measure.py FOLDER [--frames N] [--rounds N] [--json FILE]: frames/s of FOLDER/pipeline_1, _2 and _4, with one thread per
rank.

They are compared with what the ranks' kernels allow: 1 / slowest rank if there is a core for each, to which ranks are then
bound. With more ranks than cores, also cores / sum of all ranks, whose kernels are then timed with one frame in flight, so
that they do not compete for cores. On 1 and 2 ranks, also with the same program in raw MPI (by_hand.hpp). Programs run in
turn, round after round; figures are medians over the rounds, ± half the distance between the quartiles; "time / by hand" is
the median of each round's ratio. Exit status 1 if dice takes more than 2 % longer than by hand, or computes different
results.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import host  # noqa: E402

WARMUP = 3
MOST = 1.02


def call(folder, ranks, *arguments):
    bind = "core" if ranks <= len(host.cores()) else "none"
    command = [*host.MPIRUN, "--bind-to", bind, "-n", str(ranks), f"{folder}/pipeline_{ranks}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        sys.exit(f"{' '.join(command)} fails:\n{done.stderr}")
    return done.stdout


def by_dice(folder, ranks, frames, *more):
    """The run's figures, as --json writes them."""
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "run.json"
        call(folder, ranks, "--random", 0, "--frames", frames, "--warmup", WARMUP, "--json", file, *more)
        return json.loads(file.read_text())


def by_hand(folder, ranks, frames, *more):
    """Milliseconds per frame."""
    return 1000 * json.loads(call(folder, ranks, "by-hand", frames, WARMUP, *more))["seconds"] / frames


def cpu_ms(folder, frames, arguments):
    """CPU milliseconds per frame on one rank, without the start: other load on the machine hardly affects them."""
    used = []
    for count in frames // 4, frames:
        child = subprocess.Popen([f"{folder}/pipeline_1", *(str(a) for a in arguments(count))], stdout=subprocess.DEVNULL,
                                 env={**os.environ, "OMP_NUM_THREADS": "1"})
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"{child.args} fails")
        used.append(usage.ru_utime + usage.ru_stime)
    return 1000 * (used[1] - used[0]) / (frames - frames // 4)


def same_results(folder, ranks):
    with tempfile.TemporaryDirectory() as scratch:
        files = [pathlib.Path(scratch) / name for name in ("dice.npy", "hand.npy")]
        by_dice(folder, ranks, 1, "--output", files[0])
        by_hand(folder, ranks, 1, files[1])
        return files[0].read_bytes() == files[1].read_bytes()


def one_round(folder, ranks, frames, hand_first):
    """The figures of one round on `ranks` ranks."""
    hand = by_hand(folder, ranks, frames) if ranks <= 2 and hand_first else None
    run = by_dice(folder, ranks, frames)
    stages = run if ranks <= len(host.cores()) else by_dice(folder, ranks, frames // 3, "--in-flight", 1)
    stages = [rank["compute_ms"] for rank in stages["ranks"]]
    allowed = min(1000 / max(stages), len(host.cores()) * 1000 / sum(stages))
    row = {"frames_per_second": run["frames_per_second"], "stages_ms": stages, "allowed": allowed,
           "of_allowed": run["frames_per_second"] / allowed}
    if ranks <= 2:
        row["by_hand"] = 1000 / (hand or by_hand(folder, ranks, frames))
        row["time_against_by_hand"] = row["by_hand"] / row["frames_per_second"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json")
    given = parser.parse_args()
    here, beyond = host.begin(), []
    for ranks in 1, 2:
        if not same_results(given.folder, ranks):
            beyond.append(f"{ranks} ranks: dice's result is not that of the program by hand")
    rounds = [{ranks: one_round(given.folder, ranks, given.frames, number % 2) for ranks in (1, 2, 4)}
              for number in range(given.rounds)]
    cpu = {"dice": [], "by_hand": []}
    for _ in range(given.rounds):
        cpu["dice"].append(cpu_ms(given.folder, given.frames, lambda count: ("--random", 0, "--frames", count)))
        cpu["by_hand"].append(cpu_ms(given.folder, given.frames, lambda count: ("by-hand", count, 1)))
    rows = []
    for ranks in 1, 2, 4:
        def told(key, form, factor=1):
            if key not in rounds[0][ranks]:
                return "–"
            middle, around = host.spread([r[ranks][key] for r in rounds])
            return f"{middle * factor:{form}} ± {around:.1f} %"
        slowest = statistics.median(max(r[ranks]["stages_ms"]) for r in rounds)
        rows.append([ranks, told("frames_per_second", ".2f"), f"{slowest:.2f}", told("allowed", ".2f"),
                     told("of_allowed", ".1f", 100), told("by_hand", ".2f"), told("time_against_by_hand", ".3f")])
        if ranks <= 2 and (ratio := statistics.median(r[ranks]["time_against_by_hand"] for r in rounds)) > MOST:
            beyond.append(f"{ranks} ranks: dice takes {ratio:.3f} of the time by hand, more than {MOST}")
    host.table(["ranks", "frames/s", "slowest rank ms", "allowed frames/s", "% of allowed", "by hand frames/s",
                "time / by hand"], rows)
    middle = {key: statistics.median(values) for key, values in cpu.items()}
    print(f"CPU ms per frame on one rank: dice {middle['dice']:.2f}, by hand {middle['by_hand']:.2f}, "
          f"ratio {middle['dice'] / middle['by_hand']:.3f}")
    host.write(given.json, here, frames=given.frames, rounds=rounds, cpu_ms=cpu)
    for line in beyond:
        print("beyond the budget:", line)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
