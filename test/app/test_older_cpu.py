#!/usr/bin/env python3
"""test_older_cpu.py LINKED COMPILED EMBEDDED QEMU: programs on a CPU, emulated by QEMU, that lacks what they need. LINKED links dice's
library; COMPILED has files of its own that are compiled for newer CPUs; EMBEDDED is GoogleTest's program with engines. MPIRUN names mpirun;
without it, there is no MPI."""
import os
import re
import subprocess
import sys
import time
import unittest

MPIRUN = os.environ.get("MPIRUN", "")
NAME = "A CPU without AVX whose name is long (2008)"
LACK = rf"this CPU \({re.escape(NAME)}\) lacks avx, .*; build it with -DDICE_BOARD=x86-64-v2"


class OlderCpu(unittest.TestCase):
    def run_there(self, program, *arguments, ranks=1):
        command = [QEMU, "-cpu", f"Nehalem,model-id=  {NAME} ", program, *arguments]
        if ranks > 1:
            command = [MPIRUN, "--oversubscribe", "--bind-to", "none", "-np", str(ranks), *command]
        began = time.monotonic()
        done = subprocess.run(command, text=True, capture_output=True, timeout=60)
        self.seconds = time.monotonic() - began
        return done

    def assert_refused(self, done, message):
        self.assertRegex(done.stderr, re.compile(f"^{message}", re.MULTILINE))
        self.assertEqual((done.returncode, done.stderr.count("dice: error:")), (1, 1), done.stderr)

    def test_a_program(self):
        self.assert_refused(self.run_there(LINKED, "--transport", "in-process", "--random", "1"), "dice: error: " + LACK)
        for option in ("--help", "--plan", "--verify", "--version"):
            self.assertEqual(self.run_there(LINKED, option).returncode, 0)
        self.assertRegex(self.run_there(LINKED, "--version").stdout, "kernels for .*: " + LACK)

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_a_job(self):
        self.assert_refused(self.run_there(LINKED, "--random", "1", ranks=2), f"dice: error: host {os.uname().nodename}: {LACK}")
        self.assertLess(self.seconds, 20)

    def test_files_for_newer_cpus(self):
        """Nothing in such a file can be trusted, so there is not even help."""
        self.assert_refused(self.run_there(COMPILED, "--help"), f"dice: error: {LACK}, without -march of newer CPUs")

    def test_an_engine(self):
        """It throws: the program goes on."""
        done = self.run_there(EMBEDDED, "--gtest_filter=Embedding.OneRankNeedsNoMpi:Embedding.FramesComeFromFiles")
        self.assertRegex(done.stdout, f'C\\+\\+ exception with description "dice: {LACK}"')
        self.assertRegex(done.stdout, r"OK \] Embedding.FramesComeFromFiles")


if __name__ == "__main__":
    LINKED, COMPILED, EMBEDDED, QEMU = sys.argv[1:5]
    if " lacks " not in subprocess.run([QEMU, "-cpu", "Nehalem", LINKED, "--version"], text=True, capture_output=True).stdout:
        print("the kernels run on a CPU that has no AVX")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
