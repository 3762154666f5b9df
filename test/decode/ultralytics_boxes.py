#!/usr/bin/env python3
"""ultralytics_boxes.py --dice PREFIX [--work FOLDER]: exports YOLO networks as Ultralytics does, and compares the boxes that programs of an
installed dice find in a picture with those of Ultralytics' predict().  The networks are untrained, with scores that tell boxes apart.
Needs ultralytics, torch and onnx (PyPI), CMake and mpirun."""
import argparse
import json
import pathlib
import subprocess
import sys

import cv2
import numpy as np
import torch
from ultralytics import YOLO

HEIGHT, WIDTH = 256, 320
SCORE, OVERLAP = 0.25, 0.45
# The word of --decode; end to end: the outputs before the operators that choose.
NETWORKS = {"yolov5n": ("yolov8", False), "yolov8n": ("yolov8", False), "yolo11n": ("yolo11", False), "yolov10n": ("yolov10", True),
            "yolo26n": ("yolov10", True)}
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(boxes LANGUAGES CXX)
find_package(dice CONFIG REQUIRED)
"""
PROGRAM = """#include <dice/dice.hpp>
#include "{0}.hpp"
int main(int c, char** v) {{
  return dice::main<{0}::network, dice::mapping<dice::dev<0, dice::cpu>, dice::layers<dice::all>>>(c, v);
}}
"""


def picture(file):
    """Smooth noise in all colours."""
    noise = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    image = cv2.normalize(cv2.GaussianBlur(noise, (0, 0), 2.5), None, 0, 255, cv2.NORM_MINMAX)
    cv2.imwrite(str(file), image)
    return torch.from_numpy(image[:, :, ::-1].copy()).permute(2, 0, 1)[None].float() / 255


def spread(model, x):
    """Normalises by what x gives, so that results depend on the place; then some boxes have high scores, and sizes differ."""
    norms = [m for m in model.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    for m in norms:
        m.momentum = 1.0
    model.train()
    model(torch.cat([x, x.flip(3)]))
    model.eval()
    head = model.model[-1]
    parts = [p for name in ("cv3", "one2one_cv3") for p in getattr(head, name, None) or []]
    found = {}
    hooks = [p[-1].register_forward_hook(lambda m, i, o: found.update({m: o})) for p in parts]
    model(x)
    for hook in hooks:
        hook.remove()
    for conv, scores in found.items():
        conv.weight.mul_(1.2 / scores.std())
        conv.bias.fill_(float(-3.6 - 1.2 * scores.mean() / scores.std()))
    for p in [p for name in ("cv2", "one2one_cv2") for p in getattr(head, name, None) or []]:
        p[-1].weight.mul_(3)


def make(name, end_to_end, folder, x):
    """Writes NAME.onnx; the boxes of predict(), (class, score, left, top, right, bottom)."""
    torch.manual_seed(1)
    network = YOLO(name + ".yaml")
    with torch.no_grad():
        spread(network.model.eval(), x)
    options = {"imgsz": (HEIGHT, WIDTH), "verbose": False, "end2end": end_to_end}
    boxes = network.predict(folder / "picture.png", conf=SCORE, iou=OVERLAP, max_det=300, **options)[0].boxes
    file = network.export(format="onnx", simplify=False, **options)
    pathlib.Path(file).replace(folder / f"{name}.onnx")
    return [(int(c), float(s), *map(float, b)) for c, s, b in zip(boxes.cls, boxes.conf, boxes.xyxy)]


def outputs_before_choice(folder, dice, name):
    """What onnx2hpp says to give as --outputs."""
    said = subprocess.run([dice / "bin/onnx2hpp", f"{name}.onnx"], cwd=folder, capture_output=True, text=True, check=False).stderr
    return said.split("--outputs ")[1].split()[0]


def difference(ours, theirs):
    """(the number of boxes that only one has, the largest difference of the others in pixels or per cent)."""
    proper = [b for b in theirs if b[2] < b[4] and b[3] < b[5]]  # an untrained network gives boxes of negative size, too
    ours, missing, worst = list(ours), 0, 0.0
    for b in proper:
        near = [(max(abs(u - v) for u, v in zip((100 * b[1], *b[2:]), (100 * o[1], *o[2:]))), o) for o in ours if o[0] == b[0]]
        least = min(near, default=(9.0, None))
        if least[0] > 1:
            missing += 1
        else:
            worst = max(worst, least[0])
            ours.remove(least[1])
    return missing, len(ours), worst, len(proper)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--dice", type=pathlib.Path, required=True)
    options.add_argument("--work", type=pathlib.Path, default=pathlib.Path("ultralytics_boxes"))
    given = options.parse_args()
    folder, dice = given.work.resolve(), given.dice.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    x = picture(folder / "picture.png")
    expected, cmake = {}, CMAKE
    for name, (_, end_to_end) in NETWORKS.items():
        expected[name] = make(name, end_to_end, folder, x)
        outputs = f" OUTPUTS {outputs_before_choice(folder, dice, name)}" if end_to_end else ""
        (folder / f"{name}.cpp").write_text(PROGRAM.format(name))
        cmake += (f"dice_add_network({name} ONNX {name}.onnx{outputs})\nadd_executable({name} {name}.cpp)\n"
                  f"target_link_libraries({name} PRIVATE dice::dice dice::network::{name})\n")
    (folder / "CMakeLists.txt").write_text(cmake)
    subprocess.run(["cmake", "-S", folder, "-B", folder / "build", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={dice}"], check=True)
    subprocess.run(["cmake", "--build", folder / "build", "--parallel"], check=True)
    wrong = 0
    for name, (head, _) in NETWORKS.items():
        run = ["mpirun", "--allow-run-as-root", "-n", "1", folder / "build" / name, "--input", folder / "picture.png", "--mean", "0", "--std", "1",
               "--decode", head, "--score-threshold", str(SCORE), "--iou-threshold", str(OVERLAP), "--max-results", "1000000", "--results", "json"]
        done = subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True)
        boxes = [(b["class"], b["score"], b["x"], b["y"], b["x"] + b["width"], b["y"] + b["height"]) for b in json.loads(done.stdout)["boxes"]]
        missing, extra, worst, n = difference(boxes, expected[name])
        if len(expected[name]) == 300:
            extra = 0  # predict() gives the best 300 only
        wrong += missing > 0 or extra > 0
        print(f"{name}: {n} boxes, {missing} missing, {extra} too many, the others differ by at most {worst:.3f} pixels or per cent")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
