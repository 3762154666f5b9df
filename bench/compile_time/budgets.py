"""Budgets for compiling with dice and for its programs: one compiler process, with the library compiled before."""

CLANG = 1.5  # times the seconds and MiB of g++

# For each case: user seconds of the compiler, its peak memory, the size of the object that it writes, wall seconds of a
# whole command.
BUDGETS = {
    "digits": {"user_seconds": 2.0},
    "vgg19": {"user_seconds": 4.0},
    "densenet121": {"user_seconds": 8.0},
    "slices": {"user_seconds": 10.0, "peak_mib": 600.0, "object_mib": 7.6},
    "scattered": {"user_seconds": 10.0, "peak_mib": 600.0, "object_mib": 7.6},
    "vgg19_rows": {"user_seconds": 2.0},  # more than the same network in slices
    "rows": {"user_seconds": 30.0, "peak_mib": 1024.0},
    "gpu": {"user_seconds": 2.5},
    "best_mapping": {"user_seconds": 2.0},  # more than the same program written by hand; also for searches.py
    "mixes": {"user_seconds": 4.0},  # in the same way
    "library": {"wall_seconds": 75.0},
    "changed": {"wall_seconds": 4.0},
    "mapping": {"wall_seconds": 0.5},
    "program": {"size_kib": 1200.0, "libraries": 30},  # with g++, if no other checkout is measured
}

# Compared with the program of another checkout: the ratio of sizes without symbols, and the number of additional shared
# libraries that it loads.
GROWTH = {"size_kib": 1.10, "libraries": 1.0}
