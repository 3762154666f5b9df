#!/usr/bin/env python3
"""test_input.py TOY DIGITS [unittest arguments]: --input as users call it: pictures and folders of them, and the standard
input.

TOY is toy_app, DIGITS the example of that name, or empty if programs read no pictures.  MPIRUN names mpirun, or is empty.
"""
import json
import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

import numpy as np

TOY = DIGITS = None
MPIRUN = os.environ.get("MPIRUN", "")
HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parent.parent / "examples" / "digits"
LIMIT = 30  # seconds; nothing may hang


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, program, arguments, ranks, by, more=()):
        if by == "mpi":
            return [MPIRUN, "--oversubscribe", "--bind-to", "none", "-np", str(ranks), *more, program, *map(str, arguments)]
        return [program, *map(str, arguments), *(["--transport", "in-process"] if ranks > 1 else [])]

    def start(self, program, *arguments, ranks=2, by="threads", more=(), **other):
        return subprocess.run(self.command(program, arguments, ranks, by, more), cwd=self.folder, capture_output=True, timeout=LIMIT, **other)

    def ways(self):
        return ["threads"] + (["mpi"] if MPIRUN else [])

    def assert_done(self, done):
        self.assertEqual(done.returncode, 0, done)

    def assert_fails(self, done, code, *texts):
        lines = [line for line in done.stderr.decode().replace("\0", "").splitlines() if line.startswith("dice: error:")]
        self.assertEqual(len(lines), 1, done.stderr.decode())
        for text in texts:
            self.assertIn(text, lines[0])
        self.assertEqual(done.returncode, code, done.stderr)


def write_png(path, samples):
    """A grey picture of 8 bits."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = samples.shape
    rows = b"".join(b"\0" + row.tobytes() for row in samples)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
                     chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Pictures(Case):
    """The digits as pictures, in their own size and twice as large."""

    def setUp(self):
        super().setUp()
        if not DIGITS:
            self.skipTest("programs read no pictures")
        digits = np.load(EXAMPLE / "digits_in.npy")
        (self.folder / "pictures").mkdir()
        for i, digit in enumerate(digits):
            samples = np.round(digit[0] * 255).astype(np.uint8)
            write_png(self.folder / "pictures" / f"{i:02}.png", samples.repeat(2, 0).repeat(2, 1) if i % 2 else samples)
        (self.folder / "pictures" / "notes.txt").write_text("text")
        self.labels = EXAMPLE / "labels.txt"
        self.names = "two six five eight five five three six five four seven five seven four zero nine".split()

    def test_names_come_with_the_answers(self):
        for by in self.ways():
            for more in ([], ["--gather"]):
                done = self.start(DIGITS, "--input", "pictures", "--top", 1, "--labels", self.labels, "--fit", "stretch",
                                  "--frames", 18, *more, by=by)
                self.assert_done(done)
                found = [line.split() for line in done.stdout.decode().splitlines() if line.startswith("frame ")]
                self.assertEqual([(f[1], f[2], f[4]) for f in found],
                                 [(str(i), f"(pictures/{i % 16:02}.png):", self.names[i % 16]) for i in range(18)])
                self.assertIn("dice: warning: rank 0 (host ", done.stderr.decode())
                self.assertIn(") skips files in the folder 'pictures' that are not .npy, JPEG or PNG: 'notes.txt'\n", done.stderr.decode())

    def test_all_kinds_in_order(self):
        np.save(self.folder / "first.npy", np.load(EXAMPLE / "digits_in.npy")[:3])
        done = self.start(DIGITS, "--input", "pictures/02.png", "--input", "first.npy", "--input", "pictures/00.png", "--output", "out.npy",
                          "--mean", "0", "--std", "1")
        self.assert_done(done)
        expected = np.load(EXAMPLE / "digits_out.npy")[[2, 0, 1, 2, 0]]
        np.testing.assert_allclose(np.load(self.folder / "out.npy"), expected, atol=0.01)  # pictures have 8 bits
        done = self.start(DIGITS, "--input", "first.npy", "--top", 1, "--input", "pictures/00.png")
        self.assertEqual([line.split(":")[0] for line in done.stdout.decode().splitlines() if line.startswith("frame ")],
                         ["frame 0", "frame 1", "frame 2", "frame 3 (pictures/00.png)"])

    def test_refusals(self):
        (self.folder / "empty").mkdir()
        whole = (self.folder / "pictures" / "03.png").read_bytes()
        (self.folder / "cut.png").write_bytes(whole[:60])
        (self.folder / "flip.png").write_bytes(whole[:70] + bytes([whole[70] ^ 1]) + whole[71:])
        (self.folder / "text.jpg").write_text("no picture")
        for by in self.ways():
            self.assert_fails(self.start(DIGITS, "--input", "empty", by=by), 1, "rank 0 (host ", "'empty' holds no .npy, JPEG or PNG file")
        self.assert_fails(self.start(DIGITS, "--input", "cut.png", by=by), 1, "'cut.png' is cut short")
        self.assert_fails(self.start(DIGITS, "--input", "pictures/00.png", "--input", "flip.png"), 1, "frame 1, layer 'picture': 'flip.png'",
                          "a checksum is wrong")
        self.assert_fails(self.start(DIGITS, "--input", "text.jpg"), 1, "'text.jpg' is neither a .npy file nor a JPEG or PNG picture")
        self.assert_fails(self.start(DIGITS, "--input", "pictures", "--fit", "none"), 1, "'pictures/01.png' has 16×16 pixels")
        self.assert_fails(self.start(DIGITS, "--input", "pictures", "--layout", "nhwc"), 1, "(1, 1, 8, 8): it has 8 channels")
        self.assert_fails(self.start(DIGITS, "--input", EXAMPLE / "digits_in.npy", "--mean", "0.5"), 2, "no input has any")
        self.assert_fails(self.start(DIGITS, "--random", 1, "--decode", "ssd"), 2, "ssd has two outputs, but the network only one: scores")
        for option, value, text in [("--mean", "1,2", "'1,2' is not a number from -3.4e38 to 3.4e38, or three"), ("--mean", "x", "'x' is not a number"), ("--std", "0", "from 1.18e-38"),
                                    ("--std", "1,-1,1", "'1,-1,1' is not a number from 1.18e-38"), ("--layout", "chw", "neither"), ("--fit", "big", "crop, stretch"),
                                    ("--mean", "nan", "not a number"), ("--std", "inf", "not a number")]:
            self.assert_fails(self.start(DIGITS, "--input", "pictures", option, value), 2, option, text)
        subprocess.run([TOY, "--write-weights", self.folder / "toy.safetensors"], check=True)
        self.assert_fails(self.start(TOY, "--input", "pictures/00.png", ranks=1), 1, "(2, 32): they need channels")


class StandardInput(Case):
    """The toy network, which takes and gives frames of 2×32 numbers, from a file and from the standard input."""
    OWNERS = ["0,0,0,0,0,1,1,1,1,1", "1,1,0,0,0,1,1,1,0,0"]  # the input in rank 0, and in rank 1

    def setUp(self):
        super().setUp()
        subprocess.run([TOY, "--write-weights", self.folder / "toy.safetensors"], check=True)
        self.frames = np.random.default_rng(1).standard_normal((2 * 50, 32)).astype(np.float32)
        np.save(self.folder / "in.npy", self.frames)
        self.assert_done(self.start(TOY, "--input", "in.npy", "--output", "wanted.npy", "--top", 3, ranks=1))
        self.wanted = np.load(self.folder / "wanted.npy")
        self.raw = self.frames.tobytes()

    def stream(self, *arguments, owner=None, given=None, **more):
        with_owner = {"env": {**os.environ, "TOY_OWNER": owner}} if owner else {"ranks": 1}
        return self.start(TOY, "--input", "-", *arguments, input=self.raw if given is None else given, **with_owner, **more)

    def test_results(self):
        for owner in [None, *self.OWNERS]:
            for by in self.ways() if owner else ["threads"]:
                with self.subTest(owner=owner, by=by):
                    feeds = ["--stdin", "1"] if by == "mpi" and owner[0] == "1" else []
                    done = self.stream("--output", "out.npy", "--json", "run.json", "--top", 1, "--expect", "wanted.npy", owner=owner, by=by,
                                       more=feeds)
                    self.assert_done(done)
                    np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.wanted)
                    run = json.loads((self.folder / "run.json").read_text())
                    self.assertEqual(run["frames"], 50)
                    self.assertGreater(run["latency_ms"]["max"], 0)
                    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("frame ")]
                    self.assertEqual([line.split()[1:3] for line in lines], [[f"{f}", f"[{p}]:"] for f in range(50) for p in range(2)])
                    self.assertIn("error 0 (", done.stdout.decode())
                    self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                                     ["in.npy", "out.npy", "run.json", "toy.safetensors", "wanted.npy"])
                    (self.folder / "out.npy").unlink()

    def test_frames_come_out_while_others_are_to_come(self):
        for by in self.ways():
            env = {**os.environ, "TOY_OWNER": self.OWNERS[0]}
            command = self.command(TOY, ["--input", "-", "--top", 1, "--output", "out.npy"], 2, by)
            with subprocess.Popen(command, cwd=self.folder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
                for f in range(5):
                    running.stdin.write(self.raw[256 * f:256 * (f + 1)])
                    running.stdin.flush()
                    for p in range(2):
                        self.assertIn(f"frame {f} [{p}]: ", running.stdout.readline().decode())
                self.assertEqual([p.name for p in self.folder.iterdir() if "out" in p.name], ["out.npy.partial"])
                np.testing.assert_array_equal(np.load(self.folder / "out.npy.partial"), self.wanted[:10])
                running.stdin.close()
                self.assertIn("5 frames in", running.stdout.readline().decode())
            self.assertEqual(running.returncode, 0)
            np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.wanted[:10])
            (self.folder / "out.npy").unlink()

    def test_one_frame_is_one_frame(self):
        with subprocess.Popen(self.command(TOY, ["--input", "-", "--top", 1], 1, "threads"), cwd=self.folder, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            running.stdin.write(self.raw[:256])
            running.stdin.flush()
            running.stdout.readline()
            running.send_signal(signal.SIGTERM)
            self.assertIn(" after 1 frame\n", running.communicate(timeout=LIMIT)[1].decode())

    def interrupted(self, end):
        """The exit code of a stream whose process is sent `end` after its first result."""
        command = self.command(TOY, ["--input", "-", "--top", 1, "--output", "out.npy"], 1, "threads")
        with subprocess.Popen(command, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
            running.stdin.write(self.raw)
            running.stdin.flush()
            running.stdout.readline()
            running.send_signal(end)
            running.stdout.read()
            running.wait(LIMIT)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir() if "out" not in p.name), ["in.npy", "toy.safetensors", "wanted.npy"])
        return running.returncode

    def test_an_interrupted_stream_keeps_its_results(self):
        self.assertEqual(self.interrupted(signal.SIGTERM), 3)
        kept = np.load(self.folder / "out.npy")
        np.testing.assert_array_equal(kept, self.wanted[:len(kept)])
        self.assertGreater(len(kept), 0)
        self.assertFalse((self.folder / "out.npy.partial").exists())

    def test_a_killed_stream_leaves_its_results(self):
        self.assertEqual(self.interrupted(signal.SIGKILL), -signal.SIGKILL)
        kept = np.load(self.folder / "out.npy.partial")
        np.testing.assert_array_equal(kept, self.wanted[:len(kept)])
        self.assertGreater(len(kept), 0)
        done = self.stream("--output", "out.npy")
        self.assert_fails(done, 1, "'out.npy.partial' exists already")
        np.testing.assert_array_equal(np.load(self.folder / "out.npy.partial"), kept)

    def test_so_many_frames(self):
        for by in self.ways():
            done = self.stream("--frames", 7, "--output", "out.npy", owner=self.OWNERS[0], by=by)
            self.assert_done(done)
            np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.wanted[:14])
        self.assert_done(self.stream("--frames", 70, "--output", "out.npy"))
        self.assertEqual(np.load(self.folder / "out.npy").shape, (100, 32))
        many = 400  # 400 times 50 frames
        done = self.stream("--output", "out.npy", owner=self.OWNERS[1], given=self.raw * many)
        self.assert_done(done)
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), np.tile(self.wanted, (many, 1)))

    def test_to_a_pipe_and_a_full_disk(self):
        command = self.command(TOY, ["--input", "-", "--output", "/dev/stderr"], 1, "threads")
        done = subprocess.run(command, cwd=self.folder, input=self.raw, capture_output=True, timeout=LIMIT)
        self.assert_done(done)
        (self.folder / "out.npy").write_bytes(done.stderr)
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.wanted)
        self.assert_fails(self.stream("--output", "/dev/full"), 1, "'/dev/full' cannot be written: No space left on device")
        small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        self.assert_fails(self.stream("--output", "/dev/null", preexec_fn=small), 1, "'/dev/null' cannot be written: for a device or a pipe, the "
                          "results wait in /tmp until the stream ends, and that is not possible: File too large; name a regular file")
        self.assert_fails(self.stream("--output", "nowhere/out.npy"), 1, "'nowhere/out.npy' cannot be written")

    def test_streams_that_end_wrongly(self):
        for owner in [None, *self.OWNERS]:
            for by in self.ways() if owner else ["threads"]:
                more = ["--stdin", owner[0]] if by == "mpi" else []
                began = time.monotonic()
                if by == "threads":
                    self.assert_fails(self.stream(owner=owner, by=by, more=more, given=b""), 1, "the standard input holds no frame")
                self.assert_fails(self.stream(owner=owner, by=by, more=more, given=self.raw[:-3]), 1,
                                  "the standard input ends within frame 49, after 253 of 256 bytes; a frame is float32 (2, 32)")
                self.assertLess(time.monotonic() - began, 10)
        np.save(self.folder / "short.npy", self.wanted[:98])
        self.assert_fails(self.stream("--expect", "short.npy"), 1, "--expect holds 49 frames, but the stream has more")
        np.save(self.folder / "one.npy", self.wanted[:2])
        self.assert_fails(self.stream("--expect", "one.npy"), 1, "--expect holds 1 frame, but the stream has more")
        self.assert_fails(self.stream("--expect", "wanted.npy", given=self.raw[:256]), 1, "holds 50 frames, but the run has 1")

    def test_the_first_frame(self):
        """What cannot be a frame is refused before anything is computed, unless it is allowed; later frames may hold anything."""
        grey = np.clip(np.random.default_rng(2).normal(128, 50, 50 * 256), 0, 255).astype(np.uint8)
        for given, text in [(grey, " NaN or infinite, first number "),
                            (grey // 2, "its numbers lie between "), (np.zeros(6400, np.int32) + 7, "as if bytes or integers were taken for float32")]:
            done = self.stream("--top", 1, given=given.tobytes())
            self.assert_fails(done, 1, ": the standard input, frame 0: ", text, "--any-numbers")
            self.assertNotIn(b"frame 0", done.stdout)
            self.assert_done(self.stream("--any-numbers", given=given.tobytes()))
        black = bytes(3 * 256)
        self.assert_fails(self.stream(given=black + (grey // 2).tobytes()), 1, "the standard input, frame 3: its numbers lie")
        for at, fails in (35, True), (64 + 35, False):
            x = self.frames.copy()
            x.reshape(-1)[at] = np.nan
            np.save(self.folder / "nan.npy", x)
            for done in self.start(TOY, "--input", "nan.npy", "--input", "in.npy", ranks=1), self.stream(given=x.tobytes()):
                if fails:
                    self.assert_fails(done, 1, "frame 0: 1 of its 64 numbers is NaN or infinite, first number 35, nan; frames are float32")
                else:
                    self.assert_done(done)
            if fails:
                self.assert_fails(self.start(TOY, "--input", "nan.npy", ranks=1), 1, "'nan.npy' (input 'in.0'), frame 0: ")
                self.assert_done(self.start(TOY, "--input", "nan.npy", "--any-numbers", ranks=1))
        x.fill(np.nan)
        self.assert_fails(self.stream("--any-numbers", "--check-numbers", given=x.tobytes()), 1, "the input itself holds NaN")

    def test_a_file_that_ends_within_a_frame(self):
        """It is refused at once, unless the frames that are wanted are whole. What was read before does not count."""
        (self.folder / "raw.bin").write_bytes(b"head" + self.raw[:-3])
        for words, code in ([], 1), (["--frames", 49], 0):
            with open(self.folder / "raw.bin") as given:
                os.lseek(given.fileno(), 4, os.SEEK_SET)
                done = subprocess.run(self.command(TOY, ["--input", "-", "--top", 1, *words], 1, "threads"), cwd=self.folder, stdin=given,
                                      capture_output=True, timeout=LIMIT)
            self.assertEqual(done.returncode, code, done.stderr)
            if code:
                self.assert_fails(done, 1, "the standard input is a file of 12797 bytes, which is not a whole number of frames: a frame is "
                                  "float32 (2, 32), 256 bytes")
                self.assertNotIn(b"frame 0 [", done.stdout)

    def test_a_npy_file_is_no_stream(self):
        """Its header would shift all frames."""
        given = (self.folder / "in.npy").read_bytes()
        for by in self.ways():
            self.assert_fails(self.stream("--output", "out.npy", given=given, owner=self.OWNERS[0], by=by), 1,
                              "the standard input is a .npy file, but a stream has only the numbers after its header of 128 bytes",
                              "--input FILE, or leave out the header: tail -c +129 FILE")
        self.assertFalse((self.folder / "out.npy").exists())
        header = 100_000  # of version 2
        for more in (given, b""):  # also if no frame follows
            long = b"\x93NUMPY\2\0" + header.to_bytes(4, "little") + b" " * (header if more else 5) + more
            self.assert_fails(self.stream(given=long), 1, "its header of 100012 bytes", "tail -c +100013 FILE")
        command = self.command(TOY, ["--input", "-"], 1, "threads")
        with subprocess.Popen(command, cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as slow:
            for part in given[:3], given[3:9], given[9:]:  # as pipes may deliver it
                slow.stdin.write(part)
                slow.stdin.flush()
                time.sleep(0.05)
            self.assertIn("after its header of 128 bytes", slow.communicate(timeout=LIMIT)[1].decode())
        near = bytearray(self.raw)  # numbers that only begin like one
        near[:5] = b"\x93NUMP"
        self.assert_done(self.stream(given=bytes(near)))

    def test_a_rank_that_fails(self):
        for by in self.ways():
            env = {**os.environ, "TOY_OWNER": "0,0,0,0,0,1,1,1,0,0", "TOY_FAIL_AFTER": "17"}
            command = self.command(TOY, ["--input", "-"], 2, by)
            with subprocess.Popen(command, cwd=self.folder, env=env, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as p:
                p.stdin.write(self.raw)
                p.stdin.flush()  # and stays open
                self.assertIn("dice: error: rank 1 (host ", text := p.stderr.read().decode())
                self.assertIn("frame 17, layer '/node/6': this kernel fails as it was told", text)
                self.assertEqual(p.wait(LIMIT), 1)

    def test_refusals(self):
        for arguments, text in [(["--warmup", "1"], "frames come as a stream, each only once, so none can be for warm-up"),
                                (["--gather"], "frames come as a stream, and results are written as they come"), (["--explain"], "needs a fixed number"),
                                (["--fit", "letterbox"], "float32 frames already have the input's form"), (["--layout", "nhwc"], "--frames-as"),
                                (["--restart-source", "1"], "the standard input cannot be started again")]:
            self.assert_fails(self.stream(*arguments), 2, text)
        self.assert_fails(self.stream("--input", "in.npy"), 1, "input 'in.0' is a stream and cannot have other frames, too")
        self.assert_fails(self.stream("--mean", "0.5"), 1, "(2, 32): they need channels")
        subprocess.run([TOY, "--write-weights", self.folder / "toy.safetensors"], env={**os.environ, "TOY_NET": "two"}, check=True)
        done = self.start(TOY, "--input", "in.0=-", "--input", "in.1=-", ranks=1, env={**os.environ, "TOY_NET": "two"})
        self.assert_fails(done, 2, "--input -: the standard input can feed only one input")

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_mpirun_feeds_another_rank(self):
        self.assert_fails(self.stream(owner=self.OWNERS[1], by="mpi"), 2, "input 'in.0' is in rank 1, but",
                          "to another rank (to rank 0 by default); start it with mpirun --stdin 1")
        self.assert_fails(self.stream(owner=self.OWNERS[0], by="mpi", more=["--stdin", "1"]), 2,
                          "is in rank 0, but mpirun passed its standard input to another rank; start it without --stdin")

    def test_a_terminal(self):
        import pty
        controller, terminal = pty.openpty()
        done = subprocess.run([TOY, "--input", "-"], cwd=self.folder, stdin=terminal, capture_output=True, timeout=LIMIT)
        os.close(controller)
        os.close(terminal)
        self.assert_fails(done, 2, "--input -: the standard input is a terminal")

    def test_numbers_of_pictures(self):
        """--mean and --std also apply to streams."""
        if not DIGITS:
            self.skipTest("the example is not built")
        digits = np.load(EXAMPLE / "digits_in.npy")
        done = self.start(DIGITS, "--input", "-", "--mean", "-1", "--std", "0.5", "--expect", EXAMPLE / "digits_out.npy",
                          input=(digits * 0.5 - 1).astype(np.float32).tobytes())
        self.assert_done(done)


if __name__ == "__main__":
    TOY = pathlib.Path(sys.argv.pop(1)).resolve()
    DIGITS = sys.argv.pop(1)
    unittest.main()
