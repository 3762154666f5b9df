"""What compiling with dice may take, and what programs may be: one compiler process, the library compiled before."""

CLANG = 1.5  # times the seconds and MiB of g++

# Of each case: user seconds of the compiler, its peak memory, the object that it writes, wall seconds of a whole command.
BUDGETS = {
    "digits": {"user_seconds": 2.0},
    "vgg19": {"user_seconds": 4.0},
    "densenet121": {"user_seconds": 8.0},
    "slices": {"user_seconds": 10.0, "peak_mib": 600.0, "object_mib": 7.6},
    "scattered": {"user_seconds": 10.0, "peak_mib": 600.0, "object_mib": 7.6},
    "gpu": {"user_seconds": 2.5},
    "best_mapping": {"user_seconds": 2.0},  # beyond the same program by hand; of searches.py too
    "library": {"wall_seconds": 75.0},
    "changed": {"wall_seconds": 4.0},
    "mapping": {"wall_seconds": 0.5},
    "program": {"size_kib": 930.0, "libraries": 30},  # of g++, where no other checkout is measured
}

# A program beside the one that another checkout makes: its size without symbols, times; the shared libraries that it loads, more.
GROWTH = {"size_kib": 1.10, "libraries": 1.0}
