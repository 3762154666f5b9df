#!/usr/bin/env python3
"""readme.py ROOT FOLDER option…: README's commands that build and install dice, verbatim except for folders and sudo.

They build in FOLDER/build and install to FOLDER/prefix; the options are added where they configure.  An installed dice has
GPU kernels if and only if CMake says that it found CUDA.
"""
import os
import pathlib
import shutil
import subprocess
import sys

root, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.append(str(root / "test" / "docs"))
import blocks  # noqa: E402

FUNCTIONS = """
sudo() { "$@"; }
cmake() {
  case $1 in
    -S) command cmake "$@" -S "$ROOT" -B "$FOLDER/build" "${options[@]}" ;;
    --build) command cmake --build "$FOLDER/build" "${@:3}" ;;
    --install) command cmake --install "$FOLDER/build" --prefix "$FOLDER/prefix" "${@:3}" ;;
    *) echo "README has another command now: cmake $*"; return 1 ;;
  esac
}
options=("$@")
set -x
"""

found, _ = blocks.read(root / "README.md")
commands = [b.code for b in found if b.language == "sh" and any("cmake --install" in line for line in b.code)]
if len(commands) != 1:
    sys.exit("README.md has not one block with cmake --install")
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
done = subprocess.run(["bash", "-euo", "pipefail", "-c", FUNCTIONS + "\n".join(commands[0]), "bash", *sys.argv[3:]], cwd=folder, text=True,
                      env={**os.environ, "ROOT": str(root), "FOLDER": str(folder)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
print(done.stdout)
if done.returncode:
    sys.exit("README's commands failed")
has_kernels = any((folder / "prefix").rglob("libdice_cuda.a"))
says = next(line for line in done.stdout.splitlines() if line.startswith("-- dice: OpenMP") or line.startswith("-- dice: no OpenMP"))
if has_kernels != ("; CUDA " in says):
    sys.exit(f"GPU kernels are {'installed' if has_kernels else 'not installed'}, and CMake said: {says}")
if not any((folder / "prefix").rglob("diceConfig.cmake")):
    sys.exit("diceConfig.cmake is not installed")
