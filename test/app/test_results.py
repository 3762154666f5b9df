#!/usr/bin/env python3
"""test_results.py TOY DIGITS [unittest arguments]: results that leave while the ranks compute, as users ask for them.

The arguments are those of test_live.py.
"""
import datetime
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import numpy as np

import test_input
import test_live
from test_input import LIMIT
from test_live import OWNERS, Live, Run

TOY = None


class Results(Live):
    """What leaves while the ranks compute; the toy's output is (2, 32): a batch of two."""

    def lines(self, text):
        return [json.loads(line) for line in text.decode().splitlines()]

    def check(self, lines, frames, more=()):
        self.assertEqual([(one["frame"], one["picture"]) for one in lines], [(f, p) for f in range(frames) for p in range(2)])
        for one in lines:
            row = self.wanted[2 * one["frame"] + one["picture"]]
            best = np.argsort(-row, kind="stable")[:len(one["top"])]
            self.assertEqual([entry["index"] for entry in one["top"]], list(best))
            np.testing.assert_allclose([entry["value"] for entry in one["top"]], row[best], rtol=1e-5)
            self.assertTrue(-1 < one["latency_ms"] < 30000, one)
            self.assertRegex(one["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertEqual(one["source_frame"], one["frame"])

    def test_lines_of_json(self):
        for given in ["--input", "in.npy"], ["--source", "cat raw.bin"]:
            for owner in [None, *OWNERS]:
                for by in self.ways() if owner else ["threads"]:
                    done = self.toy(*given, "--results", "json", "--top", 3, owner=owner, by=by)
                    self.assert_done(done)
                    lines = self.lines(done.stdout)  # and nothing else
                    self.check(lines, 50)
                    self.assertEqual(len(lines[0]["top"]), 3)
                    self.assertIn("frames/s; latency median", done.stderr.decode())
        (self.folder / "names").write_text("".join(f"n{i}\n" for i in range(32)))
        done = self.toy("--input", "in.npy", "--output", "out.jsonl", "--results", "json", "--labels", "names")
        self.assert_done(done)
        lines = self.lines((self.folder / "out.jsonl").read_bytes())
        self.check(lines, 50)
        self.assertTrue(all(len(one["top"]) == 5 and entry["label"] == f"n{entry['index']}" for one in lines for entry in one["top"]))
        self.assertNotIn(b"out.jsonl.partial", b"".join(os.fsencode(p.name) for p in self.folder.iterdir()))

    def test_time_and_latency(self):
        """A frame's time is when it came, its latency until its result leaves: here each frame takes 20 ms in each kernel of rank 1."""
        began = time.time()
        done = self.toy("--source", "cat raw.bin", "--frames", 4, "--results", "json", owner=OWNERS[1], by=self.ways()[-1], TOY_NAP="1=20", TOY_IN_FLIGHT="1")
        self.assert_done(done)
        lines = self.lines(done.stdout)
        times = [datetime.datetime.fromisoformat(one["time"].replace("Z", "+00:00")).timestamp() for one in lines]
        self.assertTrue(all(began - 1 < t < time.time() + 1 for t in times))
        self.assertEqual(times, sorted(times))
        for one in lines:
            self.assertTrue(40 < one["latency_ms"] < 2000, one)  # three of them; of the first frames it is estimated

    def test_numbers(self):
        for form, read in [("raw", lambda data: np.frombuffer(data, np.float32).reshape(-1, 32)), ("npy", self.read_arrays)]:
            done = self.toy("--source", "cat raw.bin", "--output", "-", "--results", form)
            self.assert_done(done)
            np.testing.assert_array_equal(read(done.stdout), self.wanted)
            done = self.toy("--input", "in.npy", "--sink", "cat >out", "--results", f"out.9={form}", owner=OWNERS[0])
            self.assert_done(done)
            np.testing.assert_array_equal(read((self.folder / "out").read_bytes()), self.wanted)
        done = self.toy("--input", "in.npy", "--output", "out", "--results", "raw")
        self.assert_done(done)
        np.testing.assert_array_equal(np.fromfile(self.folder / "out", np.float32).reshape(-1, 32), self.wanted)
        done = self.toy("--input", "in.npy", "--output", "out.npy", "--results", "npy")  # all frames in one array
        self.assert_done(done)
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.wanted)

    def read_arrays(self, data):
        stream, all_of = io.BytesIO(data), []
        while stream.tell() < len(data):
            all_of.append(np.load(stream))
        return np.concatenate(all_of)

    def test_lines_of_text(self):
        listed = self.toy("--input", "in.npy", "--top", 2).stdout.decode().splitlines()
        done = self.toy("--input", "in.npy", "--top", 2, "--results", "top")
        self.assert_done(done)
        self.assertEqual(done.stdout.decode().splitlines(), [line for line in listed if line.startswith("frame ")])

    def test_a_sink_that_fails(self):
        self.assert_fails(self.toy("--input", "in.npy", "--sink", "head -n 3 >out; exit 5", "--frames", 5000), 1,
                          "the sink 'head -n 3 >out; exit 5' has ended (exit status 5) and takes no more results")
        self.assert_fails(self.toy("--input", "in.npy", "--sink", "cat >out; exit 4"), 1, "the sink 'cat >out; exit 4' has ended with an error (exit status 4)")
        self.check(self.lines((self.folder / "out").read_bytes()), 50)
        self.assert_fails(self.toy("--input", "in.npy", "--sink", "exec <&-; sleep 1000", "--frames", 5000), 1,
                          "the sink 'exec <&-; sleep 1000' has closed its input and takes no more results")

    def test_a_sink_that_reads_nothing(self):
        for owner in None, OWNERS[1]:
            done = self.toy("--source", "while :; do cat raw.bin; done", "--sink", "sleep 1000", "--frame-timeout", 0.5, owner=owner)
            self.assert_fails(done, 1, " has taken more than 0.5 s (--frame-timeout): ", " waits until the result 'out.9' is taken")
        command = self.command(TOY, ["--source", "while :; do cat raw.bin; done", "--sink", "sleep 1000", "--results", "raw", "--metrics", "m.prom"], 1, "threads")
        with Run(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
            limit, metrics = time.monotonic() + LIMIT, self.folder / "m.prom"
            while time.monotonic() < limit and not (metrics.exists() and 'answered"} 2' in metrics.read_text()):  # 240 to 260 fill the pipe
                time.sleep(0.05)
            time.sleep(1)
            run.send_signal(signal.SIGUSR1)
            said = run.communicate(timeout=LIMIT)[1].decode()
        self.assertEqual(run.returncode, 1, said)
        self.assertIn("the sink 'sleep 1000' has not read its last results within 10 s, and was ended", said)

    def test_a_slow_sink(self):
        """It slows the run down, and gets all results."""
        self.script("slow", "#!/bin/sh\nwhile read -r line; do echo \"$line\" >>out; sleep 0.02; done\n")
        began = time.monotonic()
        self.assert_done(self.toy("--input", "in.npy", "--sink", "./slow", owner=OWNERS[1]))
        self.assertGreater(time.monotonic() - began, 1.9)
        self.check(self.lines((self.folder / "out").read_bytes()), 50)

    def test_a_signal(self):
        """Results so far reach the sink, which ends by itself."""
        for by in self.ways():
            command = self.command(TOY, ["--source", "while :; do cat raw.bin; done", "--sink", "cat >out; echo ended >>done"], 2, by)
            (self.folder / "out").unlink(missing_ok=True)
            with Run(command, cwd=self.folder, env={**os.environ, "TOY_OWNER": OWNERS[1]}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
                limit = time.monotonic() + LIMIT
                while time.monotonic() < limit and (not (self.folder / "out").exists() or (self.folder / "out").stat().st_size < 10000):
                    time.sleep(0.01)
                run.send_signal(signal.SIGUSR1)
                said = run.stderr.read().decode()
                self.assertEqual(run.wait(LIMIT), 3, said)
            self.assertEqual((self.folder / "done").read_text(), "ended\n")
            (self.folder / "done").unlink()
            lines = self.lines((self.folder / "out").read_bytes())
            self.assertEqual([one["frame"] for one in lines], [f for f in range(len(lines) // 2) for p in range(2)])
            self.assertIn(f"asked to stop (SIGUSR1) after {len(lines) // 2} frames", said)

    def test_refusals(self):
        env = {"TOY_NET": "two"}
        for arguments, code, text, more in [
                (["--results", "xml"], 2, "'xml' is not top, json, raw or npy", {}),
                (["--results", "json", "--results", "raw"], 2, "given twice; give it once", {}),
                (["--sink", "cat", "--sink", "cat"], 2, "output out.9 has two sinks; give one", {}),
                (["--sink", "cat", "--gather"], 2, "--gather: these results are written as they come", {}),
                (["--json", "-"], 2, "only results can go to '-'", {}),
                (["--output", "out.5=-", "--output", "out.7=-", "--results", "raw"], 2, "several outputs cannot share the standard output", env),
        ]:
            given = ["--random", 1] if more is env else ["--input", "in.npy"]
            self.assert_fails(self.toy(*given, *arguments, **more), code, text)
        done = self.toy("--input", "in.npy", "--output", "-", "--results", "raw", DICE_TIMESTAMP_OUTPUT="1")
        self.assertIn("the standard output is the job's log, and takes no numbers in raw", done.stderr.decode())
        subprocess.run([TOY, "--write-weights", self.folder / "toy.safetensors"], env={**os.environ, **env}, check=True)
        done = self.toy("--random", 1, "--output", "out.5=-", "--sink", "out.7=cat >seven", "--results", "json", **env)
        self.assert_done(done)
        self.assertEqual(self.lines(done.stdout)[0]["output"], "out.5")
        self.assertEqual(self.lines((self.folder / "seven").read_bytes())[0]["output"], "out.7")
        for forms in ["out.5=top", "json"], ["json", "out.5=top"]:  # an output's own form counts
            done = self.toy("--random", 1, "--output", "out.5=-", "--sink", "out.7=cat >seven", "--results", forms[0], "--results", forms[1], **env)
            self.assert_done(done)
            self.assertTrue(done.stdout.startswith(b"frame 0 [0] out.5: "), done.stdout)
            self.assertEqual(self.lines((self.folder / "seven").read_bytes())[0]["output"], "out.7")

    def test_a_terminal(self):
        import pty
        controller, terminal = pty.openpty()
        done = subprocess.run([TOY, "--input", "in.npy", "--output", "-", "--results", "raw"], cwd=self.folder, stdout=terminal, stderr=subprocess.PIPE, timeout=LIMIT)
        os.close(controller)
        os.close(terminal)
        self.assertIn("the standard output is a terminal, and takes no numbers in raw", done.stderr.decode())


if __name__ == "__main__":
    TOY = test_live.TOY = test_input.TOY = pathlib.Path(sys.argv.pop(1)).resolve()
    test_live.DIGITS = sys.argv.pop(1)
    unittest.main()
