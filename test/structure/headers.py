#!/usr/bin/env python3
"""headers.py ROOT FOLDER COMPILE_COMMANDS: each header below ROOT/include/dice/FOLDER compiles alone, without warnings.

FOLDER is a room, or "." for dice.hpp.  COMPILE_COMMANDS is CMake's list; the command that compiles probe.cpp is used.
"""
import json
import pathlib
import shlex
import subprocess
import sys

root, folder, commands = sys.argv[1:4]
base = pathlib.Path(root) / "include"
place = base / "dice" / folder
probe = next(entry for entry in json.loads(pathlib.Path(commands).read_text()) if entry["file"].endswith("structure/probe.cpp"))
words = shlex.split(probe["command"])
words = words[: words.index("-o")]  # then come the object and the source
headers = sorted(place.glob("*.hpp") if folder == "." else place.rglob("*.hpp"))
bad = 0
for header in headers:
    name = header.relative_to(base).as_posix()
    done = subprocess.run([*words, "-fsyntax-only", "-x", "c++", "-"], cwd=probe["directory"], text=True, capture_output=True,
                          input=f'#include "{name}"\n#include "{name}"\nint main() {{}}\n')
    if done.returncode or done.stderr:
        bad += 1
        print(f"{name}:\n{done.stderr[:3000]}")
print(f"{len(headers)} headers in {place}, of which {bad} do not compile alone without warnings")
sys.exit(1 if bad or not headers else 0)
