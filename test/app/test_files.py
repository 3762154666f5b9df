#!/usr/bin/env python3
"""test_files.py PROGRAM DIGITS ONNX2HPP [unittest arguments]: files that a run reads and writes, under any name.

PROGRAM is toy_app, DIGITS the example of that name; MPIRUN names mpirun, or is empty.
"""
import io
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import test_program
from test_program import LIMIT, MPIRUN, Case, diamond, frames, over

DIGITS = ONNX2HPP = None
EXAMPLE = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "digits"
TWO = "0,0,0,0,0,1,1,1,1,1"


class Files(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "in").mkdir()
        for name in "ab":
            np.save(self.folder / "in" / f"{name}.npy", frames(2))
        self.before = (self.folder / "in" / "b.npy").read_bytes()

    def test_no_file_of_an_input_folder_is_replaced(self):
        """Also if another rank on the same host writes it."""
        for by in self.ways(2):
            for option in ("--output", "--json"):
                for name in ("in/b.npy", "./in/../in/b.npy"):
                    done = self.run_program("--input", "in", option, name, owner=TWO, ranks=2, by=by)
                    self.assert_fails(done, 2, f"'{name}' is read by this run")
                    self.assertEqual((self.folder / "in" / "b.npy").read_bytes(), self.before)
        self.assert_fails(self.run_program("--input", "in", "--metrics", "in/b.npy"), 2, "'in/b.npy' is read by this run")
        self.assertEqual((self.folder / "in" / "b.npy").read_bytes(), self.before)
        self.assert_done(self.run_program("--input", "in", "--output", "in/new.npy"))

    def test_two_names_of_a_file_that_does_not_exist(self):
        (self.folder / "link").symlink_to("r.npy")
        for other in ("./r.npy", "link", self.folder / "r.npy"):
            for by in self.ways(2):
                done = self.run_program("--random", 1, "--output", "r.npy", "--json", other, owner=TWO, ranks=2, by=by)
                self.assert_fails(done, 2, "would be written twice (as ")
        self.assertFalse((self.folder / "r.npy").exists())

    def test_links_are_followed(self):
        (self.folder / "link.npy").symlink_to("real.npy")
        for _ in range(2):
            self.assert_done(self.run_program("--input", "in/a.npy", "--output", "link.npy"))
            self.assertTrue((self.folder / "link.npy").is_symlink())
            np.testing.assert_array_equal(np.load(self.folder / "real.npy"), over(diamond, frames(2)))

    def test_the_standard_output(self):
        """It is no file that could be replaced: not by its name, not by a link, whatever it is."""
        (self.folder / "link").symlink_to("/dev/stdout")
        link = os.readlink("/dev/stdout")
        for name in ("/dev/stdout", "/dev/fd/1", "link"):
            for way in ("file", "pipe"):
                command = [str(test_program.PROGRAM), "--random", "1", "--json", name]
                if way == "file":
                    with open(self.folder / "out", "w") as out:
                        subprocess.run(command, cwd=self.folder, stdout=out, stderr=subprocess.DEVNULL, check=True, timeout=LIMIT)
                    text = (self.folder / "out").read_text()
                else:
                    text = subprocess.run(command, cwd=self.folder, capture_output=True, check=True, text=True, timeout=LIMIT).stdout
                self.assertEqual(json.loads(text)["frames"], 1)
        self.assertEqual(os.readlink("/dev/stdout"), link)
        self.assertTrue((self.folder / "link").is_symlink())
        model = EXAMPLE / "digits.onnx"
        with open(self.folder / "out", "w") as out:
            subprocess.run([ONNX2HPP, model, "-o", self.folder / "made", "--dot", "/dev/stdout"], stdout=out, check=True, timeout=LIMIT)
        self.assertIn("digraph", (self.folder / "out").read_text())
        self.assertEqual(os.readlink("/dev/stdout"), link)

    def stream(self, *words, **how):
        return subprocess.run([test_program.PROGRAM, "--input", "-", *words], cwd=self.folder, input=frames(50).tobytes(),
                              capture_output="preexec_fn" not in how, timeout=LIMIT, **how)

    def test_standard_streams_that_are_closed(self):
        """No file gets their numbers, or what is printed would be written into it."""
        for closed in (1, 2):
            done = self.stream("--top", "1", "--output", "s.npy", preexec_fn=lambda: os.close(closed),
                               **{"stdout" if closed == 2 else "stderr": subprocess.PIPE})
            if closed == 2:
                self.assertEqual(done.returncode, 0)
                np.testing.assert_array_equal(np.load(self.folder / "s.npy"), over(diamond, frames(50)))
            else:
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"the standard output cannot be written: Bad file descriptor", done.stderr)
                self.assertFalse((self.folder / "s.npy").exists())
                (self.folder / "s.npy.partial").unlink()

    def test_the_partial_file_is_no_other_file(self):
        for option in ("--json", "--profile"):
            done = self.stream("--output", "p.npy", option, "p.npy.partial")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"would be written twice", done.stderr)
            self.assertFalse((self.folder / "p.npy").exists())

    def test_the_standard_input_is_a_file_that_is_read(self):
        """Also if mpirun passes it on through a pipe, and another rank writes."""
        raw = self.folder / "raw.bin"
        raw.write_bytes(frames(50).tobytes())
        before = raw.read_bytes()
        for by in self.ways(2):
            for option in ("--output", "--json", "--trace", "--profile"):
                with open(raw, "rb") as given, self.subTest(by=by, option=option):
                    done = self.run_program("--input", "-", option, "./raw.bin", owner=TWO, ranks=2, by=by, stdin=given)
                    self.assert_fails(done, 2, "'./raw.bin' is read by this run (as the standard input) and would be overwritten")
                    self.assertEqual(raw.read_bytes(), before)
            with open(raw, "rb") as given:
                self.assert_done(self.run_program("--input", "-", "--output", "./-", owner=TWO, ranks=2, by=by, stdin=given))
            np.testing.assert_array_equal(np.load(self.folder / "-"), over(diamond, frames(50)))

    def test_a_full_disk(self):
        """The partial file has whole frames."""
        done = self.stream("--output", "p.npy", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (128 + 256 * 7 + 100, -1)),
                           stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"'p.npy' cannot be written: File too large", done.stderr)
        self.assertEqual((self.folder / "p.npy.partial").stat().st_size, 128 + 256 * 7)
        self.assertEqual(np.load(self.folder / "p.npy.partial").shape, (14, 32))

    def test_files_on_the_standard_output(self):
        """What is printed goes to the standard error."""
        for option, read in (("--json", json.loads), ("--output", lambda b: np.load(io.BytesIO(b)))):
            done = subprocess.run([test_program.PROGRAM, "--random", "1", "--top", "1", option, "/dev/stdout"], cwd=self.folder,
                                  capture_output=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 0)
            read(done.stdout)
            self.assertIn(b"1 frame in ", done.stderr)

    def test_two_runs_at_once(self):
        """Whichever is later wins; the file is whole, and nothing else is left."""
        running = [subprocess.Popen([test_program.PROGRAM, "--input", "in", "--frames", str(n), "--output", "o.npy"],
                                    cwd=self.folder, stdout=subprocess.DEVNULL) for n in (300, 400, 300, 400)]
        self.assertEqual([p.wait(LIMIT) for p in running], [0] * 4)
        self.assertIn(len(np.load(self.folder / "o.npy")), (600, 800))
        self.assertEqual({p.name for p in self.folder.iterdir()}, {"in", "o.npy", "toy.safetensors"})


    def test_results_that_no_memory_can_hold(self):
        for by in self.ways(2):
            done = self.run_program("--random", 1, "--frames", 1_000_000_000, "--output", "o.npy", owner=TWO, ranks=2, by=by)
            # 238.4 GiB of results, and 256 MiB of random frames that are made ahead
            self.assert_fails(done, 1, "the ranks on this host plan 239 GiB of memory, but it has", "a stream")
        self.assertFalse((self.folder / "o.npy").exists())


class Verify(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy2(DIGITS, self.folder / "app")
        subprocess.run([ONNX2HPP, EXAMPLE / "digits.onnx", "-o", self.folder], check=True, stderr=subprocess.DEVNULL)
        self.weights = self.folder / "digits.safetensors"

    def run_app(self, *words, by=""):
        start = {"mpi": [MPIRUN, "--oversubscribe", "--bind-to", "none", "-np", "2"]}.get(by, [])
        more = ["--transport", "in-process"] if by == "threads" else []
        return subprocess.run([*start, "./app", *words, *more], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT)

    def damage(self, file, at):
        data = bytearray(file.read_bytes())
        data[at] ^= 1
        file.write_bytes(data)

    def test_weights(self):
        done = self.run_app("--verify")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^verified 10 tensors, .* KiB, in .* s: '.*digits.safetensors' \(digest [0-9a-f]{16}…\)\n$")
        whole = self.weights.read_bytes()
        self.damage(self.weights, -5)
        ways = ["", "threads"] + (["mpi"] if MPIRUN else [])
        frames = ["--input", EXAMPLE / "digits_in.npy"]
        for by in ways:
            for more in ([], frames) if by else ([],):
                done = self.run_app("--verify", *more, by=by)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("is damaged: tensor 'fc2.bias' differs from what onnx2hpp wrote", done.stderr)
                self.assertEqual(done.stderr.count("dice: error:"), 1)
        self.assertEqual(self.run_app(*frames, "--transport", "in-process").returncode, 0)  # computed with, if nobody asks
        self.weights.write_bytes(whole)
        for by in ways[1:]:
            done = self.run_app("--verify", *frames, "--expect", EXAMPLE / "digits_out.npy", by=by)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count("verified"), 2)

    def test_packed_weights(self):
        self.assertEqual(self.run_app("--pack", "app.packed").returncode, 0)
        done = self.run_app("--verify")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("app.packed'", done.stdout)
        packed = self.folder / "app.packed"
        whole = packed.read_bytes()
        self.damage(packed, 65536 + 100)
        done = self.run_app("--verify")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "the weights of layer 'conv1' of rank 0 differ from what --pack wrote; write it again with --pack .*app.packed")
        if MPIRUN:  # one rank's weights are damaged: no rank falls back to the other file
            self.assertEqual(self.run_app("--verify", by="mpi").returncode, 1)
        packed.write_bytes(whole[:-1])
        for by in ("", "threads"):
            done = self.run_app("--verify", *(["--input", EXAMPLE / "digits_in.npy"] if by else []), by=by)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "app.packed'.*or delete it")
        packed.write_bytes(whole[:-100] + bytes(100))  # a file whose end never reached the disk
        done = self.run_app("--input", EXAMPLE / "digits_in.npy", "--packed", "app.packed", "--transport", "in-process")
        self.assertEqual(done.returncode, 1)
        self.assertIn("are damaged: the digests in the file are wrong", done.stderr)

    def test_other_options(self):
        done = self.run_app("--verify", "--output", "o.npy")
        self.assertEqual(done.returncode, 2)
        self.assertIn("omit --output, or give frames", done.stderr)


if __name__ == "__main__":
    test_program.PROGRAM, DIGITS, ONNX2HPP = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
    unittest.main()
