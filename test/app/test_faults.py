#!/usr/bin/env python3
"""test_faults.py PROGRAM ONNX2HPP [unittest arguments]: faults from outside of dice.

Wrong values of every option, files that cannot be read or written, full disks, signals, ranks that die: each run ends in
seconds with a message that names the cause, and leaves no file that was not there before.  PROGRAM is toy_app; MPIRUN
names mpirun, or is empty.
"""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

import test_program
from test_program import LIMIT, MPIRUN, Case, frames

ONNX2HPP = None
NOBODY = 65534

NUMBERS = ["x", "-1", "0x10", "1 2", "1e400"]
WHOLE = NUMBERS + ["1.5", "99999999999999999999"]
# For each kind of value in --help, a word that options accept and words that they refuse. Files: see Files.
VALUES = {"N": ("1", WHOLE), "K": ("1", WHOLE + ["1000000"]), "SEED": ("1", WHOLE), "X": ("1", NUMBERS + ["nan"]),
          "SECONDS": ("1", NUMBERS + ["0", "1e300"]), "X[,X,X]": ("1", ["x", "x,1", ",1", "1;2"]), "FILE": ("file", []), "LIST": ("0", WHOLE), "[NAME=]FILE": ("file", []),
          "MAPPING": ("mapping<>", ["neither"]), "OBJECTIVE,LIMIT,…": ("energy", []),  # wrong ones: test/partition
          "[NAME=]COMMAND": ("true", []), "[NAME=]FORMAT[:WxH]": ("gray8", ["rgb32"]), "[NAME=]top|json|raw|npy": ("json", ["neither"]),
          "[NAME=]HEAD": ("classes", ["neither"]), "FILE.npy": ("file.npy", []), "FILE|PORT": ("file", []), "[NAME=]K": ("1", WHOLE + ["1000000"])}
REPEATABLE = {"--input", "--source", "--frames-as", "--output", "--sink", "--results", "--decode", "--expect", "--top"}
READ = {"--input", "--weights", "--packed", "--expect", "--labels"}


def options():
    """(name, value, whether the value may be omitted) of all options, from --help."""
    text = subprocess.run([test_program.PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^  (--[\w-]+)(?:(\[=)(\S+)\]| (\S+))?  +\S", text, re.MULTILINE)
    return [(name, optional or value, bool(opens)) for name, opens, optional, value in found]


def as_nobody():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def limit_files(size):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    return limit


class Fault(Case):
    """Afterwards the folder has the same files as before, and no others."""

    def setUp(self):
        super().setUp()
        np.save(self.folder / "good.npy", frames(2))

    def contents(self):
        return {p.name: p.read_bytes() if p.is_file() else p.lstat().st_mode for p in self.folder.iterdir()}

    def refused(self, command, code, *texts, prefix="dice: error:", **how):
        before, began = self.contents(), time.monotonic()
        done = subprocess.run([str(w) for w in command], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT, **how)
        self.seconds = time.monotonic() - began
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertLess(self.seconds, 10)
        message = [line for line in done.stderr.splitlines() if line.startswith(prefix)]
        self.assertEqual(len(message), 1, done.stderr)
        for text in texts:
            self.assertIn(text, message[0])
        self.assertEqual(self.contents(), before)


class Options(Fault):
    def test_every_option_with_wrong_values(self):
        table = options()
        self.assertGreaterEqual(len(table), 23)
        for name, value, optional in table:
            choices = value.split("|") if "|" in value and value not in VALUES else []
            if value and not choices:
                self.assertIn(value, VALUES, f"{name}: say in VALUES what is right and wrong for {value}")
            right, wrong = (choices[0], ["neither"]) if choices else VALUES.get(value, ("", []))
            base = ["--top", "1"] if name == "--labels" else []
            with self.subTest(name):
                if not value:
                    self.check(name, "takes no value", f"{name}=1")
                elif not optional:
                    self.check(name, "missing", name)
                    self.check(name, "empty", name, "")
                if value:
                    self.check(name, "missing", f"{name}=")
                if name not in REPEATABLE:
                    again = [f"{name}={right}" if optional or right else name]
                    self.check(name, "twice", *base, *again, *again)
                for word in wrong:
                    self.check(name, f"'{word}'", *([f"{name}={word}"] if optional else [name, word]))
                self.check("", "", name + "x", *([right] if right else []))

    def check(self, name, text, *words):
        random = [] if name == "--random" else ["--random=1"]
        self.refused([test_program.PROGRAM, *random, *words], 2, name, text)

    def test_names_of_inputs_and_outputs(self):
        self.weights("two", self.folder / "toy.safetensors")
        for option, known in [("--input", "in.0, in.1"), ("--output", "out.5, out.7"), ("--expect", "out.5, out.7")]:
            for word in ("file", "out.0=file", "=file"):
                self.refused([test_program.PROGRAM, "--random", "1", option, word], 2, option, word, known,
                             env={**os.environ, "TOY_NET": "two"})

    def test_misspelt_names_of_inputs_and_outputs(self):
        """NAME=FILE with a wrong NAME is no file's name, unless there is such a file or the name has a folder."""
        self.weights("two", self.folder / "toy.safetensors")
        for option, words, texts in [("--input", "in.O=x.npy", ["'in.O'", "did you mean in.0=x.npy?", "its inputs are in.0, in.1"]),
                                     ("--output", "foo=a/x.npy", ["'foo'; its outputs are out.5, out.7"]),
                                     ("--expect", "./foo=x.npy", ["must be NAME=FILE"])]:
            self.refused([test_program.PROGRAM, "--random", "1", option, words], 2, option, *texts,
                         env={**os.environ, "TOY_NET": "two"})
        self.weights("diamond", self.folder / "toy.safetensors")
        for option, of in [("--input", "input is in.0"), ("--output", "output is out.9"), ("--expect", "output is out.9")]:
            for file in ("foo=x.npy", "foo=sub/x.npy"):
                self.refused([test_program.PROGRAM, "--random", "1", option, file], 2, option, "'foo'", f"its {of}",
                             f"for a file of this name write ./{file}")
        np.save(self.folder / "foo=x.npy", frames(2))
        for name in ("foo=x.npy", "./foo=x.npy"):
            self.assert_done(self.run_program("--input", name))
        self.assert_done(self.run_program("--input", "good.npy", "--output", "./bar=x.npy"))
        self.assertTrue((self.folder / "bar=x.npy").exists())

    def test_a_file_with_two_uses(self):
        """No file that is read is overwritten, and none is written twice, by whatever name; devices may be."""
        (self.folder / "link").symlink_to("good.npy")
        (self.folder / "labels").write_text("name\n")
        good, random = ["--input", "good.npy"], ["--random", "1"]
        for words, text in [([*good, "--output", "good.npy"], "'good.npy' is read"), ([*good, "--output", "link"], "'link' is read"),
                            ([*good, "--json", "./good.npy"], "'./good.npy' is read"),
                            ([*random, "--top", "1", "--labels", "labels", "--trace", "labels"], "'labels' is read"),
                            ([*random, "--expect", "good.npy", "--profile", "good.npy"], "'good.npy' is read"),
                            ([*random, "--weights", "toy.safetensors", "--output", "toy.safetensors"], "is read"),
                            ([*random, "--json", "new", "--trace", "new"], "'new' would be written twice"),
                            ([*random, "--output", "new", "--profile", "new"], "'new' would be written twice"),
                            ([*random, "--json=-"], "'-'"), ([*random, "--metrics=-"], "'-'")]:
            with self.subTest(words):
                self.refused([test_program.PROGRAM, *words], 2, text)
        self.refused([test_program.PROGRAM, *random, "--output", "toy.safetensors"], 2, "'toy.safetensors' is read by this run")
        self.assert_done(self.run_program(*random, "--json", "/dev/null", "--trace", "/dev/null", "--output", "/dev/null"))

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_one_rank_speaks(self):
        for words in (["--frames", "x"], ["--labels", "f"], ["--transport", "mail"]):
            done = self.run_program("--random", 1, *words, owner="0,0,0,0,0,1", ranks=2, by="mpi")
            self.assert_fails(done, 2, words[0])


class Files(Fault):
    BASE = {"--labels": ["--top", "1"]}

    def program(self, option, file, *more):
        random = [] if option in ("--input", "--measure") else ["--random", "1"]
        return [test_program.PROGRAM, *random, *self.BASE.get(option, []), option, file, *more]

    def file_options(self):
        # Options that run no frames are tested in test_tune.py and test_pack.py, pictures in test_decoding.py.
        return [name for name, value, _ in options() if value.endswith("FILE") and name not in ("--tune", "--pack", "--picture")]

    def test_that_cannot_be_read(self):
        (self.folder / "folder").mkdir()
        (self.folder / "empty").touch()
        for option in sorted(READ & set(self.file_options())):
            for file in ("absent", "folder", "empty", "nowhere/file"):
                with self.subTest(option=option, file=file):
                    self.refused(self.program(option, file), 1, f"'{file}'")
        os.mkfifo(self.folder / "pipe")  # without a writer; --input waits for one
        for option in ("--weights", "--packed", "--expect"):
            self.refused(self.program(option, "pipe"), 1, "'pipe'")
        done = subprocess.run(self.program("--weights", "/dev/zero"), capture_output=True, text=True, timeout=LIMIT)
        self.assertIn("dice: error: weights file '/dev/zero' is not a regular file", done.stderr)

    def test_weights_cut_anywhere(self):
        whole = (self.folder / "toy.safetensors").read_bytes()
        header = 8 + int.from_bytes(whole[:8], "little")
        for size in [*range(12), header // 2, header - 1, header, header + 1, (header + len(whole)) // 2, len(whole) - 1]:
            (self.folder / "cut").write_bytes(whole[:size])
            with self.subTest(size):
                self.refused(self.program("--weights", "cut"), 1, "weights file 'cut'")

    def test_that_this_user_may_not_read_or_write(self):
        """Runs as another user if this one has all permissions."""
        program = self.folder / "program"
        shutil.copy(test_program.PROGRAM, program)
        shutil.copy(ONNX2HPP, self.folder / "onnx2hpp")
        shutil.copy(self.folder / "good.npy", self.folder / "model.onnx")
        for path in self.folder.iterdir():
            path.chmod(0o755)
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        if subprocess.run([program, "--version"], preexec_fn=as_nobody, capture_output=True, cwd="/").returncode:
            self.skipTest("another user cannot run programs in " + str(self.folder))
        cases = [(option, "out") for option in set(self.file_options()) - READ]
        if os.geteuid() == 0:  # another user could not compare files that it may not read
            cases += [(option, "toy.safetensors" if option == "--weights" else "good.npy") for option in READ]
            for file in ("toy.safetensors", "good.npy", "model.onnx"):
                (self.folder / file).chmod(0)
            self.refused([self.folder / "onnx2hpp", "model.onnx"], 1, '"model.onnx"', "Permission denied",
                         prefix="onnx2hpp: error:", preexec_fn=as_nobody)
        for option, file in cases:
            with self.subTest(option):
                (self.folder / "toy.safetensors").chmod(0 if option == "--weights" and os.geteuid() == 0 else 0o755)
                texts = [] if option == "--labels" else ["Permission denied"]
                self.refused([program, *self.program(option, file)[1:]], 1, f"'{file}'", *texts, preexec_fn=as_nobody)

    def test_that_cannot_be_written(self):
        (self.folder / "folder").mkdir()
        for option in sorted(set(self.file_options()) - READ):
            for file in ("nowhere/file", "folder", "toy.safetensors/file"):
                with self.subTest(option=option, file=file):
                    self.refused(self.program(option, file), 1, f"'{file}'")

    def test_on_a_full_disk(self):
        for option in sorted(set(self.file_options()) - READ):
            with self.subTest(option):
                self.refused(self.program(option, "/dev/full"), 1, "'/dev/full'", "No space left on device")
                (self.folder / "old").write_text("old")
                for file in ("old", "new"):  # the old contents are not lost, and no part of the new ones is left
                    for more in ([], ["--transport", "in-process"]):
                        env = {**os.environ, "TOY_OWNER": "0,0,0,0,0,1,1,1,1,1" if more else "0"}
                        frames = [] if option == "--measure" else ["--frames", "100"]
                        self.refused(self.program(option, file, *frames, *more), 1, f"'{file}'", "File too large",
                                     preexec_fn=limit_files(64), env=env)

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_on_the_full_disk_of_another_rank(self):
        done = self.run_program("--random", 1, "--top", 1, "--output", "/dev/full", owner="0,0,0,0,0,1,1,1,1,1", ranks=2, by="mpi")
        self.assert_fails(done, 1, "rank 1 (host ", "'/dev/full'", "No space left on device")
        self.assertEqual(done.stdout, "")


def catches(pid, number):
    """Whether the process waits for a signal."""
    caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(caught[1], 16) >> number - 1 & 1


def pending(pid, number):
    """Whether a signal was sent to the process, but has not arrived."""
    waits = re.search(r"^ShdPnd:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(waits[1], 16) >> number - 1 & 1


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ranks_of(mpirun):
    """{rank: process id} of mpirun's children."""
    out = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int((process / "stat").read_text().rpartition(")")[2].split()[1]) != mpirun:
                continue
            rank = re.search(rb"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)", (process / "environ").read_bytes())
            if rank and pathlib.Path(os.readlink(process / "exe")).name == pathlib.Path(test_program.PROGRAM).name:
                out[int(rank[1])] = int(process.name)
        except OSError:  # gone, or not ours
            pass
    return out


class LongRun(Fault):
    """Programs to be ended by signals."""

    OWNER = "0,0,0,0,0,1,1,1,1,1"

    def start(self, *words, by="", env={}, **how):
        """A program that would run for hours, once it handles signals."""
        env = {**os.environ, "TOY_SLOW": "2000", "TOY_OWNER": self.OWNER if by else "0", **env}
        prefix = [MPIRUN, "--oversubscribe", "--bind-to", "none", "-np", "2"] if by == "mpi" else []
        words = words or ["--random", "1", "--frames", "1000000", "--output", "o.npy", "--json", "run.json"]
        words = [*words, "--transport", "in-process"] if by == "threads" else words
        process = subprocess.Popen([*prefix, test_program.PROGRAM, *words], env=env, cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
        self.addCleanup(process.kill)
        self.wait_for(lambda: all(catches(p, signal.SIGTERM) for p in self.processes(process, by)))
        return process

    def processes(self, process, by):
        if by != "mpi":
            return [process.pid]
        self.wait_for(lambda: len(ranks_of(process.pid)) == 2)
        return list(ranks_of(process.pid).values())

    def wait_for(self, condition):
        began = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic() - began, LIMIT)
            time.sleep(0.005)

    def end(self, process, kill):
        """What the program prints after `kill` is called."""
        before, began = self.contents(), time.monotonic()
        kill()
        out, err = process.communicate(timeout=LIMIT)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(self.contents(), before)
        return err


class Signals(LongRun):
    def test_nohup(self):
        process = self.start(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        self.assertIsNone(process.poll())
        process.kill()

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_a_rank_dies_in_the_middle(self):
        for victim in (0, 1):
            process = self.start(by="mpi")
            ranks = ranks_of(process.pid)
            time.sleep(0.5)
            err = self.end(process, lambda: os.kill(ranks[victim], signal.SIGKILL))
            self.assertRegex(err, rf"rank {victim} with PID .* exited on\s+signal 9")
            self.assertNotEqual(process.returncode, 0)
            self.wait_for(lambda: not any(map(alive, ranks.values())))

    def test_weights_cut_in_the_middle(self):
        """Weights are mapped: pages that are gone cannot be read."""
        process = self.start()
        self.wait_for(lambda: "toy.safetensors" in pathlib.Path(f"/proc/{process.pid}/maps").read_text())
        (self.folder / "toy.safetensors").write_bytes(b"")
        _, err = process.communicate(timeout=LIMIT)
        self.assertEqual(err, "dice: error: a mapped file was cut short or cannot be read (SIGBUS)\n")
        self.assertEqual(process.returncode, -signal.SIGBUS)
        self.assertEqual([p.name for p in self.folder.iterdir() if not p.name.endswith((".npy", ".safetensors"))], [])

    def caught_writing(self, process, pattern, *signals):
        """Stops the process while it writes the file `pattern`, and sends it the signals; False if it was too fast."""
        while process.poll() is None and not list(self.folder.glob(pattern)):
            time.sleep(0.0005)
        if process.poll() is not None:
            return False
        process.send_signal(signal.SIGSTOP)
        caught = bool(list(self.folder.glob(pattern)))
        for number in signals:
            process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        _, self.err = process.communicate(timeout=LIMIT)
        self.assertEqual(list(self.folder.glob(pattern)), [])
        return caught

    def assert_interrupted(self, process, *by):  # several signals that wait for a stopped process arrive in any order
        self.assertIn(-process.returncode, by)
        self.assertRegex(self.err, rf": error: (interrupted|terminated) \({signal.Signals(-process.returncode).name}\)\n")

    def while_results_are_written(self, *signals):
        for k in range(6):  # more and more output, until the program is caught writing
            (self.folder / "o.npy").write_text("old")
            self.frames = 50000 << k
            process = subprocess.Popen([test_program.PROGRAM, "--random", "1", "--frames", str(self.frames), "--output", "o.npy"],
                                       cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if self.caught_writing(process, ".o.npy.*.tmp", *signals):
                return process
        self.fail("never caught writing")

    def test_one_signal_lets_results_be_written(self):
        process = self.while_results_are_written(signal.SIGINT)
        self.assertEqual((process.returncode, self.err), (0, ""))
        self.assertEqual(np.load(self.folder / "o.npy", mmap_mode="r").shape, (2 * self.frames, 32))

    def test_two_signals_end_it(self):
        self.assert_interrupted(self.while_results_are_written(signal.SIGTERM, signal.SIGINT), signal.SIGTERM, signal.SIGINT)
        self.assertEqual((self.folder / "o.npy").read_text(), "old")

    def test_ctrl_c_of_the_converter(self):
        for k in range(5):
            write_model(self.folder / "big.onnx", 1024, 1024 << k)
            process = subprocess.Popen([ONNX2HPP, "big.onnx", "-o", "made"], cwd=self.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            if self.caught_writing(process, "made/.big.*.tmp", signal.SIGINT):
                break
        else:
            self.fail("never caught writing")
        self.assert_interrupted(process, signal.SIGINT)
        self.assertEqual(list((self.folder / "made").iterdir()), [])
        self.refused([ONNX2HPP, "big.onnx", "-o", "made"], 1, "cannot be written: File too large", prefix="onnx2hpp: error:",
                     preexec_fn=limit_files(4096))
        self.assertEqual(list((self.folder / "made").iterdir()), [])


def write_model(path, n, m):
    """A model of one n×m matrix."""
    import onnx.helper, onnx.numpy_helper
    w = onnx.numpy_helper.from_array(np.zeros((n, m), np.float32), "w")
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([onnx.helper.make_node("MatMul", ["x", "w"], ["y"])], "g",
                                   [value("x", 1, [1, n])], [value("y", 1, [1, m])], [w])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, path)


class Converter(Fault):
    """In addition to the tests of test/onnx2hpp."""

    def setUp(self):
        super().setUp()
        write_model(self.folder / "model.onnx", 4, 4)
        (self.folder / "made").mkdir()

    def converter_refused(self, code, text, *words, **how):
        self.refused([ONNX2HPP, "model.onnx", "-o", "made", *words], code, text, prefix="onnx2hpp: error:", **how)
        self.assertEqual(list((self.folder / "made").iterdir()), [])

    def test_every_option(self):
        text = subprocess.run([ONNX2HPP, "--help"], capture_output=True, text=True, check=True).stdout
        table = re.findall(r"^  (?:-\w,)?(--[\w-]+)(?: ([A-Z][A-Z,:=]+)( \.\.\.)?)?", text, re.MULTILINE)
        self.assertEqual(sum(bool(value) for _, value, _ in table), 10)
        for name, value, repeatable in table:
            self.converter_refused(2, name + "x", name + "x")
            if value:
                self.converter_refused(2, name, name)
                self.converter_refused(2, name, name + "=")
            if value and not repeatable:
                self.converter_refused(2, name, f"{name}=a", f"{name}=b")

    def test_files(self):
        for option in ("--dot", "--depfile"):
            self.converter_refused(2, f"{option}: the name is empty", option, "")
        self.refused([ONNX2HPP, "model.onnx", "-o", ""], 2, "-o: the name is empty", prefix="onnx2hpp: error:")
        # A link, since root would lose the device itself if it were replaced.
        (self.folder / "full").symlink_to("/dev/full")
        os.mkfifo(self.folder / "pipe")
        for option in ("--dot", "--depfile"):
            self.converter_refused(1, "'full' cannot be written: No space left on device", option, "full")
        self.refused([ONNX2HPP, "pipe"], 1, '"pipe"', "not a regular file", prefix="onnx2hpp: error:")

    def test_what_was_there_stays(self):
        """If one of the files cannot be written, the others keep their content."""
        subprocess.run([ONNX2HPP, "model.onnx", "-o", "made"], cwd=self.folder, check=True, stderr=subprocess.DEVNULL)
        write_model(self.folder / "model.onnx", 4, 5)
        made = self.folder / "made"
        before = {p.name: p.read_bytes() for p in made.iterdir()}
        self.assertEqual(len(before), 3)
        for name, make, text in [("model.hpp", lambda p: p.mkdir(), "Is a directory"), ("model.safetensors", os.mkfifo, "regular file")]:
            (made / name).unlink()
            make(made / name)
            done = subprocess.run([ONNX2HPP, "model.onnx", "-o", "made"], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT) \
                if name != "model.safetensors" else self.with_reader(made / name)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{name}' cannot be written: ", done.stderr)
            self.assertIn(text, done.stderr)
            self.assertEqual({p.name: p.read_bytes() for p in made.iterdir() if p.is_file()},
                             {n: b for n, b in before.items() if n != name})
            (made / name).rmdir() if (made / name).is_dir() else (made / name).unlink()
            (made / name).write_bytes(before[name])

    def with_reader(self, pipe):
        with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)):
            return subprocess.run([ONNX2HPP, "model.onnx", "-o", "made"], cwd=self.folder, capture_output=True, text=True, timeout=LIMIT)

    def test_nobody_can_be_told(self):
        with open("/dev/full", "w") as full:
            for words in (["--help"], ["--version"], ["model.onnx", "--list-layers"]):
                done = subprocess.run([ONNX2HPP, *words], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, "^onnx2hpp: error: the standard output cannot be written(: No space left on device)?\n$")
            for words, code in [(["model.onnx", "-v", "-o", "made"], 0), (["absent.onnx"], 1), (["--what"], 2)]:
                self.assertEqual(subprocess.run([ONNX2HPP, *words], cwd=self.folder, stderr=full).returncode, code)


if __name__ == "__main__":
    test_program.PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    ONNX2HPP = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
