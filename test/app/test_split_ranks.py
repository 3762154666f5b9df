#!/usr/bin/env python3
"""test_split_ranks.py DIGITS FOLDER: ranks that compute layers together, or in turn, and of which one dies, stops or has another
mapping: it is named, and the others end soon. FOLDER has frames of DIGITS; MPIRUN names mpirun."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

import test_faults
import test_program
from test_program import LIMIT, MPIRUN, of_ranks

ROWS = ("mapping<dev<0>, layers<picture>, ranks<0>, dev<1>, dev<2>, rows<range<conv1, pool2>, shares<1, 2, 1>>, ranks<2, 1>, "
        "output_channels<range<conv3, pool3>>, ranks<0>, layers<from<flatten>>>")
REPLICAS = "mapping<dev<0>, layers<picture, from<flatten>>, dev<1>, dev<2>, replicas<range<conv1, pool3>{}>, in_flight<4>>"
MAPPINGS = [ROWS, REPLICAS.format(""), REPLICAS.format(", first_free")]


class SplitRanks(unittest.TestCase):
    def start(self, mapping, *words):
        """A job that has computed frames from a stream and waits for more; its ranks by number."""
        command = [MPIRUN, "--oversubscribe", "--bind-to", "none", "-n", "3", test_program.PROGRAM, "--mapping", mapping,
                   "--input", "-", "--top", "1", *words]
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        self.send(process)
        line = ""
        while "frame 15:" not in line:
            line = process.stdout.readline().decode()
            self.assertTrue(line, process.stderr.read() if process.poll() is not None else "")
        ranks = test_faults.ranks_of(process.pid)
        self.assertEqual(len(ranks), 3)
        return process, ranks

    def send(self, process):
        process.stdin.write(np.load(FOLDER / "digits_in.npy").tobytes())
        process.stdin.flush()

    def wait_for(self, condition):
        began = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic() - began, LIMIT)
            time.sleep(0.01)

    def end(self, process, ranks, victim, number):
        """What the job says after a signal to one of its ranks."""
        began = time.monotonic()
        os.kill(ranks[victim], number)
        with contextlib.suppress(BrokenPipeError):
            self.send(process)
        self.wait_for(lambda: process.poll() is not None)
        self.assertLess(time.monotonic() - began, 10)
        self.assertNotEqual(process.returncode, 0)
        self.wait_for(lambda: not any(map(test_faults.alive, ranks.values())))
        return process.stderr.read().decode()

    def test_a_rank_dies(self):
        for mapping, victim in zip(MAPPINGS, (1, 2, 1)):
            with self.subTest(mapping):
                process, ranks = self.start(mapping)
                self.assertRegex(self.end(process, ranks, victim, signal.SIGKILL), rf"rank {victim} with PID .* exited on\s+signal 9")

    def test_a_rank_vanishes(self):
        """Stopped, it does not answer, as a host without power would not."""
        for mapping, victim in zip(MAPPINGS, (2, 1, 2)):
            with self.subTest(mapping):
                process, ranks = self.start(mapping, "--frame-timeout", "0.7")
                err = self.end(process, ranks, victim, signal.SIGSTOP)
                self.assertRegex(err, rf"dice: error: .*\(--frame-timeout\), and rank {victim} \(host .*\) does not answer: ")

    def test_two_sets_of_replicas(self):
        """Each rank knows its own set: a frame is someone else's in one of them, and its own in the other."""
        mapping = ("mapping<dev<0>, layers<picture, pool2, from<flatten>>, dev<1>, dev<2>, replicas<range<conv1, relu2>, first_free>, "
                   "dev<3>, dev<4>, replicas<range<conv3, pool3>, first_free>, in_flight<4>>")
        for words in [MPIRUN, "--oversubscribe", "--bind-to", "none", "-n", "5", test_program.PROGRAM], [test_program.PROGRAM, "--transport", "in-process"]:
            done = subprocess.run(["timeout", "20", *words, "--mapping", mapping, "--input", FOLDER / "digits_in.npy", "--frames", "200",
                                   "--expect", FOLDER / "digits_out.npy"], capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 0, done.stderr)

    def events(self, mapping, rank, frames, warmup="0", slower="1"):
        """What the rank did, in order: (what, frame)."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "trace.json"
            done = subprocess.run([test_program.PROGRAM, "--transport", "in-process", "--mapping", mapping, "--random", "1", "--warmup", warmup,
                                   "--frames", frames, "--trace", file], capture_output=True, text=True, timeout=LIMIT,
                                  env=os.environ | {"DICE_COMPUTE_SLOWER": slower})
            self.assertEqual(done.returncode, 0, done.stderr)
            events = [e for e in json.loads(file.read_text())["traceEvents"] if e["ph"] == "X" and e["pid"] == rank and e["tid"] == 0]
        return [(e["name"], e["args"]["frame"]) for e in sorted(events, key=lambda e: e["ts"]) if "frame" in e.get("args", {})]

    def test_other_replicas_get_their_frames_first(self):
        """Rank 0 has all frames, and computes some of them."""
        events = self.events("mapping<dev<0>, layers<picture, from<flatten>>, ranks<0>, dev<1>, replicas<range<conv1, pool3>>, in_flight<6>>",
                             rank=0, frames="6")
        first = next(k for k, (what, _) in enumerate(events) if what.startswith("conv1"))
        self.assertEqual([frame for what, frame in events[:first] if what.startswith("send picture")], [1, 3, 5])

    def test_frames_of_a_replica_do_not_wait_for_all_others(self):
        """Rank 0 computes all layers, but one, which is quick, of each second frame only. If these frames waited for all that are in
        flight, all 12 would have begun. How long the layer takes is known from frames before."""
        begun, ahead = 0, []
        for what, frame in self.events("mapping<dev<0>, layers<range<picture, flatten>, from<fc2>>, ranks<0>, dev<1>, "
                                       "replicas<fc1, relu4>, in_flight<12>>", rank=0, frames="12", warmup="5", slower="200"):
            if what.startswith("conv1"):
                begun = frame
            elif what.startswith("fc1"):
                ahead.append(begun - frame)
        self.assertEqual(len(ahead), 6)
        self.assertLess(max(ahead), 6)

    def test_a_rank_disagrees(self):
        """The parts differ, not their number."""
        for mapping, other in [(ROWS, ROWS.replace("shares<1, 2, 1>", "shares<2, 1, 1>")), (MAPPINGS[1], MAPPINGS[2])]:
            words = [test_program.PROGRAM, "--input", FOLDER / "digits_in.npy", "--mapping"]
            began = time.monotonic()
            ranks = of_ranks([*words, mapping], [*words, mapping], [*words, other])
            done = subprocess.run([MPIRUN, "--oversubscribe", "--bind-to", "none", *ranks], capture_output=True, text=True, timeout=LIMIT)
            self.assertLess(time.monotonic() - began, 10)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("dice: error: "), 1, done.stderr)
            self.assertRegex(done.stderr, "rank 2 .*runs the plan .*: another mapping, or another program; ")


if __name__ == "__main__":
    test_program.PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    FOLDER = pathlib.Path(sys.argv.pop(1))
    unittest.main()
