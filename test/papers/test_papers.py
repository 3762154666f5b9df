#!/usr/bin/env python3
"""test_papers.py FOLDER: the simulations of bench/papers on cases worked out by hand; the papers' figures are beside ours;
every command has a help text."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(sys.argv.pop(1))
sys.path.append(str(FOLDER))
import simulate  # noqa: E402
import bed  # noqa: E402
import paper  # noqa: E402


class Simulations(unittest.TestCase):
    def told(self, got, frames_per_second, seconds):
        self.assertAlmostEqual(got[0], frames_per_second)
        self.assertAlmostEqual(got[1], seconds)

    def test_a_pipeline_with_time_to_spare(self):
        # One frame per second, each done 0.9 s after it arrived: the third at 2.9 s.
        self.told(simulate.pipeline([0.3, 0.1, 0.5], 4, 1, 3), 3 / 2.9, 0.9)

    def test_a_link_that_limits_a_pipeline(self):
        # All arrive almost at once. The link is done with frame k at 0.2 + 0.5 (k + 1), the last stage 0.1 later.
        self.told(simulate.pipeline([0.2, 0.5, 0.1], 4, 1e9, 3), 3 / 1.8, 1.3)

    def test_messages_keep_stages_busy(self):
        # The first stage begins a frame every 0.6 s; each leaves 0.8 s after it began.
        self.told(simulate.pipeline([0.2, 0.5, 0.1], 4, 1e9, 3, [0.4, 0, 0]), 3 / 2.0, 1.4)

    def test_frames_in_flight_limit_a_pipeline(self):
        # One at a time: 0.8 s each.
        self.told(simulate.pipeline([0.2, 0.5, 0.1], 1, 1e9, 3), 3 / 2.4, 1.6)
        # Two at a time: the third enters at 0.8, when the first leaves; it is on the link from 1.2, after the second, to
        # 1.7.
        self.told(simulate.pipeline([0.2, 0.5, 0.1], 2, 1e9, 3), 3 / 1.8, 1.3)
        # Two at a time through equal stages: frames leave at 3, 4, then 6 and 7, since the third enters at 3 and the fourth
        # at 4.
        self.told(simulate.pipeline([1, 1, 1], 2, 1e9, 4), 4 / 7, 5)

    def test_greedy_takes_the_fastest_that_is_free(self):
        # At a low rate the second host gets nothing.
        self.told(simulate.greedy([0.5, 0.1], 1, 3), 3 / 2.5, 0.5)
        # The frames at 0 and 1 go to the first and the second host. The first is free again at 2, when the third arrives.
        self.told(simulate.greedy([2, 3], 1, 3), 3 / 4, 2)

    def test_greedy_waits_for_the_host_that_is_free_first(self):
        # All arrive at once: the first host finishes frames at 1, 2, 3, 4, the second has one frame until 3.
        self.told(simulate.greedy([1, 3], 1e9, 4), 4 / 3, 2.5)


def command(name):
    """The script of this name as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(FOLDER / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Figures(unittest.TestCase):
    """Each line that a command prints is given as its cells, which two or more blanks separate."""

    def lines(self, name, *given):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            command(name).tell(*given)
        return [re.split(r"\s{2,}", line.strip()) for line in out.getvalue().splitlines()]

    def test_files(self):
        files = sorted(FOLDER.glob("*.json"))
        self.assertEqual([file.stem for file in files], ["autodice", "deepthings", "dp", "tvm"])
        for file in files:
            told = paper.read(file.stem)
            self.assertEqual(set(told), {"papers", "hardware", "tables"}, file)
            for reference in told["papers"]:
                self.assertRegex(reference, r"20\d\d", file)
                self.assertRegex(reference, r"doi 10\.\d+/|arXiv:\d+", file)
            for name, table in told["tables"].items():
                self.assertEqual(set(table), {"where", "columns", "rows"}, (file, name))
                self.assertRegex(table["where"], r"(Table|Section) [IV\d]", (file, name))
                self.assertEqual(len(set(table["columns"])), len(table["columns"]), (file, name))
                for row in table["rows"]:
                    self.assertEqual(len(row), len(table["columns"]), (file, name, row))
                    self.assertTrue(all(cell is None or isinstance(cell, (str, int, float)) for cell in row), row)

    def test_tvm(self):
        ours = {"network": "mobilenet_v1", "first stage ends with": "pw4_relu", "hosts": ["h2", "h1"], "expected": 60, "measured": 50,
                "spread": 18, "h1": 40, "h2": 20, "gain": 25}
        said = self.lines("tvm", [ours, {**ours, "network": "squeezenet1_1"}, {**ours, "network": "resnet18"}], paper.read("tvm"))
        # 100 expected and 98 measured, 76.6 by the GPU alone; the gain of SqueezeNet is stated; ResNet-18 is not in the paper.
        self.assertEqual(said[1][-7:], ["100.0", "98.0", "+2 %", "+28 %", "167.9", "139.9", "+20 %"])
        self.assertEqual(said[2][-7:-3], ["100.2", "101.3", "-1 %", "+150 %"])
        self.assertEqual(said[3][-2:], ["20.00", "+25 %"])

    def test_dp(self):
        ours = {"network": "resnet18", "way": "two stages", "hosts": ["h1", "h2"], "expected": 15, "measured": 15, "spread": 1,
                "alone": {"h1": 10, "h2": 6}}
        said = self.lines("dp", [ours], [], paper.read("dp"))
        # 1 / 207 ms; 274 / 207; and of 1 / 274 ms + 1 / 636 ms together.
        self.assertEqual(said[1][-5:], ["1.50", "0.94", "4.83", "1.32", "0.93"])
        self.assertEqual([line[0] for line in said[2:4]], ["resnet34 (CIFAR-10)", "resnext (ImageNet)"])

    def test_autodice(self):
        one = {"network": "densenet121", "devices": 1, "used": 1, "measured": 3, "expected": 3, "spread": 0, "planned_mb": 60,
               "resident_mb": 80}
        said = self.lines("autodice", [one, {**one, "devices": 8, "used": 7, "measured": 6, "planned_mb": 30}], paper.read("autodice"), 12)
        self.assertEqual([line[:2] for line in said[1:6]], [["densenet121", n] for n in "11468"])
        self.assertEqual(said[3][2:], ["A", "4 GPUs", "27.94", "2.18", "152", "0.61"])  # of one device's GPU
        self.assertEqual(said[5][2:6] + said[5][-6:], ["7", "3.00", "6.00 ±0 %", "2.00", "C", "38 cores", "7.55", "0.94", "51", "0.39"])

    def test_deployments(self):
        ours = {"network": "vgg19", "hosts": 8, "seconds": 32, "changed_seconds": 31, "packages": [1e6, 2e6], "programs": [1e6, 1e6]}
        self.assertIn("48.8 (copying 26.9)", self.lines("deployments", [ours], paper.read("autodice"))[1])

    def test_splits(self):
        ours = {"network": "yolov2_16", "hosts": 2, "rate": "1gbit", "one_ms": 2, "split_ms": 1, "predicted_ms": 1, "spread": 1, "ratio": 2,
                "memory": None}
        said = self.lines("splits", [ours], paper.read("deepthings"))
        self.assertIn(["DeepThings", "6", "6800", "3.50"], said)
        self.assertIn(["DeepThings", "5x5", "0.32"], said)


class Commands(unittest.TestCase):
    def call(self, command, *options):
        return subprocess.run([sys.executable, "-B", FOLDER / command, *options], capture_output=True, text=True)

    def test_help(self):
        for command in "predictions", "autodice", "tvm", "dp", "splits", "schemes":
            with self.subTest(command):
                said = self.call(command, "--help")
                self.assertEqual(said.returncode, 0, said.stderr)
                self.assertIn("--rounds N", said.stdout)

    def test_help_of_deployments(self):
        said = self.call("deployments", "--help")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("--sysroot DIR", said.stdout)

    def test_mistakes(self):
        said = self.call("tvm", "alexnet")
        self.assertEqual(said.returncode, 2)
        self.assertIn("there is no alexnet", said.stderr)

    def test_networks_are_those_of_models(self):
        text = (FOLDER.parent / "models.py").read_text()
        for name in bed.NETWORKS:
            self.assertIn(f"\ndef {name}(net):", text)


if __name__ == "__main__":
    unittest.main()
