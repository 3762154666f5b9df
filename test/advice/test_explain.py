#!/usr/bin/env python3
"""test_explain.py DIGITS CLUSTER_APP TOY_APP: --explain in runs of programs without and with a cluster."""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import unittest

DIGITS, APP, TOY = sys.argv[1:4]
MPIRUN = os.environ.get("MPIRUN")
MPI = [MPIRUN, "--bind-to", "none", "-n", 2]
SAMPLE = pathlib.Path(__file__).parent.parent / "sample.hpp"


class Explain(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.json = self.folder / "figures.json"

    def explain(self, *command, code=0, **environment):
        begin = time.monotonic()
        done = subprocess.run([*map(str, command), "--explain"], capture_output=True, text=True, timeout=100, cwd=self.folder,
                              env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
        self.seconds = time.monotonic() - begin
        self.warnings = done.stderr
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def toy(self, *arguments, owner="0,0,1,0,0,0,0,0,0,0", by=(), **environment):
        """The page of toy_app, and the content of its file. Unless said otherwise, rank 1 has the second of a frame's eight
        kernels."""
        subprocess.run([TOY, "--write-weights", self.folder / "toy.safetensors"], check=True)
        text = self.explain(*by, TOY, "--json", self.json, *arguments, TOY_OWNER=owner, **environment)
        return text, json.loads(self.json.read_text())

    def write_weights(self):
        """Writes the sample network's weights, all zeros."""
        header = SAMPLE.read_text()
        structure = re.search(r'\.structure = "(\w+)"', header)[1]
        size = int(re.search(r"\.bytes = (\d+)", header)[1])
        name = re.search(r'\.file = "([^"]+)"', header)[1]
        text = json.dumps({"__metadata__": {"dice_structure": structure, "dice_digest": "0" * 64, "model_sha256": "0" * 64},
                           "all": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
        text += b" " * (-(len(text) + 8) % 64)
        (self.folder / name).write_bytes(struct.pack("<Q", len(text)) + text + bytes(size))
        return self.folder / name

    def check(self, figures):
        """Checks the page against the figures of the run; its times are not longer than the program took."""
        told = figures["explained"]
        self.assertAlmostEqual(told["period_s"] * figures["frames_per_second"], 1, delta=1e-3)
        self.assertLess(told["period_s"] * figures["frames"], self.seconds)
        for rank in figures["ranks"]:
            measured = sum(s["measured_s"] for s in told["stages"] if s["rank"] == rank["rank"])
            self.assertAlmostEqual(measured * 1e3, rank["compute_ms"], delta=1e-3 * rank["compute_ms"])
            self.assertLess(measured, 1.1 * told["period_s"])  # one thread computes
        self.assertEqual(len(told["idle"]), len(figures["ranks"]))
        self.assertTrue(all(0 <= idle <= 1 for idle in told["idle"]))
        self.assertEqual(len(told["other_s"]), len(figures["ranks"]))
        for k, seconds in enumerate(told["other_s"]):
            busy = sum(s["measured_s"] for s in told["stages"] if s["rank"] == k) + figures["ranks"][k]["input_ms"] * 1e-3
            self.assertAlmostEqual(seconds, max(told["period_s"] * (1 - told["idle"][k]) - busy, 0), delta=1e-5 * told["period_s"])
        for link in told["links"]:
            self.assertEqual(link["bytes"] * figures["frames"], figures["ranks"][link["from"]]["bytes_sent"])
            self.assertLess(link["measured_s"] * figures["frames"], self.seconds)
        return told

    def check_toy(self, figures, frames=50, one_clock=True):
        """Its kernels take 0 to 2 ms at random, 1 ms on average, plus what a busy machine adds. Messages to a rank that
        computes wait until its kernel ends. Without one clock for all ranks, their clocks are compared by messages, which a
        busy machine delays: then a message may seem to take no time."""
        told = self.check(figures)
        self.assertEqual([(s["rank"], s["layers"]) for s in told["stages"]],
                         [(0, ["l1"]), (1, ["l2"]), (0, ["l3", "l4", "l5", "l6", "l7", "l8"])])
        for stage in told["stages"]:
            ms = 1e3 * stage["measured_s"] / len(stage["layers"])
            self.assertTrue(0.6 < ms < 5, stage)
        self.assertGreater(told["period_s"], 7 * 0.6e-3)
        self.assertLess(told["idle"][0], 0.5)
        self.assertGreater(told["idle"][1], 0.3)
        self.assertEqual([(link["from"], link["to"], link["bytes"], link["messages"], link["frames"]) for link in told["links"]],
                         [(0, 1, 256, 1, frames), (1, 0, 256, 1, frames)])
        for link in told["links"]:
            self.assertTrue(0 <= link["measured_s"] < 0.05, link)
            self.assertTrue(link["measured_s"] > 0 or not one_clock, link)

    def test_without_a_cluster(self):
        text = self.explain(DIGITS, "--transport", "in-process", "--json", self.json)
        figures = json.loads(self.json.read_text())
        told = self.check(figures)
        self.assertEqual((figures["frames"], len(told["stages"]), len(told["links"])), (50, 2, 1))
        self.assertTrue(0 < told["links"][0]["measured_s"] < 1)
        self.assertIn("\n" + told["limit"] + "\n", text)
        for part in ["rank 0 on ", ": conv1 … pool2", "  handling messages and frames ", "  messages to rank 1 on ", ", 2048 B",
                     "of the period", "Idle: rank 0 on ",
                     "This program has no cluster"]:
            self.assertIn(part, text)
        self.assertNotIn("predicted ms", text)
        self.assertNotIn("better", told)
        self.assertNotIn("Message times cover", text)

    @unittest.skipUnless(MPIRUN, "needs mpirun")
    def test_by_mpi(self):
        text = self.explain(*MPI, DIGITS, "--frames", 20, "--random", 7, "--json", self.json)
        self.check(json.loads(self.json.read_text()))
        self.assertIn("20 frames in", text)

    def test_times_that_are_known(self):
        for arguments, frames in ((), 50), (("--warmup", 7, "--frames", 30), 30):
            with self.subTest(arguments):
                _, figures = self.toy("--transport", "in-process", *arguments, TOY_SLOW="2000")
                self.check_toy(figures, frames)

    @unittest.skipUnless(MPIRUN, "needs mpirun")
    def test_times_that_are_known_by_mpi(self):
        _, figures = self.toy("--warmup", 7, "--frames", 30, by=MPI, TOY_SLOW="2000")
        self.check_toy(figures, 30, one_clock=False)

    def test_more_frames_than_are_kept(self):
        """A rank keeps 200000 message times, 8 per frame here: it receives three messages and sends two."""
        owner, in_process = "0,0,1,0,1,0,1,0,0,0", ("--transport", "in-process")
        text, figures = self.toy(*in_process, "--frames", 30000, owner=owner)
        links = self.check_links(figures, 30000)
        known = min(link["frames"] for link in links)
        self.assertTrue(24900 <= known <= 25000, links)
        self.assertIn(f"\nMessage times cover {known} of the 30000 frames;", text)
        # Events that a trace drops are not lost for --explain.
        text, figures = self.toy(*in_process, "--frames", 21000, "--trace", "trace.json", owner=owner)
        self.assertEqual([link["frames"] for link in self.check_links(figures, 21000)], [21000, 21000])
        self.assertNotIn("Message times cover", text)
        self.assertRegex(self.warnings, r"warning: rank 0 .*: --trace has only the first 200000 events, and not the \d+ after them")

    def check_links(self, figures, frames):
        self.assertEqual(figures["frames"], frames)
        links = self.check(figures)["links"]
        self.assertEqual([link["messages"] for link in links], [3, 2])
        self.assertTrue(all(0 < link["measured_s"] < 0.05 for link in links), links)
        return links

    def test_with_a_cluster(self):
        text = self.explain(APP, "--weights", self.write_weights(), "--transport", "in-process", "--json", self.json)
        told = self.check(json.loads(self.json.read_text()))
        self.assertTrue(all(s["predicted_s"] > 0 for s in told["stages"]))
        self.assertTrue(all(link["predicted_s"] > 0 and link["measured_s"] > 0 for link in told["links"]))
        self.assertGreater(told["predicted_period_s"], 0)
        self.assertIn("better", told)
        self.assertIn("predicted ms", text)
        if told["better"]:
            self.assertIn(told["better"]["mapping"].split(">;")[0], text)
            self.assertIn("both predicted from the times measured here", text)
        else:  # on a busy machine, none is advised
            self.assertRegex(text, "No other mapping on this cluster|No mapping is advised")

    def test_cores_that_others_take(self):
        core = min(os.sched_getaffinity(0))
        other = subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c", "print(flush=True)\nwhile True: pass"],
                                 stdout=subprocess.PIPE)
        try:
            other.stdout.readline()
            text = self.explain("taskset", "-c", core, DIGITS, "--transport", "in-process", "--frames", 20000, "--json", self.json)
        finally:
            other.kill()
            other.communicate()
        figures = json.loads(self.json.read_text())
        self.assertIn("\nCores were taken: rank ", text)
        self.assertNotIn("in-flight", text)
        self.assertNotIn("in_flight", text)
        self.assertTrue(figures["explained"]["lost_cores"].startswith("Cores were taken: rank "))
        self.assertIn("say little about the mapping; run it again when the cores are free", text)  # half of the time
        self.assertIn("What limits the speed is not known", text)
        self.assertEqual([rank["cores"]["count"] for rank in figures["ranks"]], [1, 1])
        self.assertGreater(max(rank["cores"]["waited_ms"] for rank in figures["ranks"]), 0)

    def test_refusals(self):
        self.assertIn("give files", self.explain(DIGITS, "--transport", "in-process", "--input", "-", code=2))
        self.assertIn("omit --explain", self.explain(DIGITS, "--measure", "x.json", code=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
