#!/usr/bin/env python3
"""test_new_weights.py PROGRAM DIGITS ONNX2HPP [unittest arguments]: weights of another training, without a compiler.

PROGRAM is toy_app, DIGITS the example of that name; MPIRUN names mpirun, or is empty.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

import test_program
from test_program import LIMIT, MPIRUN, Case, of_ranks

DIGITS = ONNX2HPP = None
EXAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "digits"
TWO = "0,0,0,0,0,1,1,1,1,1"
OLD, NEW = "c" * 64, "d" * 64


class Trainings(Case):
    """The toy, whose weights say that they are of two trainings."""

    def setUp(self):
        super().setUp()
        self.write("new", NEW)
        self.write("old", OLD)

    def write(self, name, content):
        subprocess.run([test_program.PROGRAM, "--write-weights", self.folder / name], env={**os.environ, "TOY_CONTENT": content},
                       check=True)

    def mixed(self, first, second, *more):
        """Two ranks with options of their own."""
        rank = [test_program.PROGRAM, *more]
        began = time.monotonic()
        done = subprocess.run([MPIRUN, "--oversubscribe", "--bind-to", "none", *of_ranks([*rank, *first], [*rank, *second])],
                              env={**os.environ, "TOY_OWNER": TWO}, cwd=self.folder, text=True, capture_output=True, timeout=LIMIT)
        self.seconds = time.monotonic() - began
        return done

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_ranks_agree(self):
        for training in ("old", "new"):
            self.assert_done(self.run_program("--pack", "packed " + training, "--weights", training, owner=TWO))
        for first, second in ((["--weights", "old"], ["--weights", "new"]), (["--packed", "packed new"], ["--weights", "old"]),
                              (["--packed", "packed old"], ["--packed", "packed new"])):
            with self.subTest(first + second):
                digests = [("dddddddddddddddd…" if "new" in file else "cccccccccccccccc…") for file in (first[1], second[1])]
                message = self.assert_fails(self.mixed(first, second, "--random", "1"), 1, "the weights are of different trainings: ",
                                            "; copy the same weights to all hosts")
                for rank, (file, digest) in enumerate(zip((first[1], second[1]), digests)):
                    self.assertRegex(message, rf"rank {rank} \(host [^)]+\) has '{file}' \(digest {digest}\)")
        self.assert_done(self.mixed(["--packed", "packed new"], ["--weights", "new"], "--random", "1"))

    def test_a_pinned_program(self):
        for training, pinned, code in (("old", OLD, 0), ("new", OLD, 1), ("new", NEW, 0), ("new", "", 0)):
            for option in ("--weights", "--packed"):
                with self.subTest(training=training, pinned=pinned, option=option):
                    file = training if option == "--weights" else "packed"
                    self.assert_done(self.run_program("--pack", "packed", "--weights", training))
                    done = self.run_program("--random", 1, option, file, TOY_PINNED="0=" + pinned)
                    if code == 0:
                        self.assert_done(done)
                    else:
                        self.assert_fails(done, 1, f"'{file}' ha", "other weights than those to which ", "pinned: digest dddddddddddddddd…, "
                                          "expected cccccccccccccccc…")

    def test_packed_weights_beside_the_program_do_not_hide_new_ones(self):
        program, packed = self.folder / "app", self.folder / "app.packed"
        shutil.copy(test_program.PROGRAM, program)
        before, test_program.PROGRAM = test_program.PROGRAM, program
        self.addCleanup(setattr, test_program, "PROGRAM", before)
        self.assert_done(self.run_program("--pack", packed, "--weights", "old"))
        shutil.copy(self.folder / "old", self.folder / "toy.safetensors")
        self.assertEqual(self.run_program("--random", 1).stderr, "")
        shutil.copy(self.folder / "new", self.folder / "toy.safetensors")
        done = self.run_program("--random", 1)
        self.assert_done(done)
        self.assertRegex(done.stderr, r"^dice: warning: host \S+ packs its weights at start, because packed weights '.*app.packed' have "
                         "other weights than '.*toy.safetensors': digest c{16}…, not d{16}…; write it again with --pack .*app.packed\n$")
        self.assert_fails(self.run_program("--verify"), 1, "have other weights than ", ", or delete it")
        self.assert_fails(self.run_program("--verify", "--random", 1), 1, "have other weights than ", ", or delete it")
        self.assert_done(self.run_program("--random", 1, "--packed", packed))
        # A weights file that cannot be read is told.
        (self.folder / "toy.safetensors").write_bytes((self.folder / "new").read_bytes()[:-1])
        done = self.run_program("--random", 1)
        self.assert_done(done)
        self.assertRegex(done.stderr, r"^dice: warning: host \S+ reads packed weights, because weights file '.*toy.safetensors' is cut short")
        self.assertIn("warning: reads packed weights, because weights file", self.run_program("--verify").stderr)

    def test_packed_for_some_ranks(self):
        four = "0,1,2,3,0,1,2,3,0,1"
        sizes = {}
        for ranks in ("0", "1", "0,2", "1-3", "0-3"):
            done = self.run_program("--pack", "p" + ranks, "--ranks", ranks, "--weights", "old", owner=four)
            self.assert_done(done)
            sizes[ranks] = (self.folder / ("p" + ranks)).stat().st_size
            self.assertEqual([line.split()[0] for line in done.stdout.splitlines()[1:]],
                             {"0,2": ["0", "2"], "1-3": ["1", "2", "3"], "0-3": ["0", "1", "2", "3"]}.get(ranks, [ranks]))
            done = self.run_program("--verify", "--packed", "p" + ranks, owner=four)
            self.assert_done(done)
            text = {"0-3": "", "0,2": ", only of ranks 0,2", "1-3": ", only of ranks 1-3"}.get(ranks, ", only of rank " + ranks)
            self.assertTrue(done.stdout.endswith(f"'p{ranks}' (digest cccccccccccccccc…){text}\n"), done.stdout)
        self.assertLess(sizes["0"], sizes["0,2"])
        self.assertLess(sizes["0,2"], sizes["0-3"])
        self.assert_done(self.run_program("--pack", "all", "--weights", "old", owner=four))
        self.assertEqual((self.folder / "all").read_bytes(), (self.folder / "p0-3").read_bytes())
        for by in self.ways(4):
            self.assert_done(self.run_program("--random", 1, "--packed", "all", owner=four, ranks=4, by=by))
            self.assert_fails(self.run_program("--random", 1, "--packed", "p0,2", owner=four, ranks=4, by=by), 1, "rank 1 (host ",
                              "'p0,2' have no weights of rank 1, only of ranks 0,2; take the package of this host, or write the file "
                              "again with --pack p0,2")

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_each_rank_with_its_own_file(self):
        for rank in "01":
            self.assert_done(self.run_program("--pack", "p" + rank, "--ranks", rank, "--weights", "new", owner=TWO))
        own = ["--packed", "p0"], ["--packed", "p1"]
        self.assert_done(self.mixed(*own, "--random", "1"))
        self.assert_done(self.mixed(*own, "--random", "1", "--verify"))
        self.assert_done(self.mixed(*own, "--verify"))
        self.assert_fails(self.mixed(*own[::-1], "--random", "1"), 1, "rank 0 (host ", "'p1' have no weights of rank 0, only of rank 1")

    def test_lists_of_ranks(self):
        for ranks in ("2", "0,2", "1,0", "0,0", "x", "-1", "0-", "1-1", "0,", "", ",", "0 1"):
            done = self.run_program("--pack", "p", "--ranks", ranks, owner=TWO)
            self.assert_fails(done, 2, *(["--ranks: ", f"'{ranks}' is not a list of ranks from 0 to 1"] if ranks else ["the value is empty"]))
        self.assert_fails(self.run_program("--random", 1, "--ranks", 0), 2, "--ranks needs --pack FILE")
        self.assert_fails(self.run_program("--tune", "t", "--ranks", 0), 2, "--ranks needs --pack FILE")
        self.assertFalse((self.folder / "p").exists())


class Retrained(unittest.TestCase):
    """The example digits, and its model with other numbers: another bias of the last layer."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy2(DIGITS, self.folder / "app")
        self.convert(EXAMPLE / "digits.onnx", "old")
        bias = self.tensor("old", "fc2.bias")
        model = (EXAMPLE / "digits.onnx").read_bytes()
        self.assertEqual(model.count(bias.tobytes()), 1)
        trained = bias + np.arange(10, dtype=np.float32)
        (self.folder / "digits.onnx").write_bytes(model.replace(bias.tobytes(), trained.tobytes()))
        self.convert(self.folder / "digits.onnx", "new")

    def convert(self, model, folder, *options):
        subprocess.run([ONNX2HPP, model, "-q", "-o", self.folder / folder, "--name", "digits", *options], check=True)

    def tensor(self, folder, name):
        data = (self.folder / folder / "digits.safetensors").read_bytes()
        length = int.from_bytes(data[:8], "little")
        begin, end = json.loads(data[8:8 + length])[name]["data_offsets"]
        return np.frombuffer(data[8 + length:][begin:end], np.float32)

    def run_app(self, *words, by=""):
        start = [MPIRUN, "--oversubscribe", "--bind-to", "none", "-np", "2"] if by == "mpi" else []
        more = ["--transport", "in-process"] if by == "threads" else []
        return subprocess.run([*start, "./app", *map(str, words), *more], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT)

    def results(self, *options, by):
        done = self.run_app("--input", EXAMPLE / "digits_in.npy", "--output", "out.npy", *options, by=by)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(self.folder / "out.npy")

    def test_new_weights_run_in_the_old_program(self):
        """Also in its packed file, which any host can write."""
        for by in ("threads", "mpi") if MPIRUN else ("threads",):
            old = self.results("--weights", "old/digits.safetensors", by=by)
            np.testing.assert_allclose(old, np.load(EXAMPLE / "digits_out.npy"), atol=1e-4)
            new = self.results("--weights", "new/digits.safetensors", by=by)
            expected = old * np.exp(np.arange(10))  # behind the bias there is only a Softmax
            np.testing.assert_allclose(new, expected / expected.sum(1, keepdims=True), atol=1e-4)
            self.assertEqual(self.run_app("--pack", "new.packed", "--weights", "new/digits.safetensors").returncode, 0)
            np.testing.assert_array_equal(self.results("--packed", "new.packed", "--verify", by=by), new)

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_mixed_trainings(self):
        rank = ["./app", "--input", EXAMPLE / "digits_in.npy", "--weights"]
        ranks = of_ranks([*rank, "old/digits.safetensors"], [*rank, "new/digits.safetensors"])
        done = subprocess.run([MPIRUN, "--oversubscribe", "--bind-to", "none", *ranks], cwd=self.folder, capture_output=True, text=True,
                              timeout=LIMIT)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"the weights are of different trainings: rank 0 \(host .*\) has 'old/digits.safetensors' \(digest "
                         r"[0-9a-f]{16}…\), rank 1 \(host .*\) has 'new/digits.safetensors' \(digest [0-9a-f]{16}…\); copy the same")

    def test_another_structure(self):
        self.convert(EXAMPLE / "digits.onnx", "other", "--outputs", "/fc2/Gemm_output_0")  # the same weights
        done = self.run_app("--verify", "--weights", "other/digits.safetensors")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "belongs to another network than digits: structure [0-9a-f]{16}…, expected [0-9a-f]{16}…; export the "
                         "same architecture in the same way, .* or compile the program again")

    def test_headers_are_alike_but_for_the_notice(self):
        old, new = ((self.folder / f / "digits.hpp").read_text().split("#pragma once") for f in ("old", "new"))
        self.assertNotEqual(old[0], new[0])
        self.assertEqual(old[1], new[1])


if __name__ == "__main__":
    test_program.PROGRAM, DIGITS, ONNX2HPP = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
    unittest.main()
