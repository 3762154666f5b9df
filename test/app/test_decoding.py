#!/usr/bin/env python3
"""test_decoding.py HEADS PICTURES [unittest arguments]: --decode and --picture, compared with test/decode/reference.py.

HEADS is heads_app; PICTURES is `pictures` if programs read them.  MPIRUN names mpirun, or is empty.
"""
import fcntl
import json
import os
import pathlib
import struct
import subprocess
import sys
import time
import unittest
import zlib

import numpy as np

import test_input
from test_input import Case, write_png

sys.path += [str(test_input.HERE.parent / "decode")]
import compare
import reference

HEADS = None
READS_PICTURES = False
SIZE = 3, 24, 40  # of the input
SHAPES = {"yolov5": (1, 40, 8), "yolov8": (1, 7, 60), "yolov10": (1, 30, 6), "ssd": (1, 30, 9), "pairs": (1, 30, 9), "classes": (1, 10), "mask": (1, 3, 12, 20)}
# What `steady` finds: class, score, x, y, width, height in pixels of the input.
STEADY = [(1, 0.9, 12, 8, 16, 8), (0, 0.8, -34, 8, 8, 8), (2, 0.7, 34, 18, 10, 10), (0, 0.6, 4, 4, 4, 4)]
TWO = {"forward": "mapping<dev<0>, layers<picture>, dev<1>, layers<from<flat>>>", "back": "mapping<dev<1>, layers<picture>, dev<0>, layers<from<flat>>>"}


class Heads(Case):
    def run_heads(self, *arguments, mapping=None, by="threads", **other):
        more = ["--mapping", TWO.get(mapping, mapping)] if mapping else []
        return self.start(HEADS, *arguments, *more, ranks=2 if mapping else 1, by=by, **other)

    def ranks(self):
        """One rank, and two in both orders, as threads and as processes."""
        return [(None, "threads")] + [(m, by) for m in TWO for by in self.ways()]

    def lines(self, text, output="steady"):
        return [one for one in map(json.loads, text.decode().splitlines()) if one["output"] == output]

    def assert_boxes(self, line, wanted, tolerance=1e-4):
        found = [(b["class"], b["score"], b["x"], b["y"], b["width"], b["height"]) for b in line["boxes"]]
        self.assertEqual([b[0] for b in found], [b[0] for b in wanted])
        np.testing.assert_allclose(np.array(found).reshape(-1, 6), np.array(wanted).reshape(-1, 6), rtol=1e-5, atol=tolerance)

    def labels(self, *names):
        (self.folder / "names").write_text("".join(name + "\n" for name in names))
        return ["--labels", "names"]


class Numbers(Heads):
    """Frames whose numbers are results of a head."""

    def frames(self, head, n=5):
        """n frames, and the results of the head that they hold."""
        rng = np.random.default_rng(7)
        all_of, results = np.zeros((n, *SIZE), np.float32), []
        for k in range(n):
            shape = SHAPES[head]
            if head in ("classes", "mask"):
                x = rng.normal(0, 3, shape).astype(np.float32)
            else:
                boxes = compare.objects(rng, shape[2] if head == "yolov8" else shape[1], ["anywhere", "alike", "groups"][k % 3])[None]
                n_of = boxes.shape[1]
                if head == "yolov5":
                    x = np.concatenate([boxes, compare.scores(rng, (1, n_of, 1), "many"), compare.scores(rng, (1, n_of, 3), "many")], 2)
                elif head == "yolov8":
                    x = np.concatenate([boxes, compare.scores(rng, (1, n_of, 3), "few")], 2).transpose(0, 2, 1)
                elif head == "yolov10":
                    x = np.concatenate([boxes[..., :2], boxes[..., :2] + boxes[..., 2:], compare.scores(rng, (1, n_of, 1), "many"), rng.integers(0, 3, (1, n_of, 1))], 2)
                else:  # ssd and pairs, yolov10's two results, overlap: the scores are the first 150 numbers, the boxes the first 120
                    x = rng.uniform(0, 1, (1, n_of * 5))
            x = np.ascontiguousarray(x, dtype=np.float32)
            all_of[k].reshape(-1)[:x.size] = x.reshape(-1)
            results.append(x)
        np.save(self.folder / "in.npy", all_of)
        return results

    def options(self, head, **more):
        score, overlap, most = {"yolov5": (0.25, 0.45, 1000), "yolov8": (0.25, 0.7, 300), "yolov10": (0.25, 0.7, 300), "pairs": (0.25, 0.7, 300), "ssd": (0.5, 0.45, 200)}.get(head, (0.5, 0, 5))
        return {"score": np.float32(score), "overlap": np.float32(overlap), "most": most, "across": False, "scores": 0, "width": 40, "height": 24,
                "priors": np.zeros((0, 4), np.float32), **more}

    def expected(self, head, x, o):
        if head in ("ssd", "pairs"):
            return list((reference.ssd if head == "ssd" else reference.yolov10_pairs)(x.reshape(-1)[:120].reshape(1, 30, 4), x.reshape(1, 30, 5), o))[0]
        return list(reference.mask(x, False, o) if head == "mask" else getattr(reference, head)(x, o))[0]

    def check(self, head, line, x, o):
        rows, dropped = self.expected(head, x, o)
        self.assertNotIn("top", line)
        self.assertNotIn("picture_size", line)  # no picture, but numbers
        if head == "classes":
            self.assertEqual([c["class"] for c in line["classes"]], [r[0] for r in rows])
            np.testing.assert_allclose([c["score"] for c in line["classes"]], [r[1] for r in rows], rtol=1e-5)
        elif head == "mask":
            mask = line["mask"]
            self.assertEqual((mask["width"], mask["height"]), (20, 12))
            self.assertEqual([tuple(r) for r in mask["runs"]], rows[:-3])
            self.assertEqual({c["class"]: c["pixels"] for c in mask["classes"]}, dict(rows[-3:]))
            self.assertEqual([c["pixels"] for c in mask["classes"]], sorted((r[1] for r in rows[-3:]), reverse=True))
        else:
            self.assert_boxes(line, rows)
        return len(rows)

    def test_lines_of_json(self):
        for head in SHAPES:
            results, output = self.frames(head), "corners,scores" if head in ("ssd", "pairs") else head
            for mapping, by in self.ranks() if head in ("ssd", "yolov8") else [(None, "threads")]:
                done = self.run_heads("--input", "in.npy", "--decode", f"{output}={head.replace('pairs', 'yolov10')}", "--results", "json", mapping=mapping, by=by)
                self.assert_done(done)
                lines = self.lines(done.stdout, output)
                self.assertEqual([one["frame"] for one in lines], list(range(len(results))))
                n = sum(self.check(head, line, x, self.options(head)) for line, x in zip(lines, results))
                self.assertGreater(n, 20, head)

    def test_lines_of_several_outputs_stay_whole(self):
        results = self.frames("yolov8")
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)  # so that each line waits for room, and the other output's with it
        command = self.command(HEADS, ["--input", "in.npy", "--decode", "yolov8=yolov8", "--results", "json", "--top", 300], 1, "threads")
        with subprocess.Popen(command, cwd=self.folder, stdout=writer, stderr=subprocess.DEVNULL) as running, open(reader, "rb", buffering=0) as text:
            os.close(writer)
            pieces = []
            while piece := text.read(4096):
                pieces.append(piece)
                time.sleep(0.002)
        self.assertEqual(running.returncode, 0)
        lines = b"".join(pieces)
        self.assertGreater(max(map(len, lines.splitlines())), 4096)
        for output in "yolov8", "yolov5", "mask":
            self.assertEqual([one["frame"] for one in self.lines(lines, output)], list(range(len(results))))

    def test_lines_of_several_ranks_may_mix(self):
        warning = r"dice: warning: rank 0 \(host \S+\) and rank 1 write results to the standard output, where mpirun may mix their lines"
        for by in self.ways():
            for output, mixes in ["mask", False], ["corners", by == "mpi"]:  # leaves at rank 1, as `steady` does, and at rank 0
                done = self.start(HEADS, "--random", 1, "--frames", 1, "--results", f"{output}=json", "--results", "steady=json", "--mapping",
                                  "mapping<dev<0>, layers<to<corners>>, dev<1>, layers<from<scores>>>", by=by)
                self.assert_done(done)
                (self.assertRegex if mixes else self.assertNotRegex)(done.stderr.decode(), warning)

    def test_thresholds(self):
        for head, more, given in [("yolov8", {"score": np.float32(0.4), "overlap": np.float32(0.2), "most": 9}, ["--score-threshold", 0.4, "--iou-threshold", 0.2, "--max-results", 9]),
                                  ("yolov5", {"across": True}, ["--across-classes"]), ("classes", {"most": 3}, ["--max-results", 3])]:
            results = self.frames(head)
            done = self.run_heads("--input", "in.npy", "--decode", f"{head}={head}", "--results", "json", *given)
            self.assert_done(done)
            changed = 0
            for line, x in zip(self.lines(done.stdout, head), results):
                self.check(head, line, x, self.options(head, **more))
                changed += len(self.expected(head, x, self.options(head))[0]) != len(self.expected(head, x, self.options(head, **more))[0])
            self.assertGreater(changed, 0, "the options made a difference")

    def test_priors(self):
        results = self.frames("ssd")
        priors = np.random.default_rng(3).uniform(0.1, 0.6, (30, 4)).astype(np.float32)
        np.save(self.folder / "priors.npy", priors)
        done = self.run_heads("--input", "in.npy", "--decode", "corners,scores=ssd", "--priors", "priors.npy", "--results", "json")
        self.assert_done(done)
        for line, x in zip(self.lines(done.stdout, "corners,scores"), results):
            self.check("ssd", line, x, self.options("ssd", priors=priors))
        np.save(self.folder / "priors.npy", priors[:7])
        self.assert_fails(self.run_heads("--input", "in.npy", "--decode", "corners,scores=ssd", "--priors", "priors.npy"), 1,
                          "--priors 'priors.npy': head ssd needs 4 numbers for each prior, 120 for its 30 boxes, but was given 28")

    def test_bytes_of_a_mask(self):
        results = self.frames("mask")
        for more in ["--output", "mask=out.bin"], ["--sink", "mask=cat >out.bin"]:
            self.assert_done(self.run_heads("--input", "in.npy", "--decode", "mask=mask", *more, "--results", "mask=raw"))
            np.testing.assert_array_equal(np.fromfile(self.folder / "out.bin", np.uint8).reshape(-1, 12, 20), np.stack([x[0].argmax(0) for x in results]))

    def test_lines_of_text(self):
        done = self.run_heads("--random", 1, "--frames", 2, "--decode", "steady=yolo11", *self.labels("cat", "dog", "bird"))
        self.assert_done(done)
        text = "steady: dog 0.90 at 12, 8, 16×8; cat 0.80 at -34, 8, 8×8; bird 0.70 at 34, 18, 10×10; cat 0.60 at 4, 4, 4×4"
        self.assertEqual(done.stdout.decode().splitlines(), [f"frame 0 {text}", f"frame 1 {text}"])
        self.assertNotIn("warning", done.stderr.decode())
        done = self.run_heads("--random", 1, "--decode", "steady=yolov8", "--score-threshold", 0.95, *self.labels("cat"))
        self.assertEqual(done.stdout.decode(), "frame 0 steady: nothing\n")
        self.assertIn("has 1 label for the 3 classes of output 'steady'", done.stderr.decode())
        results = self.frames("classes", 1)
        done = self.run_heads("--input", "in.npy", "--decode", "classes=classes", "--max-results", 1, "--decode", "mask=mask")
        best, score = self.expected("classes", results[0], self.options("classes"))[0][0]
        self.assertIn(f"frame 0 classes: class {best} {score:.2f}\n", done.stdout.decode())
        self.assertRegex(done.stdout.decode(), r"frame 0 mask: class \d \d\S* %(, class \d \d\S* %)+\n")

    def test_labels_in_json(self):
        done = self.run_heads("--random", 1, "--decode", "steady=yolov8", "--results", "steady=json", *self.labels("cat", "dog", "bird"))
        self.assertEqual([b["label"] for b in self.lines(done.stdout)[0]["boxes"]], ["dog", "cat", "bird", "cat"])

    def test_an_array_of_numbers_beside_lines(self):
        results = self.frames("classes")
        done = self.run_heads("--input", "in.npy", "--decode", "classes=classes", "--output", "classes=out.npy")
        self.assert_done(done)
        self.assertEqual(done.stdout.count(b"frame "), len(results))
        np.testing.assert_allclose(np.load(self.folder / "out.npy"), np.concatenate(results), rtol=1e-6)

    def test_refusals(self):
        for arguments, code, text, mapping in [
                (["--decode", "steady=yolov9"], 2, "'yolov9' is not classes, mask, yolov5, yolov8, yolo11, yolov10 or ssd", None),
                (["--decode", "yolov8"], 2, "'yolov8' must be NAME=yolov8, since the network has several outputs: yolov5, yolov8", None),
                (["--decode", "ssd"], 2, "ssd has two outputs; name them: BOXES,SCORES=ssd", None),
                (["--decode", "corners=ssd"], 2, "'corners=ssd' must be BOXES,SCORES=ssd, two of the network's outputs", None),
                (["--decode", "yolov10"], 2, "'yolov10' must be NAME=yolov10 or BOXES,SCORES=yolov10, since the network has several outputs: yolov5", None),
                (["--decode", "corners,score=yolov10"], 2, "'corners,score=yolov10' must be BOXES,SCORES=yolov10, two of the network's outputs: ", None),
                (["--decode", "stedy=yolov8"], 2, "did you mean steady=yolov8?", None),
                (["--decode", "steady=yolov8", "--decode", "steady=yolov8"], 2, "output steady is decoded twice", None),
                (["--decode", "corners,corners=ssd"], 2, "output corners is decoded twice", None),
                (["--decode", "classes=yolov5"], 2, "--decode: head yolov5 takes one result of shape (pictures, boxes, 5 + classes)", None),
                (["--decode", "steady=yolov8", "--results", "raw"], 2, "--results raw: what --decode finds in output 'steady' has no such form", None),
                (["--decode", "mask=mask", "--sink", "mask=cat", "--results", "mask=npy"], 2, "--results npy: what --decode finds in output 'mask'", None),
                (["--decode", "steady=yolov8", "--top", "steady=3"], 2, "--top lists the numbers of an output, but --decode says", None),
                (["--decode", "corners,scores=ssd", "--sink", "corners=cat", "--sink", "scores=cat"], 2, "give one --output or --sink", None),
                (["--decode", "corners,scores=ssd"], 2, "one rank must have both outputs, but 'corners' is in rank 1 and 'scores' in rank 0",
                 "mapping<dev<1>, layers<to<corners>>, dev<0>, layers<from<scores>>>"),
                (["--decode", "steady=yolov8", "--priors", "x.npy"], 2, "--priors needs --decode ssd", None),
                (["--score-threshold", 0.5], 2, "--score-threshold needs --decode", None),
                (["--iou-threshold", 0.5], 2, "--iou-threshold needs --decode", None),
                (["--max-results", 5], 2, "--max-results needs --decode", None),
                (["--across-classes"], 2, "--across-classes needs --decode", None),
                (["--decode", "steady=yolov8", "--score-threshold", 2], 2, "'2' is not a number from 0 to 1", None),
                (["--decode", "steady=yolov8", "--labels", "no"], 1, "labels file 'no' cannot be opened", None),
                (["--decode", "steady=yolov8", "--gather"], 2, "--gather: these results are written as they come", None)]:
            self.assert_fails(self.run_heads("--random", 1, *arguments, mapping=mapping), code, text)


def moved(x_axis, y_axis, width, height):
    """STEADY in a picture of that size; an axis is (pixels of the picture for one of the input, the first pixel of the input in it)."""
    out = []
    for index, score, x, y, w, h in STEADY:
        left, right = (x * x_axis[0] + x_axis[1], (x + w) * x_axis[0] + x_axis[1])
        top, bottom = (y * y_axis[0] + y_axis[1], (y + h) * y_axis[0] + y_axis[1])
        left, right, top, bottom = max(left, 0), min(right, width), max(top, 0), min(bottom, height)
        if left < right and top < bottom:
            out.append((index, score, left, top, right - left, bottom - top))
    return out


# (width, height) of a picture, --fit, and where STEADY's boxes are in it, by hand.
PLACES = [
    ((40, 24), "none", moved((1, 0), (1, 0), 40, 24)),
    ((100, 100), "stretch", moved((2.5, 0), (100 / 24, 0), 100, 100)),
    ((100, 30), "letterbox", moved((2.5, 0), (2.5, -15), 100, 30)),  # 40×12 pixels of the input, below 6 rows of border
    ((48, 72), "letterbox", moved((3, -36), (3, 0), 48, 72)),  # 16×24, beside 12 columns
    ((80, 48), "crop", moved((80 / 46, 3 * 80 / 46), (48 / 27, 2 * 48 / 27), 80, 48)),  # scaled to 46×27, of which the middle 40×24
]


class Places(Heads):
    """Boxes in pixels of pictures."""

    def setUp(self):
        super().setUp()
        if not READS_PICTURES:
            self.skipTest("programs read no pictures")

    def check(self, line, place):
        size, _, wanted = place
        self.assertEqual(line["picture_size"], list(size))
        self.assert_boxes(line, wanted, 1e-3)
        self.assertTrue(1 <= len(wanted) <= 3)  # one is always outside

    def write(self, name, size):
        write_png(self.folder / name, np.full(size[::-1], 77, np.uint8))

    def test_of_files(self):
        for place in PLACES:
            self.write("a.png", place[0])
            for mapping, by in self.ranks():
                done = self.run_heads("--input", "a.png", "--decode", "steady=yolov8", "--results", "steady=json", "--fit", place[1], mapping=mapping, by=by)
                self.assert_done(done)
                line, = self.lines(done.stdout)
                self.check(line, place)
                self.assertEqual(line["file"], "a.png")

    def test_warnings_of_wrong_numbers(self):
        scaling = " gives the network pictures with ImageNet's mean and deviation, but YOLO networks usually take samples from 0 to 1: --mean 0 --std 1"
        pixels = " has a --source whose ffmpeg writes the pixels as the video has them; give ffmpeg the format of --frames-as, such as -pix_fmt rgb24"
        self.write("a.png", (40, 24))
        np.save(self.folder / "b.npy", np.zeros((1, *SIZE), np.float32))
        (self.folder / "raw").write_bytes(np.arange(3 * 40 * 24).astype(np.uint8).tobytes())
        picture, stream = ["--input", "a.png"], lambda says: ["--source", f"cat raw # {says}", "--frames-as", "rgb24"]
        for words, expected in [
                (picture + ["--decode", "steady=yolov8"], [scaling]), (picture + ["--decode", "yolov5=yolov5", "--std", 1], []),
                (picture + ["--decode", "mask=mask"], []), (["--input", "b.npy", "--any-numbers", "--decode", "steady=yolo11"], []),
                (stream("ffmpeg -f rawvideo") + ["--decode", "yolov10=yolov10"], [pixels + ", before its output; ", scaling]),
                (stream("ffmpeg -f rawvideo -pix_fmt rgb24") + ["--mean", 0, "--decode", "yolov10=yolov10"], []),
                (stream("ffmpeg -vf scale=9:9,format=rgb24 -f rawvideo") + ["--top", "mask=1"], []), (stream("dd") + ["--top", "mask=1"], [])]:
            done = self.run_heads(*words, "--frames", 1)
            self.assert_done(done)
            said = [line for line in done.stderr.decode().splitlines() if scaling in line or pixels in line]
            self.assertEqual(len(said), bool(expected), done.stderr)
            self.assertTrue(all(text in said[0] for text in expected), said)

    def test_each_picture_has_its_size(self):
        places = [place for place in PLACES if place[1] == "letterbox"]
        np.save(self.folder / "b.npy", np.zeros((1, *SIZE), np.float32))
        for name, place in zip(["a.png", "c.png"], places):
            self.write(name, place[0])
        files = [part for name in ("a.png", "b.npy", "c.png") for part in ("--input", name)]
        for mapping, by in self.ranks():
            done = self.run_heads(*files, "--frames", 6, "--any-numbers", "--fit", "letterbox", "--decode", "steady=yolov8", "--results", "steady=json", mapping=mapping, by=by)
            self.assert_done(done)
            lines = self.lines(done.stdout)
            for first in 0, 3:  # they repeat
                self.check(lines[first], places[0])
                self.assertNotIn("picture_size", lines[first + 1])
                self.assert_boxes(lines[first + 1], STEADY)
                self.check(lines[first + 2], places[1])

    def test_of_streams(self):
        for size, fit, wanted in PLACES:
            (self.folder / "raw").write_bytes(np.arange(2 * 3 * size[0] * size[1]).astype(np.uint8).tobytes())
            for mapping, by in self.ranks():
                done = self.run_heads("--source", "cat raw", "--frames-as", "rgb24:%dx%d" % size, "--fit", fit, "--decode", "steady=yolov8",
                                      "--results", "steady=json", mapping=mapping, by=by)
                self.assert_done(done)
                lines = self.lines(done.stdout)
                self.assertEqual(len(lines), 2)
                for line in lines:
                    self.check(line, (size, fit, wanted))

    def test_of_videos(self):
        """A stand-in for ffmpeg: the size is what ffprobe says.  Not under mpirun, which puts its own folder first in PATH."""
        size, fit, wanted = PLACES[2]
        (self.folder / "bin").mkdir()
        (self.folder / "raw").write_bytes(bytes(range(90)) * 100)
        (self.folder / "clip.mp4").write_bytes(b"")
        for name, does in [("ffmpeg", "cat raw"), ("ffprobe", "echo 100,30")]:
            (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{does}\n")
            (self.folder / "bin" / name).chmod(0o755)
        path = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        for mapping in [None, *TWO]:
            done = self.run_heads("--input", "clip.mp4", "--fit", fit, "--decode", "steady=yolov8", "--results", "steady=json", mapping=mapping, env=path)
            self.assert_done(done)
            self.check(self.lines(done.stdout)[0], (size, fit, wanted))


class Drawn(Heads):
    """Boxes and masks drawn into the frames' pictures."""

    def setUp(self):
        super().setUp()
        if not READS_PICTURES:
            self.skipTest("programs read no pictures")

    def read_png(self, name):
        """A PNG of 8 bits and three channels, as stb writes it: any filter, one or more chunks."""
        data, at, packed = (self.folder / name).read_bytes(), 8, b""
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at:at + 8])
            body = data[at + 8:at + 8 + length]
            if kind == b"IHDR":
                width, height, depth, colour = struct.unpack(">IIBB", body[:10])
                self.assertEqual((depth, colour), (8, 2))
            packed += body if kind == b"IDAT" else b""
            at += 12 + length
        rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
        out = np.zeros((height, 3 * width), np.int32)
        for y in range(height):
            above = out[y - 1] if y else np.zeros(3 * width, np.int32)
            row, line, f = rows[y, 1:].astype(np.int32), out[y], rows[y, 0]
            if f in (0, 2):
                line[:] = row + (above if f else 0) & 255
                continue
            row, above, line = row.tolist(), above.tolist(), []
            for x in range(3 * width):
                a, b, c = (line[x - 3], above[x], above[x - 3]) if x >= 3 else (0, above[x], 0)
                nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
                line.append(row[x] + (0, a, b, (a + b) // 2, nearest)[f] & 255)
            out[y] = line
        return out.reshape(height, width, 3)

    def check_boxes(self, picture, boxes, background):
        """The lines are where the boxes are, one colour for each class; far from boxes and labels, the picture is as it was."""
        colours = {}
        for index, _, x, y, w, h in boxes:
            left, top, right, bottom = round(x), round(y), round(x + w), round(y + h)
            for where in (bottom - 1, (left + right) // 2), ((top + bottom) // 2, left), ((top + bottom) // 2, right - 1):
                colours.setdefault(index, set()).add(tuple(picture[where]))
        self.assertTrue(all(len(c) == 1 for c in colours.values()), colours)
        self.assertEqual(len(set.union(*colours.values())), len(colours))
        self.assertFalse(set.union(*colours.values()) & {background})
        far = np.ones(picture.shape[:2], bool)
        for _, _, x, y, w, h in boxes:
            far[max(0, int(y) - 14):int(y + h) + 14] = False
        self.assertTrue((picture[far] == background).all())
        self.assertGreater(far.sum(), 0)

    # A picture large enough for labels beside boxes: five times the input.
    LARGE = (200, 120), "stretch", moved((5, 0), (5, 0), 200, 120)

    def test_boxes_in_a_file(self):
        size, fit, wanted = self.LARGE
        write_png(self.folder / "a.png", np.full(size[::-1], 77, np.uint8))
        for mapping, by in self.ranks():
            done = self.run_heads("--input", "a.png", "--fit", fit, "--decode", "steady=yolov8", "--picture", "out.png", mapping=mapping, by=by)
            self.assert_done(done)
            self.check_boxes(self.read_png("out.png"), wanted, (77, 77, 77))
            numbers = self.read_png("out.png")
            (self.folder / "out.png").unlink()
        done = self.run_heads("--input", "a.png", "--fit", fit, "--decode", "steady=yolov8", "--picture", "out.png", *self.labels("cat", "dog", "bird"))
        self.assert_done(done)
        self.assertTrue((self.read_png("out.png") != numbers).any(), "names in place of numbers of classes")

    def test_boxes_in_a_stream(self):
        """Of every second frame; each has its number as its colour."""
        size, fit, wanted = self.LARGE
        frames = np.zeros((5, *size[::-1], 3), np.uint8) + np.arange(10, 60, 10, np.uint8)[:, None, None, None]
        (self.folder / "raw").write_bytes(frames.tobytes())
        for mapping, by in self.ranks():
            done = self.run_heads("--source", "for i in 0 1 2 3 4; do tail -c +$((i * 72000 + 1)) raw | head -c 72000; sleep 0.15; done",
                                  "--frames-as", "rgb24:200x120", "--fit", fit, "--decode", "steady=yolov8", "--picture", "out%d.png", "--picture-every", 2,
                                  mapping=mapping, by=by)
            self.assert_done(done)
            self.assertEqual(sorted(p.name for p in self.folder.glob("out*")), ["out0.png", "out2.png", "out4.png"], done)
            for k in 0, 2, 4:
                self.check_boxes(self.read_png(f"out{k}.png"), wanted, (10 * k + 10,) * 3)
                (self.folder / f"out{k}.png").unlink()
            self.assertEqual(done.stdout.count(b"frame "), 5)

    def test_many_boxes_and_none(self):
        """More than there are places for letters, from the other rank; and frames in which nothing is found."""
        rng = np.random.default_rng(5)
        frames = np.zeros((6, *SIZE), np.float32)
        for k in range(0, 6, 2):
            boxes = np.concatenate([rng.uniform(0, 40, (60, 2)), rng.uniform(1, 9, (60, 2)), rng.uniform(0.3, 1, (60, 3))], 1)
            frames[k].reshape(-1)[:420] = boxes.T.reshape(-1)
        np.save(self.folder / "in.npy", frames)
        seen = {}
        for mapping, by in self.ranks():
            done = self.run_heads("--input", "in.npy", "--decode", "yolov8=yolov8", "--iou-threshold", 1, "--picture", "out%d.png", mapping=mapping, by=by)
            self.assert_done(done)
            for k in range(6):
                seen.setdefault(k, self.read_png(f"out{k}.png").tolist())
                self.assertEqual(self.read_png(f"out{k}.png").tolist(), seen[k], (mapping, by))
                (self.folder / f"out{k}.png").unlink()
        self.assertEqual(seen[1], seen[3])
        self.assertNotEqual(seen[0], seen[2])

    def test_a_mask(self):
        """Rows of the mask: two of class 1, then class 2, and nothing else; from numbers without a picture."""
        frames = np.zeros((1, *SIZE), np.float32)
        mask = np.zeros((3, 12, 20), np.float32)
        mask[0], mask[1, :2], mask[2, 2:4] = 0.5, 1, 1
        frames.reshape(-1)[:720] = mask.reshape(-1)
        np.save(self.folder / "in.npy", frames)
        done = self.run_heads("--input", "in.npy", "--decode", "mask=mask", "--picture", "out.png", "--mean", 0, "--std", 1)
        self.assert_done(done)
        plain, drawn = np.round(frames[0].transpose(1, 2, 0) * 255), self.read_png("out.png")
        changed = (drawn != plain).any(2)
        self.assertTrue(changed[:8].all() and not changed[8:].any())
        for mapping in TWO:
            self.assert_fails(self.run_heads("--input", "in.npy", "--decode", "mask=mask", "--picture", "out.png", mapping=mapping), 2,
                              "a mask can be drawn only by the rank that has the picture", "write the mask with --results json")

    def test_slow_drawing_skips_pictures(self):
        """Of a stream; the last picture is there, of some frame.  Of files, all are drawn."""
        (self.folder / "raw").write_bytes(bytes(range(250)) * (30 * 3 * 400 * 240 // 250))
        for mapping in [None, *TWO]:
            done = self.run_heads("--source", "cat raw", "--frames-as", "rgb24:400x240", "--decode", "steady=yolov8", "--picture", "out.png", mapping=mapping)
            self.assert_done(done)
            self.assertRegex(done.stderr.decode(), r"warning: (rank \d \()?host \S+: --picture: \d+ pictures could not be drawn and written as fast as frames came; draw fewer")
            self.assertEqual(self.read_png("out.png").shape, (240, 400, 3))
        write_png(self.folder / "a.png", np.full((240, 400), 9, np.uint8))
        done = self.run_heads("--input", "a.png", "--frames", 12, "--mean", 0, "--decode", "steady=yolov8", "--picture", "all%d.jpg")
        self.assert_done(done)
        self.assertEqual(len(list(self.folder.glob("all*.jpg"))), 12)
        self.assertNotIn("warning", done.stderr.decode())

    def test_refusals(self):
        write_png(self.folder / "a1.png", np.full((24, 40), 9, np.uint8))
        steady = ["--decode", "steady=yolov8"]
        for arguments, code, text in [
                (["--picture", "a.png"], 2, "--picture needs --decode"),
                ([*steady, "--picture-every", 2], 2, "--picture-every needs --picture FILE"),
                ([*steady, "--picture", "a.gif"], 2, "--picture 'a.gif': the name must end in .jpg, .jpeg or .png"),
                ([*steady, "--picture", "a%s.png"], 2, "% stands only for the frame's number, as %d, once"),
                ([*steady, "--picture", "%d%d.png"], 2, "% stands only for the frame's number, as %d, once"),
                ([*steady, "--picture", "a.png", "--picture-every", 0], 2, "'0' is not a whole number from 1"),
                (["--decode", "classes=classes", "--picture", "a.png"], 2, "nothing is to be drawn; give --decode with a mask or a detector"),
                ([*steady, "--decode", "mask=mask", "--picture", "a.png"], 2, "several outputs have boxes or masks; decode only one"),
                ([*steady, "--picture", "no/a.png"], 1, "'no/a.png' cannot be written"),
                ([*steady, "--picture", "a.png", "--labels", "no"], 1, "labels file 'no' cannot be opened"),
                ([*steady, "--picture", "./a1.png"], 2, "would be overwritten"),
                ([*steady, "--picture", "a%d.png", "--frames", 3], 1, "'a1.png' is read by this run and would be overwritten; name another file for --picture")]:
            self.assert_fails(self.run_heads("--input", "a1.png", *arguments), code, text)


if __name__ == "__main__":
    HEADS, READS_PICTURES = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2] == "pictures"
    del sys.argv[1:3]
    unittest.main()
