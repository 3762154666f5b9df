#!/usr/bin/env python3
"""draw.py FILE.svg < JSON: bars for {"title": …, "ratios": {network: {threads: fastest peer's time / dice's}}}."""
import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "dice"  # the same bytes each time
from matplotlib import pyplot  # noqa: E402


def main():
    given = json.load(sys.stdin)
    ratios = given["ratios"]
    figure, axes = pyplot.subplots(figsize=(8, 3.6))
    threads = list(next(iter(ratios.values())))
    width = 0.8 / len(threads)
    for k, n in enumerate(threads):
        places = [i + (k - (len(threads) - 1) / 2) * width for i in range(len(ratios))]
        axes.bar(places, [r[n] for r in ratios.values()], width, label=f"{n} thread{'s' if n != '1' else ''}")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(ratios)), ratios, rotation=30, ha="right")
    axes.set_ylabel("fastest peer's time / dice's")
    axes.set_title(given["title"])
    axes.legend()
    figure.tight_layout()
    figure.savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
