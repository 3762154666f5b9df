#!/usr/bin/env python3
"""generate.py CMAKE GENERATOR FOLDER MODEL OUTSIDE option…: what dice_add_network makes, and when it makes it again.

MODEL has an input `picture` and an output `scores`, which are renamed to names with characters that shells and CMake
interpret; the weights of OUTSIDE are in OUTSIDE.data.  Both are put in a folder with a blank in its name.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

cmake, generator, folder, model, outside, *options = sys.argv[1:]
folder = pathlib.Path(folder)
shutil.rmtree(folder, ignore_errors=True)
shutil.copytree(pathlib.Path(__file__).parent / "generate", folder)
models, build = folder / "models of others", folder / "build"
models.mkdir()
# The names keep their length, so that the lengths in the file stay right.
renamed = pathlib.Path(model).read_bytes().replace(b"picture", b'-b;$<">').replace(b"scores", b"x;y $ ")
(models / "names.onnx").write_bytes(renamed)
shutil.copy(outside, models / "outside.onnx")
weights = shutil.copy(f"{outside}.data", models / f"{pathlib.Path(outside).name}.data")  # the name in the model
mapping = models / "a mapping.json"
layers = "conv1 relu1 conv2 relu2 pool2 conv3 relu3 pool3 flatten fc1 relu4 fc2 softmax".split()
mapping.write_text(json.dumps({"pc_cpu0": layers}))
(models / "platform.txt").write_text("pc, x86, slots=0-1\n")


def run(*command):
    done = subprocess.run([cmake, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode or "Warning" in done.stdout:
        sys.exit(f"exit {done.returncode}: {' '.join(map(str, command))}\n{done.stdout}")


def made_anew():
    """The networks that a build makes again."""
    def times():
        return {name: os.stat(path).st_mtime_ns if (path := build / "dice_networks" / f"{name}.hpp").exists() else 0
                for name in ("names", "outside")}
    time.sleep(0.05)  # a file system's clock ticks
    before = times()
    run("--build", build)
    after = times()
    return {name for name in after if after[name] != before[name]}


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: expected {wanted}, found {found}")


run("-S", folder, "-B", build, "-G", generator, *options)
expect(made_anew(), {"names", "outside"}, "first build")
report = json.loads((build / "dice_networks" / "names.json").read_text())
expect([(i["name"], i["shape"]) for i in report["inputs"]], [('-b;$<">', [1, 1, 8, 8])], "the input")
expect([o["name"] for o in report["outputs"]], ["x;y $ "], "the output")
expect(made_anew(), set(), "nothing changed")
pinned = {name: ".pinned = " in (build / "dice_networks" / f"{name}.hpp").read_text() for name in ("names", "outside")}
expect(pinned, {"names": False, "outside": True}, "which weights are pinned")
networks = build / "dice_networks"
os.utime(mapping)
expect(made_anew(), {"names"}, "the mapping changed")
expect((networks / "names_mapping.hpp").exists(), True, "the header of the mapping")
expect((networks / "names_profile.hpp").exists(), False, "the header of the profile that is not there yet")
digest = networks.joinpath("names.hpp").read_text().split('.structure = "')[1][:64]
(folder / "a profile.json").write_text(json.dumps({"network": "names", "digest": digest, "units": [{
    "name": "pc", "host": "pc", "unit": "cpu", "processor": "", "threads": 1, "layers": [{"layer": "conv1", "ms": 1}]}]}))
expect(made_anew(), {"names"}, "a profile was written")
expect((networks / "names_profile.hpp").exists(), True, "the header of the profile")
expect(made_anew(), set(), "nothing changed after that")
os.utime(weights)
expect(made_anew(), {"outside"}, "the external data changed")
expect(made_anew(), set(), "nothing changed after that")
os.utime(models / "names.onnx")
expect(made_anew(), {"names"}, "a model changed")

# The table of TUNED: programs are built without it, then with it once it exists, and again when it changes.
table = folder / "a table.hpp"
for number in (0, 3, 5):
    if number:
        table.write_text(f"#define TABLE {number}\n")
        expect(made_anew(), set(), "a table was written")
    expect(subprocess.run([build / "below" / "tuned"]).returncode, number, "the program's table")
