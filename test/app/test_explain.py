#!/usr/bin/env python3
"""test_explain.py DIGITS CLUSTER_APP: --explain of programs without and with a cluster, as they run."""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

DIGITS, APP = sys.argv[1:3]
SAMPLE = pathlib.Path(__file__).parent.parent / "sample.hpp"


class Explain(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.json = self.folder / "figures.json"

    def explain(self, program, *arguments, code=0, **environment):
        done = subprocess.run([program, "--explain", *map(str, arguments)], capture_output=True, text=True, timeout=100, cwd=self.folder,
                              env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def write_weights(self):
        """Of the sample network: zeros."""
        header = SAMPLE.read_text()
        digest = re.search(r'\.digest = "(\w+)"', header)[1]
        size = int(re.search(r"\.bytes = (\d+)", header)[1])
        name = re.search(r'\.file = "([^"]+)"', header)[1]
        text = json.dumps({"__metadata__": {"dice_digest": digest},
                           "all": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
        text += b" " * (-(len(text) + 8) % 64)
        (self.folder / name).write_bytes(struct.pack("<Q", len(text)) + text + bytes(size))
        return self.folder / name

    def check(self, figures):
        """What the page says is what the figures of the run are."""
        told = figures["explained"]
        self.assertAlmostEqual(told["period_s"] * figures["frames_per_second"], 1, delta=1e-3)
        for rank in figures["ranks"]:
            measured = sum(s["measured_s"] for s in told["stages"] if s["rank"] == rank["rank"])
            self.assertAlmostEqual(measured * 1e3, rank["compute_ms"], delta=1e-3 * rank["compute_ms"])
        self.assertEqual(len(told["idle"]), len(figures["ranks"]))
        self.assertTrue(all(0 <= idle <= 1 for idle in told["idle"]))
        self.assertTrue(all(link["measured_s"] >= 0 and link["bytes"] > 0 for link in told["links"]))
        return told

    def test_without_a_cluster(self):
        text = self.explain(DIGITS, "--transport", "in-process", "--json", self.json)
        figures = json.loads(self.json.read_text())
        told = self.check(figures)
        self.assertEqual((figures["frames"], len(told["stages"]), len(told["links"])), (50, 2, 1))
        self.assertIn("\n" + told["limit"] + "\n", text)
        for part in ["rank 0 on ", ": conv1 … pool2", "  messages to rank 1 on ", ", 2048 B", "of the period", "Idle: rank 0 on ",
                     "This program knows no cluster"]:
            self.assertIn(part, text)
        self.assertNotIn("predicted ms", text)
        self.assertNotIn("better", told)

    @unittest.skipUnless("MPIRUN" in os.environ, "needs mpirun")
    def test_by_mpi(self):
        done = subprocess.run([os.environ["MPIRUN"], "--bind-to", "none", "-n", "2", DIGITS, "--explain", "--frames", "20", "--random", "7",
                               "--json", str(self.json)], capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(json.loads(self.json.read_text()))
        self.assertIn("20 frames in", done.stdout)

    def test_with_a_cluster(self):
        text = self.explain(APP, "--weights", self.write_weights(), "--transport", "in-process", "--json", self.json)
        told = self.check(json.loads(self.json.read_text()))
        self.assertTrue(all(s["predicted_s"] > 0 for s in told["stages"]))
        self.assertTrue(all(link["predicted_s"] > 0 for link in told["links"]))
        self.assertGreater(told["predicted_period_s"], 0)
        self.assertIn("better", told)
        self.assertIn("predicted ms", text)
        if told["better"]:
            self.assertIn(told["better"]["mapping"].split(">;")[0], text)
            self.assertIn("with times as they were measured here", text)
        else:
            self.assertIn("No other mapping on this cluster", text)

    def test_refusals(self):
        self.assertIn("give files", self.explain(DIGITS, "--transport", "in-process", "--input", "-", code=2))
        self.assertIn("leave --explain", self.explain(DIGITS, "--measure", "x.json", code=2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
