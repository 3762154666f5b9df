#!/usr/bin/env python3
"""program.py COMPILE_COMMANDS: dice.hpp includes no header of Boost.MPI, MPI, xtensor, CUDA, cuDNN, OpenMP or stb, nor
dice's own implementations, and is compiled for no particular board. Nor does dice itself include those headers of the
standard library that compile slowly (other standard headers may include them)."""
import json
import pathlib
import re
import shlex
import subprocess
import sys

SLOW = re.compile(r"^ *# *include <(memory|functional|vector|map|unordered_map|iostream|sstream|regex|future)>", re.MULTILINE)
FOREIGN = re.compile(r"^(?!.*/include/dice/).*/(boost/(mpi|serialization)/|mpi\.h$|xtensor/|xtl/|cuda[^/]*$|cudnn[^/]*$|cublas[^/]*$|omp\.h$|stb/)|\.ipp$|/dice/kernels/detail/")

entries = json.loads(pathlib.Path(sys.argv[1]).read_text())
probe = next(entry for entry in entries if entry["file"].endswith("structure/program.cpp"))
words = shlex.split(probe["command"])
words = words[: words.index("-o")]
files = subprocess.run([*words, "-M", probe["file"]], cwd=probe["directory"], text=True, capture_output=True, check=True).stdout.split()
found = [file for file in files if FOREIGN.search(file)]
found += [f"{file}: {line[0]}" for file in files if "/dice/" in file for line in SLOW.finditer(pathlib.Path(file).read_text())]
flags = [word for word in words if word.startswith(("-march", "-mcpu", "-fopenmp"))]
print(f"{len(files)} files included; of which not wanted: {found}; flags not wanted: {flags}")
sys.exit(bool(found or flags or not any(file.endswith("dice/dice.hpp") for file in files)))
