#!/usr/bin/env python3
"""test_mapping.py DIGITS FOLDER TOY_APP: programs under mappings that they were not compiled for. FOLDER has frames and
results of DIGITS; TOY_APP accepts no other mappings. MPIRUN names mpirun, or is empty."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from test_program import of_ranks

DIGITS, FOLDER, TOY = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1)
FRAMES = ["--input", str(FOLDER / "digits_in.npy"), "--expect", str(FOLDER / "digits_out.npy")]
OWN = "mapping<dev<0>, layers<to<pool2>>, dev<1>, layers<from<conv3>>>"
MAPPINGS = [
    "mapping<dev<0>, layers<all>>",
    OWN,
    "using deployment = dice::mapping<dice::dev<0, dice::threads<2>>, dice::layers<dice::all>>;",
    "split<digits::network, points<conv2::id, 6, 9>, dev<2, threads<1>>, dev<0, threads<1>>, dev<3, threads<1>>, dev<1, threads<1>>>",
    "mapping<dev<1, threads<1>>, layers<to<digits::conv1>, conv2, from<relu3>>, dev<0, threads<1>>, layers<relu1, range<relu2, conv3>>, in_flight<3>>",
    "mapping<dev<0, threads<1>, memory<1_MiB>, on<\"elsewhere\">>, layers<all>, in_flight<7>>",
]


def run(*arguments, program=DIGITS):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)


class Mappings(unittest.TestCase):
    def works(self, *arguments):
        done = run(*FRAMES, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("scores: error ", done.stdout)

    def refused(self, words, *arguments, code=2, program=DIGITS):
        done = run(*arguments, program=program)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("dice: error: "), 1, done.stderr)
        self.assertIn("dice: error: --mapping: " + words, done.stderr)

    def test_results_are_those_of_the_network(self):
        for mapping in MAPPINGS:
            with self.subTest(mapping):
                self.works("--transport", "in-process", "--mapping", mapping)
                self.works("--mapping=" + mapping, "--transport=in-process", "--frames", "40", "--warmup", "3")

    def test_plans_are_those_of_the_compiler(self):
        own, same = run("--plan=json"), run("--plan=json", "--mapping", OWN)
        self.assertEqual(own.stdout, same.stdout)
        self.assertEqual(run("--plan=steps").stdout, run("--mapping", OWN, "--plan=steps").stdout)
        other = json.loads(run("--plan=json", "--mapping", MAPPINGS[3]).stdout)
        self.assertEqual([r["layers"][0] for r in other["ranks"]], [3, 9, 0, 6])

    def test_a_file_serves_as_well(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "mapping<")
            file.write_text("// on one device\n" + MAPPINGS[2] + "\n\n// and what is predicted of it\n")
            self.works("--mapping", str(file))
            for text, mistake in [("nothing", "line 1, column 1: not_a_mapping: 'nothing' is neither"),
                                  ("", "line 1, column 1: expected mapping<…> or split<…>, found the end"),
                                  ("mapping<dev<0>, layers<to<conv1>>>", "layer_without_device: layer 'relu1'")]:
                given = self.written(folder, text)
                self.refused(f"'{given}': {mistake}", "--plan", "--mapping", given)
            self.refused(f"'{folder}' cannot be read: Is a directory; write mapping<…> or split<…>, or name a file", "--mapping", folder)
            self.refused("'none' cannot be read: No such file or directory; write", "--mapping", "none", "--plan")
            long = self.written(folder, " " * (2 << 20))
            self.refused(f"'{long}' has more than 1048576 bytes; write", "--mapping", long)
            # The file is read, so it must not be written.
            done = run(*FRAMES, "--mapping", str(file), "--json", str(file))
            self.assertIn("is read by this run and would be overwritten", done.stderr)

    def test_pipes(self):
        done = subprocess.run(["bash", "-c", '"$0" --plan=json --mapping <(sleep 0.2; echo "$1")', DIGITS, OWN], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, run("--plan=json").stdout, done.stderr)
        done = subprocess.run([DIGITS, "--plan=json", "--mapping", "/dev/stdin"], input=OWN, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, run("--plan=json").stdout, done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            self.refused(f"'{pipe}' is a pipe that nobody wrote to; write mapping<…>", "--plan", "--mapping", pipe)
            with subprocess.Popen(["bash", "-c", 'sleep 0.2; echo "$1" > "$0"', pipe, OWN]):
                self.assertEqual(run("--plan=json", "--mapping", pipe).stdout, run("--plan=json").stdout)

    def test_help_whatever_the_mapping_is(self):
        for option, words in (("--help", "  --mapping MAPPING  "), ("--version", "dice ")):
            done = run(option, "--mapping", "mapping<3>")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(words, done.stdout)
        done = run("--help", program=TOY)
        self.assertIn("  --input ", done.stdout)
        self.assertNotIn("--mapping", done.stdout)

    def test_cores_and_threads_that_no_system_has(self):
        done = run(*FRAMES, "--mapping", "mapping<dev<0, cores<2147483647>>, layers<all>>")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cannot use core 2147483647, which its unit lists", done.stderr)
        self.refused("line 1, column 16: too_many_threads: 'threads<100000>' asks for 100000 threads; ask for at most 1024 threads",
                     "--plan", "--mapping", "mapping<dev<0, threads<100000>>, layers<all>>")

    def written(self, folder, text):
        file = pathlib.Path(folder, "text")
        file.write_text(text)
        return str(file)

    def test_mistakes_are_told_with_their_place(self):
        self.refused("line 1, column 27: not_a_layer_of_the_network: 'con2' is not a layer of the network digits (did you mean "
                     "'conv2'?); name layers of the network passed to main", *FRAMES, "--mapping", "mapping<dev<0>, layers<to<con2>>>")
        self.refused("layer_without_device: layer 'relu3' and 7 others are in no list; add it to a layers list", "--plan", "--mapping",
                     "mapping<dev<0>, layers<to<conv3>>>")
        self.refused("line 1, column 16: unit_without_backend: 'gpu' has no backend in this program", "--plan", "--mapping",
                     "mapping<dev<0, gpu>, layers<all>>")
        self.refused("line 1, column 9: memory_limit_less_than_plan: rank 0 needs ", "--plan", "--mapping",
                     "mapping<dev<0, cpu, memory<1_KiB>>, layers<all>>")
        self.refused("line 1, column 9: expected dev<…>, ranks<…>, in_flight<…>, or a work such as layers<…>, found '3'", "--plan", "--mapping", "mapping<3>")
        self.assertIn("--mapping: given twice; give it once", run("--plan", "--mapping", OWN, "--mapping", OWN).stderr)
        self.assertIn("--mapping: the value is missing", run("--plan", "--mapping").stderr)
        self.assertIn("--in-flight: 3 is more than the plan of this program allows, 1;",
                      run(*FRAMES, "--in-flight", "3", "--mapping", MAPPINGS[0]).stderr)
        self.refused("this program was compiled for its own mapping only", "--random", "1", "--mapping", OWN, program=TOY)

    def test_what_else_programs_do(self):
        with tempfile.TemporaryDirectory() as folder:
            packed, profile = str(pathlib.Path(folder, "packed")), str(pathlib.Path(folder, "profile"))
            for mapping in MAPPINGS[3:5]:
                done = run("--pack", packed, "--mapping", mapping)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.works("--packed", packed, "--transport", "in-process", "--mapping", mapping, "--profile", profile)
                self.assertIn("belong to another build", run(*FRAMES, "--packed", packed, "--transport", "in-process").stderr)

    @unittest.skipUnless(os.environ.get("MPIRUN"), "no mpirun")
    def test_processes(self):
        def run_ranks(*options):
            ranks = of_ranks(*([DIGITS, *FRAMES, *words] for words in options))
            return subprocess.run([os.environ["MPIRUN"], "--bind-to", "none", *ranks], capture_output=True, text=True, timeout=60)

        four = ["--mapping", MAPPINGS[3]]
        done = run_ranks(four, four, four, four)
        self.assertEqual(done.returncode, 0, done.stderr)
        for processes, words in (((four, four), "this program's plan has 4 ranks, started with 2"),
                                 ((four, ["--mapping", "mapping<>"]), "--mapping: line 1, column 9: misplaced_entry: "),
                                 ((["--mapping", "mapping<>"], ["--mapping", "mapping<>"]), "--mapping: line 1, column 9: misplaced_entry: "),
                                 ((["--mapping", OWN], ["--mapping", "missing.txt"]), "--mapping: 'missing.txt' cannot be read: "),
                                 ((["--mapping", OWN], ["--mapping", MAPPINGS[4]]), "runs the plan "),
                                 ((["--mapping", MAPPINGS[0]], ["--mapping", OWN]), ": another mapping, or another program; "),
                                 ((["--mapping", OWN], ["--mapping", MAPPINGS[0]]), ": another mapping, or another program; "),
                                 (([], ["--mapping", MAPPINGS[0]]), ": another mapping, or another program; "),
                                 ((["--mapping", MAPPINGS[0]], ["--mapping", MAPPINGS[0]]),
                                  "this program's plan has 1 rank, started with 2: run it without mpirun")):
            done = run_ranks(*processes)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stderr.count("dice: error: "), 1, done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
