#!/usr/bin/env python3
"""kernels.py LIBRARY…: in static libraries whose kernels are compiled for newer CPUs, other files see only the kernels' functions and what
all files must share, no two levels have the same function, and all instructions that only newer CPUs have are in the kernels'
object files (cmake/DiceKernels.cmake)."""
import pathlib
import re
import subprocess
import sys
import tempfile

KERNELS = re.compile(r"_kernels_(\d+)\.o$")
FUNCTIONS = r"_ZN4dice7kernels(8compiledI|6openmp7convertE|6openmp8at_levelILi{}E)"
# Registers of AVX and AVX-512, and instructions on these registers or of BMI; only x86 has objects of another baseline.
NEWER = re.compile(r"%[yz]mm|\tv[a-z0-9]+ .*%xmm|\t(andn|bextr|blsr|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx)[lq]? ")


def run(*words):
    return subprocess.run(words, text=True, capture_output=True, check=True).stdout


def symbols(path):
    """{(name, kind of section)} that other files see."""
    out = set()
    for line in run("nm", "-f", "sysv", "--extern-only", "--defined-only", path).splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and cells[0] != "Name":
            out.add((cells[0], re.sub(r"^(\.[a-z]+(\.rel\.ro)?).*", r"\1", cells[6])))
    return out


def mistakes(library, folder):
    run("ar", "x", "--output", folder, library)
    seen, kernels = {}, 0
    for path in sorted(pathlib.Path(folder).iterdir()):
        level = KERNELS.search(path.name)
        if not level:
            newer = NEWER.findall(run("objdump", "-d", "--no-show-raw-insn", path)) if run("uname", "-m").strip() == "x86_64" else []
            if newer:
                yield f"{path.name}: {len(newer)} instructions that only newer CPUs have"
            continue
        kernels += 1
        own = re.compile(FUNCTIONS.format(level[1]))
        for name, section in symbols(path):
            if section in (".bss", ".data", ".tbss", ".tdata"):
                continue
            if not own.match(name):
                yield f"{path.name}: others see {name} ({section})"
            if seen.setdefault(name, path.name) != path.name:
                yield f"{path.name}: {seen[name]} has {name}, too"
    if not kernels:
        yield "no object file of kernels"


found = []
for library in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as folder:
        found += [f"{library}: {text}" for text in mistakes(library, folder)]
print(*found, sep="\n")
sys.exit(bool(found))
