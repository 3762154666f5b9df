#!/usr/bin/env python3
"""test_stops.py PROGRAM [unittest arguments]: a signal lets the frames in flight leave, and keeps their results; a frame
that takes too long ends the run.

PROGRAM is toy_app; MPIRUN names mpirun, or is empty.
"""
import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import unittest

import numpy as np

import test_faults
import test_program
from test_faults import LongRun
from test_program import LIMIT, MPIRUN, OPEN_MPI, diamond, over

STOPPED = 3  # the exit code


class Runs(LongRun):
    WORDS = ["--input", "good.npy", "--frames", "1000000", "--output", "o.npy", "--json", "run.json"]

    def hanging(self, *words, by="threads", rank=0):
        process = self.start(*self.WORDS, *words, by=by, env={"TOY_HANG": f"{rank}=yes"})
        self.assertEqual(process.stderr.readline(), "a kernel hangs\n")
        return process


class Stops(Runs):
    def stop(self, process, number, by=""):
        """Sends the signal when frames flow; returns how many frames the program says it has done."""
        self.wait_for(lambda: all("toy.safetensors" in pathlib.Path(f"/proc/{p}/maps").read_text()
                                  for p in self.processes(process, by)))
        process.send_signal(number)
        self.out, self.err = process.communicate(timeout=LIMIT)
        said = re.search(r"dice: (.+) after (\d+) of 1000000 frames\n", self.err)
        self.assertIsNotNone(said, self.err)
        self.said = said[1]
        return int(said[2])

    def results(self, n):
        """The results and figures are there, and right."""
        names = {p.name for p in self.folder.iterdir()} - {"good.npy", "toy.safetensors"}
        self.assertEqual(names, {"o.npy", "run.json"})
        self.assertEqual(json.loads((self.folder / "run.json").read_text())["frames"], n)
        wanted = over(diamond, np.load(self.folder / "good.npy"))
        np.testing.assert_array_equal(np.load(self.folder / "o.npy"), np.resize(wanted, (2 * n, 32)))
        for name in names:
            (self.folder / name).unlink()

    def test_signals(self):
        for by in ("", "threads"):
            for number, text in [(signal.SIGINT, "interrupted (SIGINT)"), (signal.SIGTERM, "terminated (SIGTERM)"),
                                 (signal.SIGHUP, "the terminal is gone (SIGHUP)"), (signal.SIGUSR1, "asked to stop (SIGUSR1)")]:
                with self.subTest(by=by, signal=number):
                    process = self.start(*self.WORDS, by=by)
                    n = self.stop(process, number, by)
                    self.assertEqual((process.returncode, self.said), (STOPPED, text))
                    self.results(n)

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_mpirun(self):
        """mpirun passes SIGUSR1 on and waits; otherwise it sends SIGTERM, waits a second, and has its own exit code. That of Open MPI 5.0
        waits a quarter of a second, and passes on nothing of what the ranks print then."""
        for number, text, code in [(signal.SIGINT, "terminated (SIGTERM)", 1), (signal.SIGTERM, "terminated (SIGTERM)", 1),
                                   (signal.SIGUSR1, "asked to stop (SIGUSR1)", STOPPED)]:
            with self.subTest(number):
                process = self.start(*self.WORDS, by="mpi")
                ranks = test_faults.ranks_of(process.pid).values()
                if OPEN_MPI >= 5 and number != signal.SIGUSR1:
                    process.send_signal(number)
                    process.communicate(timeout=LIMIT)
                    self.assertEqual(process.returncode, code)
                    self.wait_for(lambda: not any(map(test_faults.alive, ranks)))
                    for path in self.folder.iterdir():
                        if path.name not in ("good.npy", "toy.safetensors"):
                            path.unlink()
                else:
                    n = self.stop(process, number, "mpi")
                    self.assertEqual((process.returncode, self.said), (code, text))
                    self.results(n)
                self.wait_for(lambda: not any(map(test_faults.alive, ranks)))

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_one_rank_of_two(self):
        """A signal to any rank stops all of them, also if it has no input."""
        for rank in (0, 1):
            process = self.start(*self.WORDS, by="mpi")
            pid = test_faults.ranks_of(process.pid)[rank]
            self.wait_for(lambda: "toy.safetensors" in pathlib.Path(f"/proc/{pid}/maps").read_text())
            os.kill(pid, signal.SIGTERM)
            _, err = process.communicate(timeout=LIMIT)
            said = re.search(r"terminated \(SIGTERM\) after (\d+) of", err)
            self.assertIsNotNone(said, err)
            self.assertEqual(process.returncode, STOPPED)
            self.results(int(said[1]))

    def test_in_the_warm_up(self):
        for by in ("", "mpi") if MPIRUN else ("",):
            process = self.start(*self.WORDS, "--warmup", "1000000", by=by)
            self.assertEqual(self.stop(process, signal.SIGUSR1, by), 0)
            self.assertEqual(process.returncode, STOPPED)
            self.results(0)

    def test_frames_that_do_not_leave(self):
        process = self.hanging("--stop-timeout", "1")
        err = self.end(process, lambda: process.send_signal(signal.SIGINT))
        self.assertEqual((process.returncode, err), (1, "dice: error: the run did not end in time after the signal (--stop-timeout)\n"))

    def test_a_stream_that_pauses(self):
        for by in ("", "threads"):
            process = self.start("--input", "-", "--output", "o.npy", "--json", "run.json", by=by, stdin=subprocess.PIPE)
            process.stdin.buffer.write(np.load(self.folder / "good.npy").tobytes())
            process.stdin.flush()
            partial = self.folder / "o.npy.partial"
            self.wait_for(lambda: partial.exists() and partial.stat().st_size == 128 + 2 * 256)
            process.send_signal(signal.SIGUSR1)
            self.wait_for(lambda: process.poll() is not None)
            err = process.stderr.read()
            self.assertEqual((process.returncode, err), (STOPPED, "dice: asked to stop (SIGUSR1) after 2 frames\n"))
            self.results(2)
            process.stdin.close()

    def test_a_stream_that_is_compared(self):
        """What has left is compared, although more was expected."""
        good = np.load(self.folder / "good.npy")
        np.save(self.folder / "wanted.npy", np.resize(over(diamond, good), (6, 32)))
        process = self.start("--input", "-", "--top", "1", "--expect", "wanted.npy", stdin=subprocess.PIPE)
        process.stdin.buffer.write(good.tobytes())
        process.stdin.flush()
        for frame in range(2):
            self.assertIn(f"frame {frame} [0]:", process.stdout.readline())
            process.stdout.readline()
        process.send_signal(signal.SIGUSR1)
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, err), (STOPPED, "dice: asked to stop (SIGUSR1) after 2 frames\n"))
        self.assertIn(": error 0 ", out)

    def test_ctrl_c_ends_who_writes_the_frames_too(self):
        """Who writes may be ended first, within a frame or before the first one: what came whole is finished all the same."""
        good = np.load(self.folder / "good.npy").tobytes()
        # mpirun passes SIGINT on as SIGTERM, a second later, and has its own exit code.
        of = {"mpi": (signal.SIGINT, 1, "terminated (SIGTERM)")}
        for by, frames, extra, closes_first in [("", 2, 100, True), ("", 2, 100, False), ("", 0, 0, True), ("", 0, 0, False),
                                                ("threads", 2, 100, True), ("threads", 0, 0, True), ("mpi", 2, 100, True)]:
            if OPEN_MPI == 4 or by != "mpi":
                number, code, text = of.get(by, (signal.SIGUSR1, STOPPED, "asked to stop (SIGUSR1)"))
                with self.subTest(by=by, frames=frames, closes_first=closes_first):
                    process = self.start("--input", "-", "--output", "o.npy", "--json", "run.json", by=by, stdin=subprocess.PIPE)
                    process.stdin.buffer.write((good * 2)[:256 * frames + extra])
                    process.stdin.flush()
                    partial = self.folder / "o.npy.partial"
                    self.wait_for(lambda: partial.exists() and partial.stat().st_size == 128 + frames * 256)
                    for step in (process.stdin.close, lambda: process.send_signal(number))[::1 if closes_first else -1]:
                        step()
                        time.sleep(0.05)
                    self.wait_for(lambda: process.poll() is not None)
                    said = [line for line in process.stderr.read().splitlines() if line.startswith("dice:")]  # mpirun says more
                    self.assertEqual((process.returncode, said), (code, [f"dice: {text} after {frames} frames"]))
                    self.results(frames)

    def test_ctrl_c_ends_who_reads_the_results_too(self):
        one = np.load(self.folder / "good.npy")[:2].tobytes()
        for stops in (True, False):
            process = self.start("--input", "-", "--output", "o.npy", "--top", "1", stdin=subprocess.PIPE)
            process.stdin.buffer.write(one)
            process.stdin.flush()
            self.assertIn("frame 0 [0]:", process.stdout.readline())
            process.stdout.close()
            process.stdin.buffer.write(one)
            process.stdin.flush()
            partial = self.folder / "o.npy.partial"
            self.wait_for(lambda: partial.stat().st_size == 128 + 2 * 256)  # then its line cannot be printed
            if stops:
                process.send_signal(signal.SIGINT)
            self.wait_for(lambda: process.poll() is not None)
            err = process.stderr.read()
            process.stdin.close()
            if stops:
                self.assertEqual((process.returncode, err), (STOPPED, "dice: interrupted (SIGINT) after 2 frames\n"))
                self.assertEqual(np.load(self.folder / "o.npy").shape, (4, 32))
            else:
                self.assertEqual(process.returncode, 1)
                self.assertIn("the standard output cannot be written: Broken pipe\n", err)

    def test_ctrl_c_ends_who_reads_lines_of_json_too(self):
        """They are written in a thread of their own; each frame takes half a second."""
        one = np.load(self.folder / "good.npy")[:2].tobytes()
        for stops in (True, False):
            process = self.start("--input", "-", "--results", "json", stdin=subprocess.PIPE, env={"TOY_NAP": "0=100"})
            process.stdin.buffer.write(one)
            process.stdin.flush()
            self.assertIn('"frame": 0', process.stdout.readline())
            process.stdout.close()
            process.stdin.buffer.write(one)
            process.stdin.flush()
            time.sleep(0.1)
            if stops:
                process.send_signal(signal.SIGINT)
            else:
                process.stdin.close()
            self.wait_for(lambda: process.poll() is not None)
            err = process.stderr.read()
            if stops:
                self.assertEqual(process.returncode, STOPPED, err)
                self.assertRegex(err, r"dice: interrupted \(SIGINT\) after [12] frames?\n")
                process.stdin.close()
            else:
                self.assertEqual(process.returncode, 1)
                self.assertIn("the standard output cannot be written: Broken pipe\n", err)

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_a_stream_that_has_ended(self):
        """A signal changes nothing once all frames have come, although some are still under way."""
        process = self.start("--input", "-", "--json", "run.json", by="mpi", stdin=subprocess.PIPE, env={"TOY_SLOW": "0", "TOY_NAP": "1=400"})
        process.stdin.buffer.write(np.load(self.folder / "good.npy").tobytes())
        process.stdin.close()
        time.sleep(1.5)
        os.kill(test_faults.ranks_of(process.pid)[0], signal.SIGUSR1)
        self.wait_for(lambda: process.poll() is not None)
        self.assertEqual((process.returncode, process.stderr.read()), (0, ""))
        self.assertEqual(json.loads((self.folder / "run.json").read_text())["frames"], 2)

    def blocked(self, *words):
        """A stream that prints to a standard error which nobody reads."""
        reader, writer = os.pipe()
        full = os.dup(writer)
        self.addCleanup(os.close, reader)
        self.addCleanup(os.close, full)
        np.save(self.folder / "many.npy", test_program.frames(5000))
        with open(self.folder / "many.npy", "rb") as many:
            many.seek(128)
            process = subprocess.Popen([test_program.PROGRAM, "--input", "-", "--output", "/dev/stdout", "--top", "3", *words],
                                       cwd=self.folder, stdin=many, stdout=subprocess.DEVNULL, stderr=writer)
        os.close(writer)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.wait_for(lambda: not select.select([], [full], [], 0)[1] or process.poll() is not None)
        # A pipe that is not ready still has room for a few lines.
        rest = os.open(f"/proc/self/fd/{full}", os.O_WRONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, rest)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(rest, b".")
        return process

    @unittest.skipIf("TSAN_OPTIONS" in os.environ, "ThreadSanitizer's _exit waits for the standard error")
    def test_a_standard_error_that_nobody_reads(self):
        self.assertEqual(self.blocked("--frame-timeout", "0.3").wait(LIMIT), 1)
        process = self.blocked("--stop-timeout", "1000")
        process.send_signal(signal.SIGTERM)
        self.wait_for(lambda: not test_faults.pending(process.pid, signal.SIGTERM))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(LIMIT), -signal.SIGINT)

    def test_the_first_packing(self):
        """A signal while the first start packs the weights leaves nothing behind."""
        shutil.copy(test_program.PROGRAM, self.folder / "app")
        process = subprocess.Popen([self.folder / "app", "--random", "1"], cwd=self.folder, env={**os.environ, "TOY_PACK": "hangs"},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.assertEqual(process.stderr.readline(), "packing hangs\n")
        self.assertEqual(len(list(self.folder.glob(".app.packed.*.tmp"))), 1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, err), (-signal.SIGINT, "dice: error: interrupted (SIGINT)\n"))
        self.assertEqual(list(self.folder.glob(".app*")), [])

    def test_a_second_signal(self):
        process = self.hanging("--stop-timeout", "1000")
        process.send_signal(signal.SIGINT)
        self.wait_for(lambda: not test_faults.pending(process.pid, signal.SIGINT))
        err = self.end(process, lambda: process.send_signal(signal.SIGTERM))
        self.assertEqual((process.returncode, err), (-signal.SIGTERM, "dice: error: terminated (SIGTERM)\n"))


class LateFrames(Runs):
    """--frame-timeout. What ranks say of each other: test/runtime/frame_watch_test.cpp."""

    def test_a_rank_that_measures_its_kernels(self):
        """No frame enters before an accelerator has measured them."""
        done = self.run_program("--random", 1, "--frames", 20, "--profile", "profile.json", "--json", "run.json", ranks=2,
                                owner="1,1,1,1,1,0,0,0,0,0", TOY_ACCELERATORS="yes", TOY_MEASURES=150)
        self.assert_done(done)
        self.assertLess(json.loads((self.folder / "run.json").read_text())["latency_ms"]["max"], 500)

    def test_a_rank_that_hangs(self):
        for by, rank, layer in [("", 0, "/node/1"), ("mpi", 1, "/node/5")] if MPIRUN else [("", 0, "/node/1")]:
            process = self.hanging("--frame-timeout", "0.5", by=by, rank=rank)
            err = self.end(process, lambda: None)
            self.assertRegex(err, rf"dice: error: rank {rank} \(host .*\), frame 0, layer '{layer}': hangs: it has not come back for 0.5 s"
                             if by else rf"dice: error: host .*, frame 0, layer '{layer}': hangs: it has not come back for 0.5 s")
            self.assertEqual(process.returncode, 1)

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_a_rank_that_vanishes(self):
        """Stopped, it does not answer, as a host without power would not."""
        for rank, text in [(0, r"rank 1 \(host .*\): no frame has come for 0.5 s"), (1, r"rank 0 \(host .*\): frame [01] has taken more than 0.5 s")]:
            process = self.start("--input", "-", "--top", "1", "--frame-timeout", "0.5", by="mpi", stdin=subprocess.PIPE)
            one = np.load(self.folder / "good.npy")[:2].tobytes()
            process.stdin.buffer.write(one)
            process.stdin.flush()
            self.assertIn("frame 0 [0]:", process.stdout.readline())
            os.kill(test_faults.ranks_of(process.pid)[rank], signal.SIGSTOP)
            process.stdin.buffer.write(one)
            err = self.end(process, process.stdin.flush)
            self.assertRegex(err, rf"dice: error: {text} \(--frame-timeout\), and rank {rank} \(host .*\) does not answer: a program that hangs, "
                             "a host that is down or a lost connection; all ranks: ")
            self.assertNotEqual(process.returncode, 0)


if __name__ == "__main__":
    test_program.PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
