#!/usr/bin/env python3
"""test_processes.py PROGRAM [unittest arguments]: ranks as processes that mpirun starts.

PROGRAM is toy_app; MPIRUN names mpirun, or is empty.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

import numpy as np

import test_program
from test_program import LIMIT, MPIRUN, PLACEMENTS, Case, diamond, frames, of_ranks, over


@unittest.skipUnless(MPIRUN, "no mpirun")
class Processes(Case):
    OWNER = "0,0,0,0,0,1,1,1,1,1"

    def test_wrong_number_of_ranks(self):
        for started in (1, 3):
            done = self.run_program("--random", 1, owner=self.OWNER, by="mpi", started=started)
            message = self.assert_fails(done, 2, "2 ranks", f"started with {started}", "mpirun -n 2", "(--transport in-process)")
            self.assertNotIn("engine", message)
        self.assert_fails(self.run_program("--random", 1, owner=self.OWNER), 2, "started with 1")
        self.assert_fails(self.run_program("--random", 1, by="mpi", started=2), 2, "1 rank, started with 2: run it without mpirun")
        self.assert_fails(self.run_program("--random", 1, "--transport", "in-process", owner=self.OWNER, by="mpi", started=2), 2,
                          "without mpirun")

    def test_different_programs(self):
        for variable, text in [("TOY_VERSION", "dice 9.9"), ("TOY_STRUCTURE", "structure 9.9")]:
            done = self.run_program("--random", 1, owner=self.OWNER, ranks=2, by="mpi", **{variable: "1=9.9"})
            self.assert_fails(done, 1, "rank 1 (host ", text, "rank 0 (host ")

    def test_different_options(self):
        """As an app file may have them. Otherwise the ranks would wait for each other's frames forever."""
        for first, second, text in [(["--frames", "9"], ["--frames", "12"], "--frames 12, rank 0"),
                                    (["--gather"], [], "runs without --gather, rank 0"),
                                    ([], ["--in-flight", "1"], "--in-flight 1, rank 0"),
                                    (["--gather", "--output", "o.npy"], ["--gather"], "runs for no results, rank 0"),
                                    ([], ["--plan"], "runs with --plan, which runs no frames, rank 0"),
                                    (["--help"], [], "runs to compute frames, rank 0"),
                                    ([], ["--pack=p"], "): --pack: one process handles all ranks"),
                                    ([], ["--transport=in-process"], "): --transport in-process: all ranks run in one process")]:
            ranks = [[test_program.PROGRAM, *([] if "--pack=p" in options else ["--random", "1"]), *options] for options in (first, second)]
            began = time.monotonic()
            done = subprocess.run([MPIRUN, "--oversubscribe", "--bind-to", "none", *of_ranks(*ranks)], cwd=self.folder,
                                  env={**os.environ, "TOY_OWNER": self.OWNER}, text=True, capture_output=True, timeout=LIMIT)
            self.seconds = time.monotonic() - began
            self.assert_fails(done, 2, "rank 1 (host ", text, "without mpirun" if "):" in text else "same options")
            self.assertEqual(done.stdout, "")

    def test_a_killed_rank(self):
        done = self.run_program("--random", 1, owner=self.OWNER, ranks=2, by="mpi", TOY_KILL="1=yes")
        self.assertNotEqual(done.returncode, 0)
        self.assertLess(self.seconds, 10)

    def test_many_frames(self):
        x = frames(400)
        np.save(self.folder / "in.npy", x)
        np.save(self.folder / "wanted.npy", over(diamond, x))
        for owner, ranks in PLACEMENTS[1:]:
            self.assert_done(self.run_program("--input", "in.npy", "--expect", "wanted.npy", owner=owner, ranks=ranks, by="mpi"))

    def test_plan_and_help_are_printed_once(self):
        done = self.run_program("--plan=json", owner=self.OWNER, started=3, by="mpi")
        self.assert_done(done)
        json.loads(done.stdout)

    def test_one_core_is_a_warning(self):
        if (os.cpu_count() or 1) < 2:
            self.skipTest("one core")
        command = ["taskset", "-c", "0", test_program.PROGRAM, "--random", "1"]
        env = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
        done = subprocess.run(command, cwd=self.folder, env=env, text=True, capture_output=True, timeout=LIMIT)
        self.assert_done(done)
        self.assertIn("dice: warning:", done.stderr)

    def test_no_line_of_a_log_is_lost(self):
        """With what dice-run start gives mpirun; many short lines, which mpirun reads together."""
        command = [MPIRUN, "--oversubscribe", "--bind-to", "none", "-np", "2", "--tag-output", "-x", "DICE_TIMESTAMP_OUTPUT=1", test_program.PROGRAM,
                   "--random", "1", "--frames", "3000", "--top", "1", "--weights", self.folder / "toy.safetensors"]
        done = subprocess.run(command, env={**os.environ, "TOY_OWNER": self.OWNER}, text=True, capture_output=True, timeout=LIMIT)
        self.assert_done(done)
        tag = re.search(r"^\[\d+,1\]<stdout>: ?", done.stdout, re.M)[0]
        said = "\n".join(line.replace(tag, "") for line in done.stdout.splitlines())  # as dice-run: mpirun has them within lines, too
        lines = re.findall(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d frame (\d+) \[[01]\]: \d+ [-.\de]+$", said, re.M)
        self.assertEqual([int(line) for line in lines], [i // 2 for i in range(6000)])


if __name__ == "__main__":
    test_program.PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
