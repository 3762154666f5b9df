#!/usr/bin/env python3
"""test_measure.py DIGITS TOY ONNX2HPP FOLDER INCLUDE COMPILER MODEL: --measure; its file becomes types, which predictions
use.

DIGITS runs examples/digits, whose header is in FOLDER and whose model is MODEL; TOY is toy_app; INCLUDE is dice's include
folder.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "app"))
from test_program import of_ranks  # noqa: E402

DIGITS, TOY, ONNX2HPP, FOLDER, INCLUDE, COMPILER, MODEL = sys.argv[1:8]
ANCHORS = ["conv1", "conv2", "conv3", "fc1", "fc2", "softmax"]

USER = """
#include <dice/partition/partition.hpp>
#include "digits.hpp"
#include "digits_profile.hpp"
using namespace dice;
using measured = board<"measured", ram<1'000'000'000>, processor<cpu, profile<digits_profile::UNIT>>, digits_profile::WITHIN>;
using lab = cluster<host<"HOST", measured>>;
using plan = mapping<dev<0, cpu>, layers<range<digits::picture, digits::pool2>>, dev<1, cpu>,
                     layers<range<digits::conv3, digits::scores>>>;
constexpr double seconds = SUM * 1e-3;
static_assert(predicted<digits::network, best_mapping<digits::network, lab>, lab>.latency > 0.99 * seconds);
static_assert(predicted<digits::network, best_mapping<digits::network, lab>, lab>.latency < 1.01 * seconds);
static_assert(predicted<digits::network, plan, lab>.latency > seconds);
"""


class Measure(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.file = self.folder / "profile.json"

    def run_program(self, *arguments, **environment):
        return subprocess.run([*map(str, arguments)], capture_output=True, text=True, timeout=100, cwd=self.folder,
                              env={**os.environ, "OMP_NUM_THREADS": "1", **environment})

    def measure(self, *command, **environment):
        done = self.run_program(*command, "--measure", self.file, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(self.file.read_text()), done

    def check_digits(self, told):
        """Both ranks have the same unit, which is measured once."""
        unit, = told["units"]
        self.assertEqual((told["network"], unit["unit"], unit["threads"]), ("digits", "cpu", 1))
        self.assertEqual([layer["layer"] for layer in unit["layers"]], ANCHORS)
        self.assertTrue(all(0 < layer["ms"] < 1000 for layer in unit["layers"]))
        self.assertTrue(0.01 < unit["memory_gbytes_per_s"] < 10000)
        self.assertNotIn("missing", unit)
        link, = told["connections"]
        self.assertEqual((link["from"], link["to"]), (unit["host"], unit["host"]))
        self.assertGreater(link["mbit_per_s"], 0)
        self.assertGreaterEqual(link["us"], 0)

    def test_becomes_types(self):
        told, done = self.measure(DIGITS, "--transport", "in-process")
        self.check_digits(told)
        self.assertEqual(done.stderr, "")
        for text in [*ANCHORS, "all", "copies, GB/s", "cpu of", "within", "Mbit/s"]:
            self.assertIn(text, done.stdout)
        self.assertEqual(self.run_program(ONNX2HPP, MODEL, "--profile", self.file).returncode, 0)
        profile = (self.folder / "digits_profile.hpp").read_text()
        unit = told["units"][0]
        words = {"HOST": unit["host"], "UNIT": profile.split("struct ")[1].split()[0],
                 "WITHIN": profile.split("using within_")[1].split()[0].join(["within_", ""]),
                 "SUM": str(sum(layer["ms"] for layer in unit["layers"]))}
        text = USER
        for word, value in words.items():
            text = text.replace(word, value)
        (self.folder / "user.cpp").write_text(text)
        built = self.run_program(COMPILER, "-std=c++20", "-fsyntax-only", "-fopenmp", "-DDICE_WITH_OPENMP", "-fconstexpr-ops-limit=1000000000" if "clang" not in COMPILER else
                                 "-fconstexpr-steps=1000000000", f"-I{INCLUDE}", f"-I{FOLDER}", "user.cpp")
        self.assertEqual((built.returncode, built.stderr), (0, ""))

    @unittest.skipUnless("MPIRUN" in os.environ, "needs mpirun")
    def test_slower_hosts(self):
        def ms(**environment):
            told, _ = self.measure(DIGITS, "--transport", "in-process", **environment)
            return sum(layer["ms"] for layer in told["units"][0]["layers"])
        self.assertGreater(ms(DICE_COMPUTE_SLOWER="1000"), 30 * ms())  # not 1000 times on a busy machine

    def test_by_mpi(self):
        told, done = self.measure(os.environ["MPIRUN"], "--bind-to", "none", "-n", 2, DIGITS)
        self.check_digits(told)
        self.assertIn("dice: measuring cpu of ", done.stderr)
        self.assertIn("dice: measuring messages within ", done.stderr)

    @unittest.skipUnless("MPIRUN" in os.environ, "needs mpirun")
    def test_two_hosts(self):
        """They also report the CPU time of messages."""
        elsewhere = ["unshare", "--map-root-user", "--uts", "sh", "-c", 'hostname elsewhere; exec "$@"', "sh"]
        if subprocess.run([*elsewhere, "true"], capture_output=True).returncode:
            self.skipTest("no other host name: unshare --uts is not allowed here")
        measures = [DIGITS, "--measure", self.file]
        done = self.run_program(os.environ["MPIRUN"], "--bind-to", "none", *of_ranks(measures, [*elsewhere, *measures]))
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(self.file.read_text())
        here, there = told["units"]
        self.assertEqual(there["host"], "elsewhere")
        link, = told["connections"]
        self.assertEqual((link["from"], link["to"]), (here["host"], "elsewhere"))
        for a, b in ((here["host"], "elsewhere"), ("elsewhere", here["host"])):
            self.assertIn(f"dice: measuring the CPU time of messages from {a} to {b}", done.stderr)
        self.assertRegex(done.stdout, r"CPU time of messages +us each sent +GB/s +us each received +GB/s")
        for unit in told["units"]:
            for way in ("sending", "receiving"):
                if way in unit:  # through shared memory, messages sometimes take too little time to be measured
                    self.assertGreaterEqual(unit[way]["us"], 0)
                    self.assertGreater(unit[way]["gbytes_per_s"], 0)

    def test_accelerators(self):
        """An accelerator measures only its rank's layers; the others are missing."""
        environment = {"TOY_OWNER": "0,0,0,0,0,1,1,1,1,1", "TOY_ACCELERATORS": "yes"}
        self.assertEqual(self.run_program(TOY, "--write-weights", "toy.safetensors", **environment).returncode, 0)
        told, _ = self.measure(TOY, "--transport", "in-process", "--weights", "toy.safetensors", **environment)
        units = {unit["unit"]: unit for unit in told["units"]}
        self.assertEqual(sorted(units), ["cpu", "gpu"])
        layers = {name: {layer["layer"] for layer in unit["layers"]} for name, unit in units.items()}
        for name, other in (("cpu", "gpu"), ("gpu", "cpu")):
            self.assertTrue(layers[name])
            self.assertEqual(set(units[name]["missing"]), layers[other])
            self.assertFalse(layers[name] & layers[other])
        self.assertIn("memory_gbytes_per_s", units["cpu"])
        self.assertNotIn("memory_gbytes_per_s", units["gpu"])
        self.assertEqual(len({unit["name"] for unit in told["units"]}), 2)
        self.assertNotEqual(units["gpu"]["processor"], units["cpu"]["processor"])

    def test_refusals(self):
        for arguments, code, text in [(["--measure", self.folder / "none" / "x.json"], 1, "cannot be written"),
                                      (["--measure", self.folder], 1, "cannot be written"),
                                      (["--measure", self.file, "--random", "1"], 2, "omit --random"),
                                      (["--measure", self.file, "--frames", "3"], 2, "omit --frames"),
                                      (["--measure", self.file, "--tune", "x.hpp"], 2, "omit --measure")]:
            with self.subTest(arguments):
                done = self.run_program(DIGITS, "--transport", "in-process", *arguments)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                self.assertIn(text, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])
        weights = self.folder / "toy.safetensors"
        self.assertEqual(self.run_program(TOY, "--write-weights", weights).returncode, 0)
        before = weights.read_bytes()
        done = self.run_program(TOY, "--measure", "toy.safetensors")
        self.assertEqual((done.returncode, weights.read_bytes()), (1, before))
        self.assertIn("is a weights file", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[8:])
