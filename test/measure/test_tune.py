#!/usr/bin/env python3
"""test_tune.py PROGRAM FOLDER INCLUDE COMPILER: --tune on two ranks; its header compiles, and the next build uses it.

PROGRAM runs examples/digits, whose header is in FOLDER; INCLUDE is dice's include folder.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, FOLDER, INCLUDE, COMPILER = sys.argv[1:5]


class Tune(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)
        self.table = self.folder / "digits_tuned.hpp"

    def run_program(self, *arguments, **environment):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=100,
                              env={**os.environ, "OMP_NUM_THREADS": "1", **environment})

    def tune(self, *arguments):
        done = self.run_program("--tune", self.table, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def variants(self):
        return [int(v) for v in re.search(r"variants\{(.*?)\}", self.table.read_text(), re.S)[1].split(",")]

    def test_measures_and_compiles(self):
        shown = self.tune("--json", self.folder / "tuned.json")
        layers = json.loads((self.folder / "tuned.json").read_text())["layers"]
        self.assertEqual({layer["rank"] for layer in layers}, {0, 1})
        by_id = {layer["id"]: layer["best"] for layer in layers}
        self.assertEqual(self.variants(), [by_id.get(i, -1) for i in range(len(self.variants()))])
        for layer in layers:
            self.assertIn(layer["layer"], shown)
            self.assertTrue(all(ms > 0 for ms in layer["ms"]))
            self.assertLessEqual(layer["ms"][layer["best"]], 1.03 * min(layer["ms"]))
        self.tune()  # over an existing file
        # The next build uses the table, whatever it says.
        wanted = ", ".join("1" if i in by_id else "-1" for i in range(len(self.variants())))
        self.table.write_text(re.sub(r"variants\{.*?\}", "variants{" + wanted + "}", self.table.read_text(), flags=re.S))
        checks = "".join(f"static_assert(dice::algorithm::choices<digits::network, dice::algorithm::backend::openmp>[{i}].variant == 1);\n"
                         for i in by_id)
        (self.folder / "user.cpp").write_text('#include <dice/algorithm/algorithm.hpp>\n#include "digits.hpp"\n' + checks)
        done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", f"-I{FOLDER}", "-include", self.table,
                               self.folder / "user.cpp"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_direct_convolutions_are_left_alone(self):
        shown = self.tune("--mapping", "mapping<dev<0, cpu, direct_convolutions>, layers<all>>")
        self.assertIn("Nothing to tune", shown)
        self.assertEqual(set(self.variants()), {-1})

    def test_refusals(self):
        for arguments, environment, code, texts in [
                (["--tune", self.folder / "none" / "x.hpp"], {}, 1, ["cannot be written"]),
                (["--tune", self.folder], {}, 1, ["cannot be written"]),
                (["--tune", self.table, "--random", "1"], {}, 2, ["omit --random"]),
                (["--tune", self.table, "--json", self.table], {}, 2, ["written twice"]),
                (["--tune", self.table], {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}, 2, ["without mpirun"])]:
            with self.subTest(arguments):
                done = self.run_program(*arguments, **environment)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(done.stdout, "")
                for text in texts:
                    self.assertIn(text, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_interrupted(self):
        self.table.write_text("old")
        for delay in (0, 0.005, 0.02):
            p = subprocess.Popen([PROGRAM, "--tune", self.table], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            p.send_signal(signal.SIGINT)
            p.wait(30)
            self.assertIn(self.table.read_text()[:3], ("old", "// "))
            self.assertEqual([f.name for f in self.folder.iterdir()], [self.table.name])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
