#!/usr/bin/env python3
"""test_engine_stops.py EMBEDDED PICTURES: the example with an engine ends in order after SIGUSR1 to mpirun, as `dice-run stop` sends
it. MPIRUN names mpirun."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PICTURES, EMBEDDED = sys.argv.pop(), sys.argv.pop()


class Stops(unittest.TestCase):
    def test_frames_in_flight_leave(self):
        with tempfile.TemporaryDirectory() as folder:
            many = pathlib.Path(folder, "many.npy")
            np.save(many, np.resize(np.load(PICTURES), (40000, 1, 8, 8)))  # for minutes
            with subprocess.Popen([os.environ["MPIRUN"], "--bind-to", "none", "-n", "2", EMBEDDED, many], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
                said = next((line for line in run.stdout if line.startswith("picture ")), "")  # Open MPI 5 may warn before that
                self.assertTrue(said.startswith("picture 0: "), said)
                run.send_signal(signal.SIGUSR1)
                said += run.stdout.read()  # communicate() would lose what was read ahead
                run.wait(50)
        self.assertEqual(run.returncode, 0, said)
        pictures = [int(k) for k in re.findall(r"picture (\d+):", said)]
        self.assertEqual(pictures, list(range(len(pictures))))
        self.assertLess(len(pictures), 40000)
        self.assertEqual(sorted(re.findall(r"rank (\d): \d+ beats", said)), ["0", "1"])  # both come to their ends


if __name__ == "__main__":
    unittest.main()
