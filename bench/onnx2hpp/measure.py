#!/usr/bin/env python3
"""measure.py ONNX2HPP --models DIR [--json FILE]: time and memory of the converter, for models of several sizes.

The models are made in DIR unless they exist. Each is converted twice, and the second time counts, when the file is in the
page cache. Heap is the largest sample of the process's own memory (RssAnon, each millisecond), which excludes the mapped
model. Exit status 1 if a model exceeds its budget.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench"))
import host  # noqa: E402

MODELS = ["digits", "resnet18", "densenet121", "vgg19"]
BUDGETS = {"vgg19": {"seconds": 2.0, "heap_mib": 150 / 1.048576}, "densenet121": {"seconds": 0.5}}


def find(name, folder):
    """The model's path; makes the model if it is missing."""
    if name == "digits":
        return ROOT / "examples/digits/digits.onnx"
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"making {path}", flush=True)
        command = ["bench/models.py", name, "-o", path]
        if name == "vgg19":
            command = ["examples/vgg19/make_vgg19.py", "--out", folder]
        subprocess.run([sys.executable, "-B", *command], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return path


def heap_mib(process):
    try:
        with open(f"/proc/{process}/status") as status:
            return max((int(line.split()[1]) / 1024 for line in status if line.startswith("RssAnon")), default=0)
    except OSError:
        return 0


def convert(tool, model):
    """One conversion's figures."""
    with tempfile.TemporaryDirectory() as out:
        start = time.monotonic()
        child = subprocess.Popen([tool, "-q", "-o", out, model])
        heap, done = 0, 0
        while not done:
            heap = max(heap, heap_mib(child.pid))
            done, status, usage = os.wait4(child.pid, os.WNOHANG)
            time.sleep(0 if done else 0.001)
        seconds = time.monotonic() - start
        if status:
            sys.exit(f"{model} is not converted")
        written = sum(path.stat().st_size for path in pathlib.Path(out).iterdir())
    return {"seconds": round(seconds, 3), "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3), "heap_mib": round(heap, 1),
            "peak_mib": round(usage.ru_maxrss / 1024, 1), "written_mib": round(written / 2**20, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("onnx2hpp")
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--json")
    given = parser.parse_args()
    models = {name: find(name, given.models.resolve()) for name in MODELS}
    here, rows, beyond = host.begin(), [], []
    for name, model in models.items():
        convert(given.onnx2hpp, model)
        row = {"model": name, "model_mib": round(model.stat().st_size / 2**20, 1), **convert(given.onnx2hpp, model)}
        rows.append(row)
        beyond += [f"{name}: {key} {row[key]} > {most:.1f}"
                   for key, most in BUDGETS.get(name, {}).items() if row[key] > most]
    host.table(["model", "MiB", "seconds", "CPU s", "heap MiB", "peak MiB", "written MiB"],
               [list(row.values()) for row in rows])
    host.write(given.json, here, results=rows)
    for line in beyond:
        print("beyond the budget:", line)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
