#!/usr/bin/env python3
"""kernels.py LIBRARY…: in static libraries whose kernels are compiled for newer CPUs, other files see only the kernels' functions and the
variables, which all files share; no two levels have the same function; and all instructions that only newer CPUs have are in the
kernels' object files, which need what others define (cmake/DiceKernels.cmake)."""
import pathlib
import re
import subprocess
import sys
import tempfile

KERNELS = re.compile(r"_kernels_(\d+)\.o$")
FUNCTIONS = r"_ZN4dice7kernels(8compiledI|6openmp7convertE|6openmp8at_levelILi{}E)"
VARIABLES = re.compile(r"\.t?(bss|data)(?!\.rel\.ro)\b")
ROLE = "_ZN4dice7kernels4team6detail11this_threadE"  # which all kernels have
# Registers of AVX and AVX-512, and instructions on these registers or of BMI; only x86 has objects of another baseline.
NEWER = re.compile(r"%[yz]mm|\tv[a-z0-9]+ .*%xmm|\t(andn|bextr|blsr|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx)[lq]? ")


def run(*words):
    return subprocess.run(words, text=True, capture_output=True, check=True).stdout


def symbols(path, *options):
    """{(name, section)}, names by which C++ means something."""
    out = set()
    for line in run("nm", "-f", "sysv", "--defined-only", *options, path).splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 7 and cells[0].startswith("_Z"):
            out.add((cells[0], cells[6]))
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
        weak = re.findall(r"^ +w (\w+)$", run("nm", "--undefined-only", path), re.M)
        if weak:
            yield f"{path.name}: a linker may leave out the libraries of {', '.join(weak[:3])}, …, which are only weak here"
        own = re.compile(FUNCTIONS.format(level[1]))
        visible = symbols(path, "--extern-only")
        variables = {name for name, section in symbols(path) if VARIABLES.match(section)}
        if ROLE not in variables:
            yield f"{path.name}: no variable {ROLE}"
        for name in variables - {name for name, _ in visible}:
            yield f"{path.name}: others do not share the variable {name}"
        for name, section in visible:
            if name in variables:
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
