#!/usr/bin/env python3
"""test_camera.py CAMERA BUILD [unittest arguments]: examples/camera finds what its pictures and its video show.

CAMERA is the example's program, BUILD dice's build folder.  MPIRUN names mpirun, or is empty.
"""
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest

import test_input
from test_input import HERE, LIMIT, Case

CAMERA = BUILD = None
EXAMPLE = HERE.parent.parent / "examples" / "camera"
DECODED = ["--mean", 0, "--std", 1, "--decode", "yolov8", "--labels", EXAMPLE / "labels.txt"]


def overlap(a, b):
    """Intersection over union of boxes: left, top, right, bottom."""
    both = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    return both / (sum((x[2] - x[0]) * (x[3] - x[1]) for x in (a, b)) - both)


def found_in(lines):
    """For each line of --results json: (label, box) of what was found."""
    return [[(b["label"], (b["x"], b["y"], b["x"] + b["width"], b["y"] + b["height"])) for b in json.loads(line)["boxes"]]
            for line in lines.decode().splitlines()]


def right(found, label, box):
    """How many of these boxes are right for an object."""
    return sum(name == label and overlap(b, box) >= 0.5 for name, b in found)


class Scenes(Case):
    """The pictures and figures of train.py."""

    def test_numbers(self):
        for by in self.ways():
            self.assert_done(self.start(CAMERA, "--input", EXAMPLE / "scenes", "--mean", 0, "--std", 1,
                                        "--expect", EXAMPLE / "detector_out.npy", "--tolerance", 5e-6, by=by))

    def test_objects(self):
        wanted = json.loads((EXAMPLE / "scenes.json").read_text())
        for by in self.ways():
            done = self.start(CAMERA, "--input", EXAMPLE / "scenes", *DECODED, "--results", "json", by=by)
            self.assert_done(done)
            found = found_in(done.stdout)
            self.assertEqual(len(found), len(wanted))
            for boxes, name in zip(found, sorted(wanted)):
                self.assertEqual(len(boxes), len(wanted[name]), (name, boxes))
                for thing in wanted[name]:
                    self.assertEqual(right(boxes, thing["label"], thing["box"]), 1, (name, thing, boxes))


class Script(Case):
    """What the scripts say."""

    def call(self, script, *words, **other):
        return subprocess.run([EXAMPLE / script, *words], cwd=self.folder, capture_output=True, timeout=LIMIT, text=True, **other)

    def programs(self, *names):
        """A PATH with these programs only."""
        (self.folder / "bin").mkdir()
        for name in names:
            (self.folder / "bin" / name).symlink_to(next(p for d in os.environ["PATH"].split(":") if (p := pathlib.Path(d) / name).exists()))
        return {**os.environ, "PATH": str(self.folder / "bin")}

    def test_help_and_refusals(self):
        for script in "run", "make_video":
            done = self.call(script, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(script, done.stdout)
        done = self.call("run", "--built")
        self.assertEqual((done.returncode, done.stderr), (1, "camera: --built: '' is not a folder\n"))
        done = self.call("make_video", "--quick")
        self.assertEqual((done.returncode, done.stderr), (2, "make_video: there is no option '--quick'; see --help\n"))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_is_missing(self):
        env = self.programs("sh", "bash", "dirname")
        done = self.call("make_video", env=env)
        self.assertEqual((done.returncode, done.stderr), (1, "make_video: there is no ffmpeg here; install it (Debian: apt-get install ffmpeg)\n"))
        (self.folder / "bin" / "id").write_text("#!/bin/sh\necho 1000\n")
        (self.folder / "bin" / "id").chmod(0o755)
        done = self.call("run", "--hosts", env=env)
        self.assertEqual((done.returncode, done.stderr), (1, "camera: --hosts needs root for network namespaces: sudo examples/camera/run --hosts; "
                                                          "without --hosts, both ranks run on this machine\n"))


class Video(Case):
    """The video, which ffmpeg makes."""

    @staticmethod
    def objects():
        """(label, its box in frame n), as make_video says."""
        text = (EXAMPLE / "make_video").read_text()
        sizes = {name: (int(w), int(h)) for w, h, name in re.findall(r"\(shape \S+ (\d+)x(\d+) .*\) \[(.*)\];", text)}
        known = {"PI": math.pi, "sin": math.sin, "cos": math.cos}

        def box(name, x, y):
            def at(n):
                left, top = (int(eval(e, known, {"t": n / 30})) for e in (x, y))
                return left, top, left + sizes[name][0], top + sizes[name][1]
            return at
        return [(name.split()[-1], box(name, x, y)) for name, x, y in re.findall(r"\]\[([a-z ]+)\] overlay=format=gbrp:x='(.*)':y='(.*)' ", text)]

    def test_each_frame(self):
        subprocess.run([EXAMPLE / "make_video", self.folder / "scene.mp4"], check=True)
        done = self.start(CAMERA, "--input", "scene.mp4", "--fit", "letterbox", *DECODED, "--results", "json", by=self.ways()[-1])
        self.assert_done(done)
        found, objects = found_in(done.stdout), self.objects()
        self.assertEqual((len(found), [label for label, _ in objects]), (300, ["ball", "box", "triangle", "ball"]))
        for label, box in objects:
            self.assertGreaterEqual(sum(right(boxes, label, box(n)) == 1 for n, boxes in enumerate(found)), 0.95 * 300, label)
        self.assertLessEqual(sum(len(boxes) for boxes in found), 1.02 * 300 * len(objects))  # few that are nothing

    @unittest.skipUnless(test_input.MPIRUN, "no mpirun")
    def test_the_command(self):
        done = subprocess.run([EXAMPLE / "run", "--built", BUILD, "--frames", "40", "--when-late", "wait"], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^frame 0: (ball|box|triangle) [01]\.\d\d at \d+, \d+, \d+×\d+; ")
        self.assertEqual(len([line for line in lines if line.startswith("frame ")]), 40)
        self.assertEqual(lines[-1], f"2 pictures with boxes are in {BUILD}/camera/pictures")
        self.assertEqual({p.name for p in (pathlib.Path(BUILD) / "camera/pictures").iterdir()}, {"frame0.png", "frame30.png"})
        self.assertRegex(done.stderr, r"40 frames came, 0 dropped")


class Hosts(Case):
    """The command on two emulated hosts."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("needs root")
        if not all(map(shutil.which, ("ip", "rsync", "hostname"))):
            self.skipTest("scripts/install-packages camera")

    def namespaces(self, run):
        return subprocess.run(f"ip netns list | grep ^camera_{run.pid}-", shell=True, capture_output=True, text=True).stdout

    def start_run(self, *words):
        return subprocess.Popen([EXAMPLE / "run", "--hosts", "--built", BUILD, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                start_new_session=True)

    def test_two_hosts(self):
        with self.start_run() as run:
            out = run.communicate(timeout=300)[0]
        self.assertEqual(run.returncode, 0, out)
        self.assertRegex(out, r"front +[0-9a-f]{12} [^\n]* 1 of 1 [^\n]*\nback +[0-9a-f]{12} [^\n]* 1 of 1 ")
        self.assertRegex(out, r"\nframes: [1-9]\d* answered(, \d+ dropped)?; [\d.]+ frames/s now; latency median [\d.]+ ms")
        self.assertRegex(out, r"\nback #1 +\| .*frame \d+: (ball|box|triangle) ")
        self.assertRegex(out, r"\nat the end: \d+ frames in .*\n\d+ frames came, \d+ dropped\n")
        self.assertRegex(out, r"\n[1-9]\d* pictures with boxes are in ")
        self.assertEqual(self.namespaces(run), "")

    def test_an_end_before_the_end(self):
        """As by Ctrl-C, which all processes get, and by kill."""
        for send, how in (os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM):
            with self.start_run() as run:
                for line in run.stdout:
                    if "is now on all hosts" in line:
                        break
                self.assertIn(f"camera_{run.pid}-h1", self.namespaces(run))
                send(run.pid, how)
                run.communicate(timeout=120)
            self.assertEqual(run.returncode, 130)
            self.assertEqual(self.namespaces(run), "")

    def test_a_failure(self):
        with self.start_run("--source", "exit 7") as run:
            out = run.communicate(timeout=300)[0]
        self.assertEqual(run.returncode, 1, out)
        self.assertIn("has ended (exit status 7) after 0 frames", out)
        self.assertEqual(self.namespaces(run), "")


if __name__ == "__main__":
    CAMERA, BUILD = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
