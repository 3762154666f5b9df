#!/usr/bin/env python3
"""summary.py FILE: summarizes what bench_convolution --benchmark_out=FILE wrote, by network and by kind of convolution: the
count, the share of peak, oneDNN's time / dice's (geometric means), and where that is smallest."""
import json
import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import host  # noqa: E402


def kind(name, label):
    _, _, window, *more = name.split(",")
    how = label.split(" | ")[0]
    stride = next((f", {part}" for part in more if part.startswith("stride")), "")
    return f"{how} {window}{stride}"


def row(title, found):
    ratios = [f["oneDNN/dice"] for f in found if "oneDNN/dice" in f]
    least = min(found, key=lambda f: f.get("oneDNN/dice", 0))
    return [title, len(found), f"{100 * statistics.geometric_mean(f['of_peak'] for f in found):.0f}",
            *([f"{statistics.geometric_mean(ratios):.2f}", f"{min(ratios):.2f}", least["what"]] if ratios else ["–"] * 3)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    networks, kinds = {}, {}
    for found in json.loads(pathlib.Path(sys.argv[1]).read_text())["benchmarks"]:
        where, found["what"] = found["name"].split("/")[:2]
        for network in where.split("+"):
            networks.setdefault(network, []).append(found)
        kinds.setdefault(kind(found["what"], found["label"]), []).append(found)
    for title, groups in ("network", networks), ("kind", dict(sorted(kinds.items()))):
        host.table([title, "convolutions", "% of peak", "oneDNN / dice", "least", "of"],
                   [row(name, found) for name, found in groups.items()])
        print()


if __name__ == "__main__":
    main()
