"""What the benchmarks' drivers share: mpirun, tables, and the machine's state that belongs to a figure."""
import json
import os
import pathlib
import statistics
import time

# As root, in a container; callers bind ranks if they want to.
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]

MOST_BUSY = 0.2  # of one core


def cores():
    """Cores that this process may use, ascending."""
    return sorted(os.sched_getaffinity(0))


def cpu_seconds():
    """The CPU seconds that the whole machine has used."""
    numbers = [int(n) for n in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    ticks = sum(numbers[:3]) + sum(numbers[5:8])  # user, nice, system; irq, softirq, steal
    return ticks / os.sysconf("SC_CLK_TCK")


def busy(seconds=1.0):
    """The average number of busy cores during the next seconds; the load average would still count the build before."""
    before = cpu_seconds()
    time.sleep(seconds)
    return (cpu_seconds() - before) / seconds


def machine():
    """The CPU's name, the cores in use, and how many of the machine's cores were busy."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    name = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), os.uname().machine)
    return {"cpu": name, "cores": len(cores()), "busy": busy()}


def begin():
    """Print the machine; returns it."""
    here = machine()
    print(f"{here['cpu']}, {here['cores']} cores, {here['busy']:.2f} of them busy before"
          + (": others compute here too, the figures are not to be trusted" if here["busy"] > MOST_BUSY else ""), flush=True)
    return here


def spread(values):
    """Median, and half the distance between the quartiles in percent of it."""
    median = statistics.median(values)
    quartiles = statistics.quantiles(values, n=4) if len(values) > 1 else [median] * 3
    return median, 50 * (quartiles[2] - quartiles[0]) / median


def table(titles, rows):
    """Print rows in columns, the first one left-aligned."""
    lines = [titles, *rows]
    widths = [max(len(str(line[i])) for line in lines) for i in range(len(titles))]
    for line in lines:
        print("  ".join(str(cell).rjust(width) if i else str(cell).ljust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))), flush=True)


def write(path, here, **figures):
    """Write figures as JSON, with the machine and how busy it is now."""
    if path:
        figures = {"machine": here, "busy_after": busy(), **figures}
        pathlib.Path(path).write_text(json.dumps(figures, indent=2) + "\n")
