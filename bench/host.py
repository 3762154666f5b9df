"""What the benchmarks' drivers share: mpirun, tables, and what a figure needs beside it."""
import json
import os
import pathlib
import statistics

# As root, in a container; ranks are bound by those who ask for it.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]

MOST_LOAD = 0.7


def cores():
    """Cores that this process may use, ascending."""
    return sorted(os.sched_getaffinity(0))


def machine():
    """The CPU's name, the cores in use, and the load of the last minute."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    name = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), os.uname().machine)
    return {"cpu": name, "cores": len(cores()), "load": os.getloadavg()[0]}


def begin():
    """Print the machine; returns it."""
    here = machine()
    print(f"{here['cpu']}, {here['cores']} cores, load before {here['load']:.2f}"
          + (": others compute here too, the figures are not to be trusted" if here["load"] > MOST_LOAD else ""), flush=True)
    return here


def spread(values):
    """Median, and half the distance between the quartiles in percent of it."""
    median = statistics.median(values)
    quartiles = statistics.quantiles(values, n=4) if len(values) > 1 else [median] * 3
    return median, 50 * (quartiles[2] - quartiles[0]) / median


def table(titles, rows):
    """Print rows in columns, the first to the left."""
    lines = [titles, *rows]
    widths = [max(len(str(line[i])) for line in lines) for i in range(len(titles))]
    for line in lines:
        print("  ".join(str(cell).rjust(width) if i else str(cell).ljust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))), flush=True)


def write(path, here, **figures):
    """Write figures as JSON, with the machine and its load now."""
    if path:
        figures = {"machine": here, "load_after": machine()["load"], **figures}
        pathlib.Path(path).write_text(json.dumps(figures, indent=2) + "\n")
