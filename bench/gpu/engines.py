#!/usr/bin/env python3
"""Sum up what probe_engines and probe_products wrote: engines.py [--json FILE] FILE…

Tables: for each shape the best float32 engine for NCHW and for NHWC, and the best with tensor cores, of convolution, bias
and ReLU; sums over all shapes for each of {conv, conv+bias+relu, conv+residual+bias+relu}; what limits of working memory
cost; dice's kernel for single channels compared with cuDNN's best; and its kernel for fully connected layers compared with
cuBLASLt's best. Without times (--properties) the engines are only counted.
"""
import argparse
import collections
import json
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import host  # noqa: E402

VARIANTS = ["conv", "conv+bias+relu", "conv+residual+bias+relu"]
LIMITS = [0, 8, 64, 512]  # MiB
WORST = 1e-4  # relative to the largest result, compared with an engine without transforms


def read(paths):
    """All records of the files; the last one of a shape that was measured twice."""
    convolutions, products, other = {}, [], []
    for path in paths:
        for line in path.read_text().splitlines():
            try:
                r = json.loads(line)
            except ValueError:  # an incomplete last line of a stopped program
                continue
            if "engine" in r:
                convolutions[r["shape"], r["variant"], r["layout"], r["engine"]] = r
            elif "product" in r:
                products.append(r)
            else:
                other.append(r)
    return list(convolutions.values()), products, other


def ms_of(r):
    return r.get("ms", r.get("alone_ms", math.inf))


def quickest(records, **wanted):
    """The fastest of the records that have these values and are right; None if there is none."""
    fit = [r for r in records if all(r.get(k) == v for k, v in wanted.items()) and ms_of(r) < math.inf
           and r.get("difference", 0) <= (1e-2 if r.get("tensor_cores") else WORST)]
    return min(fit, key=ms_of, default=None)


def number(x, form="{:.4f}"):
    return "–" if x is None or x == math.inf else form.format(x)


def us(r):
    return number(r and 1000 * ms_of(r), "{:.1f}")


def counted(records, other):
    """Without a GPU: how many engines there are."""
    counts = collections.Counter()
    for r in other:
        if "configurations" in r:
            key = r["variant"], r["layout"]
            counts[key, "shapes"] += 1
            counts[key, "float32"] += r["float32"] > 0
            counts[key, "all"] += r["configurations"]
            counts[key, "float32 in all"] += r["float32"]
    rows = [[*key, counts[key, "shapes"], counts[key, "float32"], counts[key, "all"], counts[key, "float32 in all"]]
            for key in sorted({key for key, _ in counts})]
    host.table(["variant", "layout", "shapes", "with a float32 engine", "configurations", "float32 ones"], rows)
    room = [r["workspace"] for r in records if not r["tensor_cores"] and "workspace" in r]
    if room:
        print(f"\nworking memory of float32 engines: at most {max(room) / 2**20:.1f} MiB, "
              f"{sum(w == 0 for w in room)} of {len(room)} want none")
    return {f"{variant} {layout}": {what: counts[(variant, layout), what]
                                    for what in ("shapes", "float32", "all", "float32 in all")}
            for variant, layout in sorted({key for key, _ in counts})}


def convolutions(records):
    groups = collections.defaultdict(list)
    for r in records:
        groups[r["shape"], r["variant"]].append(r)
    sums, ratios, limited = collections.defaultdict(float), collections.defaultdict(list), collections.defaultdict(float)
    rows, own = [], []
    for (shape, variant), group in sorted(groups.items(), key=lambda g: (g[0][0], VARIANTS.index(g[0][1]))):
        by = {layout: quickest([r for r in group if r["engine"] != "own"], layout=layout, tensor_cores=False)
              for layout in ("NCHW", "NHWC")}
        cores = quickest(group, tensor_cores=True)
        mine = quickest(group, engine="own")
        first = group[0]
        for layout, best in by.items():
            sums[variant, layout, "shapes"] += best is not None
            if all(by.values()):
                sums[variant, layout] += ms_of(best)
            if layout == "NCHW" and best:
                for limit in LIMITS:
                    within = quickest([r for r in group if r.get("workspace", math.inf) <= limit * 2**20], layout=layout,
                                      tensor_cores=False)
                    limited[variant, limit] += ms_of(within) if within else math.nan
        if all(by.values()):
            ratios[variant].append(ms_of(by["NHWC"]) / ms_of(by["NCHW"]))
        if variant == VARIANTS[1]:
            best = by["NCHW"]
            rows.append([first["layer"], us(best), best["engine"].split()[0] if best else "–",
                         " ".join(n for n in best["notes"] if n.startswith("WIN") or n == "FFT") if best else "",
                         number(best and best["workspace"] / 2**20, "{:.1f}"), us(by["NHWC"]), us(cores)])
        if mine:
            own.append([first["layer"], variant, us(mine), us(by["NCHW"]), us(by["NHWC"])])
    print(f"\n{VARIANTS[1]}, µs")
    host.table(["layer", "NCHW", "engine", "notes", "MiB", "NHWC", "with tensor cores"], rows)
    print("\nall shapes that have both layouts, ms")
    table = []
    for v in VARIANTS:
        if ratios[v]:
            mean = math.exp(sum(map(math.log, ratios[v])) / len(ratios[v]))
            table.append([v, int(sums[v, "NCHW", "shapes"]), int(sums[v, "NHWC", "shapes"]),
                          *(f"{sums[v, layout]:.3f}" for layout in ("NCHW", "NHWC")), f"{mean:.2f}",
                          sum(r < 1 for r in ratios[v])])
    host.table(["variant", "NCHW shapes", "NHWC shapes", "NCHW", "NHWC", "NHWC / NCHW, geometric mean", "NHWC is quicker"],
               table)
    print("\nNCHW with at most so much working memory, ms in sum")
    host.table(["variant", *(f"{limit} MiB" for limit in LIMITS)],
               [[v, *(f"{limited[v, limit]:.3f}" for limit in LIMITS)] for v in VARIANTS if (v, LIMITS[0]) in limited])
    if own:
        print("\nsingle channels, µs")
        host.table(["layer", "variant", "dice", "cuDNN NCHW", "cuDNN NHWC"], own)
    wrong = [r for r in records if r.get("difference", 0) > WORST and not r["tensor_cores"]]
    if wrong:
        print(f"\n{len(wrong)} float32 engines differ by more than {WORST:.0e}; left out above:",
              *sorted({" ".join([r["engine"].split()[0], *r["notes"]]) for r in wrong}), sep="\n  ")
    return {"sums_ms": {" ".join(map(str, k)): v for k, v in sums.items()},
            "limits_ms": {f"{v} {limit} MiB": ms for (v, limit), ms in limited.items()},
            "nhwc_over_nchw": {v: sorted(r) for v, r in ratios.items()}}


def products(records):
    groups = collections.defaultdict(list)
    for r in records:
        groups[r["product"]].append(r)
    rows = []
    for name, group in groups.items():
        mine, without, best = (quickest(group, by="own"), quickest(group, by="cuBLASLt", float32=True, limit=0),
                               quickest(group, by="cuBLASLt", float32=True))
        rows.append([name, f"{group[0]['columns']}x{group[0]['depth']}", us(mine), us(without), us(best),
                     number(mine and mine.get("gb_per_s"), "{:.0f}"), number(best and best.get("gb_per_s"), "{:.0f}")])
    print("\nfully connected layers, µs")
    host.table(["product", "weights", "dice", "cuBLASLt, no working memory", "cuBLASLt", "dice GB/s", "cuBLASLt GB/s"], rows)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, help="write the sums, too")
    parser.add_argument("files", type=pathlib.Path, nargs="+", metavar="FILE")
    given = parser.parse_args()
    records, of_products, other = read(given.files)
    told = {}
    if any(ms_of(r) < math.inf for r in records):
        told["convolutions"] = convolutions(records)
    elif records:
        told["counts"] = counted(records, other)
    if of_products:
        told["products"] = products(of_products)
    if given.json:
        given.json.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
