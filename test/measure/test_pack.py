#!/usr/bin/env python3
"""test_pack.py PROGRAM [unittest arguments]: weights that --pack wrote, named on the command line or beside the program,
valid and invalid.

PROGRAM is toy_app; MPIRUN names mpirun, DIGITS the example digits; either may be empty.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import test_program  # noqa: E402
from test_program import LIMIT, MPIRUN, PLACEMENTS, Case, frames

TWO = "0,0,0,0,0,1,1,1,1,1"


class Packed(Case):
    def setUp(self):
        super().setUp()
        self.plain = self.folder / "toy.safetensors"
        np.save(self.folder / "in.npy", frames(3))
        self.assert_done(self.run_program("--input", "in.npy", "--output", "wanted.npy"))

    def pack(self, file, owner="0", **environment):
        done = self.run_program("--pack", file, owner=owner, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def check(self, *arguments, **how):
        """The results equal those of plain weights, to the bit. Returns stderr."""
        done = self.run_program("--input", "in.npy", "--expect", "wanted.npy", "--tolerance", 0, *arguments, **how)
        self.assert_done(done)
        return done.stderr

    def test_results(self):
        for owner, ranks in PLACEMENTS:
            table = self.pack("p", owner)
            self.assertEqual(len(table.splitlines()), 1 + ranks)
            weights = self.plain.read_bytes()
            for by in self.ways(ranks):
                for content in (None, b"damaged"):  # the plain file is not read
                    with self.subTest(owner=owner, by=by):
                        self.plain.unlink()
                        if content:
                            self.plain.write_bytes(content)
                        self.assertEqual(self.check("--packed", "p", owner=owner, ranks=ranks, by=by), "")
                        self.plain.write_bytes(weights)

    def test_a_file_has_all_ranks(self):
        """At multiples of 64 KiB, one after the other."""
        table = self.pack("p", TWO)
        sizes = [int(line.split()[1]) for line in table.splitlines()[1:]]
        digests = (self.folder / "p").stat().st_size - (2 * 65536 + sizes[1])
        self.assertGreater(digests, 0)
        self.assertEqual(digests % 32, 0)
        self.pack("again", TWO)
        self.assertEqual((self.folder / "p").read_bytes(), (self.folder / "again").read_bytes())

    def test_wrong_files(self):
        self.pack("p", TWO)
        data = (self.folder / "p").read_bytes()
        header = data[:data.index(b"\0")]
        other = "were not written by --pack; name a file that --pack wrote"  # not: write this one again
        again = "write it again with --pack wrong"
        cases = {b"": [other], b"x" * 5000: [other], data[:4095]: ["cut short: 4095 bytes", again],
                 data[:4096]: ["cut short: 4096 bytes, expected ", again], data[:-1]: ["cut short", again], data + b"0": ["too long", again],
                 self.plain.read_bytes(): ["are a weights file; give it with --weights wrong"],
                 b"\x1b" * 4096 + data[4096:]: [other], header[:60] + b"\x1b" * 9000: ["belong to another build", again]}
        for i in range(0, len(header)):
            cases[header[:i] + bytes([header[i] ^ 1]) + data[i + 1:]] = \
                [other] if i < len("dice packed weights\n") else \
                ["belong to another build", again] if i < header.index(b"\ncontent ") + 1 else ["packed weights 'wrong' are ", again]
        for content, texts in cases.items():
            (self.folder / "wrong").write_bytes(content)
            done = self.run_program("--random", 1, "--packed", "wrong", owner=TWO, ranks=2)
            message = self.assert_fails(done, 1, "packed weights 'wrong'", *texts)
            self.assertEqual(again in message, again in texts)
            self.assertTrue(message.isprintable(), message)
        for environment, text in [({"TOY_VERSION": "0=9.9"}, "has dice 9.9, the file has 'dice 1.2.3'"),
                                  ({"TOY_STRUCTURE": "0=" + "b" * 64}, "has structure b"),
                                  ({"owner": "0,0,0,0,0,0,1,1,1,1"}, "has plan "), ({"TOY_IN_FLIGHT": "3"}, "has plan ")]:
            with self.subTest(text):
                done = self.run_program("--random", 1, "--packed", "p", **{"owner": TWO, "ranks": 2, **environment})
                self.assert_fails(done, 1, "belong to another build: this program " + text)

    def test_of_one_rank(self):
        """Each rank reads its own file."""
        if not MPIRUN:
            self.skipTest("no mpirun")
        done = self.run_program("--random", 1, "--packed", "absent", owner=TWO, ranks=2, by="mpi")
        self.assert_fails(done, 1, "rank 0 (host ", "'absent' cannot be opened")

    def test_beside_the_program(self):
        program, packed = self.folder / "app", self.folder / "app.packed"
        shutil.copy(test_program.PROGRAM, program)
        before, test_program.PROGRAM = test_program.PROGRAM, program
        self.addCleanup(setattr, test_program, "PROGRAM", before)
        self.pack(packed, TWO)
        weights = self.plain.read_bytes()
        self.plain.unlink()
        for by in self.ways(2):
            self.assertEqual(self.check(owner=TWO, ranks=2, by=by), "")
        self.assert_fails(self.run_program("--random", 1, "--weights", "absent", owner=TWO, ranks=2), 1, "'absent'")
        self.plain.write_bytes(weights)
        fails = self.run_program("--random", 1, "--json", "app.packed", owner=TWO, ranks=2)
        self.assert_fails(fails, 2, "'app.packed' is read by this run")

        def is_left(**how):
            said = self.check(**how)
            self.assertEqual(said.count("\n"), how.get("ranks", 1), said)
            self.assertIn(" packs its weights at start, because packed weights '" + str(packed), said)
            self.assertIn("write it again with --pack " + str(packed), said)
        for by in self.ways(2):
            with self.subTest(by):
                self.pack(packed)  # packed for a program of one rank
                is_left(owner=TWO, ranks=2, by=by)
                self.assertEqual(self.check("--weights", "toy.safetensors", owner=TWO, ranks=2, by=by), "")
        packed.write_bytes(b"damaged")
        is_left()
        self.pack(packed)  # the remedy
        self.assertEqual(self.check(), "")
        packed.write_bytes(b"damaged")
        self.plain.unlink()  # neither file is usable: both are reported
        self.assert_fails(self.run_program("--random", 1), 1, str(packed) + "' were not written by --pack", "weights file not found")
        self.plain.write_bytes(weights)
        packed.unlink()
        packed.mkdir()
        self.assertIn("is not a regular file", self.check())
        packed.rmdir()
        os.mkfifo(packed)  # without a writer
        self.assertIn("is not a regular file", self.check())
        packed.unlink()
        self.assertEqual(self.check(), "")

    def test_refusals(self):
        mpirun = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
        before = sorted(self.folder.iterdir())
        for arguments, environment, code, text in [
                (["--pack", "p", "--random", 1], {}, 2, "omit --random"), (["--pack", "p", "--packed", "q"], {}, 2, "omit --packed"),
                (["--random", 1, "--packed", "p", "--weights", "q"], {}, 2, "omit --weights"),
                (["--pack", "w", "--weights", "w"], {}, 2, "'w' is read"), (["--pack", "p"], mpirun, 2, "without mpirun"),
                (["--random", 1, "--packed", "in.npy", "--json", "in.npy"], {}, 2, "'in.npy' is read"),
                (["--pack", "toy.safetensors"], {}, 1, "'toy.safetensors' is read by this run"), (["--pack", "no/p"], {}, 1, "cannot be written"),
                (["--pack", "p", "--weights", "absent"], {}, 1, "'absent' cannot be opened"),
                (["--pack", "/dev/full"], {}, 1, "No space left on device")]:
            with self.subTest(arguments):
                self.assert_fails(self.run_program(*arguments, **environment), code, text)
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_other_files_are_not_replaced(self):
        """Only what --pack wrote, and empty files."""
        (self.folder / "link").symlink_to("copy.safetensors")
        shutil.copy(self.plain, self.folder / "copy.safetensors")
        for file, text in [("in.npy", "was not written by --pack, and would be overwritten; name another file, or delete this one first"),
                           ("copy.safetensors", "is a weights file, and --pack would overwrite it; name another file"),
                           ("link", "is a weights file")]:
            before = (self.folder / file).read_bytes()
            self.assert_fails(self.run_program("--pack", file), 1, f"'{file}' {text}")
            self.assertEqual((self.folder / file).read_bytes(), before)
        (self.folder / "empty").touch()
        for _ in range(2):
            self.pack("empty")
        self.pack("/dev/null")

    def test_a_full_disk(self):
        (self.folder / "old").write_text("dice packed weights\n")
        for limit in (1000, 65600):
            done = subprocess.run([test_program.PROGRAM, "--pack", "old"], cwd=self.folder, capture_output=True, text=True,
                                  timeout=LIMIT, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertEqual(done.returncode, 1)
            self.assertIn("'old' cannot be written: File too large", done.stderr)
            self.assertEqual((self.folder / "old").read_text(), "dice packed weights\n")
            self.assertEqual(list(self.folder.glob("old.*")), [])

    @unittest.skipUnless(os.environ.get("DIGITS"), "the example digits is not built")
    def test_real_kernels(self):
        digits = [os.environ["DIGITS"], "--random", "7", "--frames", "3"]

        def run(*command):
            subprocess.run([*map(str, command)], cwd=self.folder, check=True, timeout=LIMIT, capture_output=True,
                           env={**os.environ, "OMP_NUM_THREADS": "1"})
        run(*digits, "--transport", "in-process", "--output", "digits.npy")
        run(digits[0], "--pack", "digits.packed")
        packed = [*digits, "--packed", "digits.packed", "--expect", "digits.npy", "--tolerance", 0]
        run(*packed, "--transport", "in-process")
        if MPIRUN:
            run(MPIRUN, "--oversubscribe", "--bind-to", "none", "-np", 2, *packed)


if __name__ == "__main__":
    test_program.PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
