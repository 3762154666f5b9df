#!/usr/bin/env python3
"""test_program.py PROGRAM [unittest arguments]: what users of a program see, with threads and with MPI.

PROGRAM is toy_app; expected results are computed here again, with numpy. MPIRUN names mpirun; if it is empty, only threads
are used.
"""
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

PROGRAM = None
MPIRUN = os.environ.get("MPIRUN", "")
OPEN_MPI = 0  # the version of mpirun, 4 or 5
if MPIRUN:
    OPEN_MPI = int(re.search(r"(\d+)\.\d+", subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout)[1])
LIMIT = 30  # seconds; nothing may hang


def of_ranks(*commands):
    """What mpirun is given so that rank r runs commands[r]: one command, since mpirun of Open MPI 5.0 crashes on several (open-mpi/ompi
    issue 13303)."""
    cases = " ".join(f"{rank}) exec {shlex.join(map(str, words))} ;;" for rank, words in enumerate(commands))
    return ["-np", str(len(commands)), "sh", "-c", f"case $OMPI_COMM_WORLD_RANK in {cases} esac"]


def weights(first, count):
    i = np.arange(first, first + count)
    return (((i * 7919 + 13) % 201 - 100) / 128).astype(np.float32)


class Weights:
    """Hands out the parameters in the order of the layers."""

    def __init__(self):
        self.at = 0

    def scale(self, x):
        w = weights(self.at, 64) + weights(self.at + 64, 64)
        self.at += 128
        return x * w.reshape(2, 32) + np.float32(0.5)


def add(a, b):
    return a + 2 * b


def diamond(x):
    w = Weights()
    l1 = w.scale(x)
    l2, l3 = w.scale(l1), w.scale(l1)
    l4 = add(l2, l3)
    l5 = w.scale(l4)
    l6 = add(l5, l1)
    return add(w.scale(l6), x)


def two_by_two(a, b):
    w = Weights()
    l2, l3 = w.scale(a), w.scale(b)
    return add(l2, l3), w.scale(l3)


def frames(n, seed=0):
    return np.random.default_rng(seed).standard_normal((2 * n, 32)).astype(np.float32)


def over(function, *stacks):
    """The function on each frame, results stacked."""
    n = stacks[0].shape[0] // 2
    results = [function(*(s[2 * f:2 * f + 2] for s in stacks)) for f in range(n)]
    if isinstance(results[0], tuple):
        return tuple(np.concatenate(part) for part in zip(*results))
    return np.concatenate(results)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.weights("diamond", self.folder / "toy.safetensors")

    def weights(self, net, path):
        subprocess.run([PROGRAM, "--write-weights", path], env={**os.environ, "TOY_NET": net}, check=True)

    def run_program(self, *arguments, owner="", ranks=1, by="threads", started=None, stdin=None, **environment):
        env = {k: v for k, v in os.environ.items()}
        env.update({k: str(v) for k, v in environment.items()})
        if owner:
            env["TOY_OWNER"] = owner
        command = [PROGRAM, *map(str, arguments)]
        if by == "mpi":
            command = [MPIRUN, "--oversubscribe", "--bind-to", "none", "-np", str(started or ranks), *command]
        elif ranks > 1:
            command += ["--transport", "in-process"]
        began = time.monotonic()
        done = subprocess.run(command, env=env, cwd=self.folder, text=True, capture_output=True, stdin=stdin, timeout=LIMIT)
        done.stderr = done.stderr.replace("\0", "")  # mpirun of Open MPI 5.0 writes one behind each of its messages
        self.seconds = time.monotonic() - began
        return done

    def assert_done(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def assert_fails(self, done, code, *texts):
        """There is a single message, and it contains all the texts."""
        self.assertEqual(done.stderr.count("dice: error:"), 1, done.stdout + done.stderr)
        message = next(line for line in done.stderr.splitlines() if "dice: error:" in line)
        self.assertTrue(message.startswith("dice: error:"), message)
        for text in texts:
            self.assertIn(text, message)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertLess(self.seconds, 10)
        return message

    def levels(self):
        """For which boards or levels there are kernels, and the one that runs here; "" without any."""
        names, _, here = self.run_program("--version").stdout.partition("kernels for ")[2].strip().partition("; here ")
        return names, here or names

    def ways(self, ranks):
        return ["threads"] + (["mpi"] if MPIRUN and ranks > 1 else [])


PLACEMENTS = [("0,0,0,0,0,0,0,0,0,0", 1), ("0,0,0,0,0,1,1,1,1,1", 2), ("0,0,0,1,1,0,0,1,0,0", 2), ("2,1,0,2,1,0,2,1,0,1", 3),
              ("0,1,2,3,0,1,2,3,0,1", 4)]


class Runs(Case):
    def test_results(self):
        x = frames(13)
        np.save(self.folder / "in.npy", x)
        wanted = over(diamond, x)
        for owner, ranks in PLACEMENTS:
            for by in self.ways(ranks):
                for more in [["--warmup", "3"], ["--gather"], ["--in-flight", "1"]][:1 if by == "mpi" and ranks == 4 else 3]:
                    with self.subTest(owner=owner, by=by, more=more):
                        done = self.run_program("--input", "in.npy", "--output", "out.npy", "--json", "run.json", *more,
                                                owner=owner, ranks=ranks, by=by, TOY_SLOW=200)
                        self.assert_done(done)
                        out = np.load(self.folder / "out.npy")
                        self.assertEqual((out.shape, out.dtype, out.flags.c_contiguous), (wanted.shape, np.float32, True))
                        np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-5)
                        (self.folder / "out.npy").unlink()
                        self.check_json(json.loads((self.folder / "run.json").read_text()), 13, ranks)
                        self.assertEqual(done.stderr, "")

    def check_json(self, run, count, ranks):
        self.assertEqual(list(run), ["frames", "frames_per_second", "latency_ms", "ranks"])
        self.assertEqual(run["frames"], count)
        self.assertGreater(run["frames_per_second"], 0)
        self.assertEqual(list(run["latency_ms"]), ["min", "median", "p95", "p99", "max"])
        values = list(run["latency_ms"].values())
        self.assertEqual(values, sorted(values))
        self.assertLess(values[-1], 1e4)
        self.assertEqual([r["rank"] for r in run["ranks"]], list(range(ranks)))
        for r in run["ranks"]:
            self.assertEqual(list(r), ["rank", "host", "compute_ms", "wait_ms", "input_ms", "bytes_sent", "peak_rss_bytes", "planned_bytes",
                                       "cores", *(["kernels"] if self.levels()[0] else [])])
            self.assertEqual(r.get("kernels", ""), self.levels()[1])
            self.assertEqual(list(r["cores"]), ["count", "threads", "waited_ms", "stolen_ms", "throttled_ms", "other_programs_ms"])
            self.assertGreater(r["peak_rss_bytes"], 1 << 20)
            self.assertGreater(r["planned_bytes"], 0)
            self.assertEqual(r["bytes_sent"] % (256 * count), 0)
        self.assertEqual(ranks > 1, sum(r["bytes_sent"] for r in run["ranks"]) > 0)

    def test_several_inputs_and_outputs(self):
        self.weights("two", self.folder / "toy.safetensors")
        a, b = frames(5, 1), frames(5, 2)
        np.save(self.folder / "a.npy", a)
        np.save(self.folder / "b=1.npy", b)
        first, second = over(two_by_two, a, b)
        for owner, ranks in [("0,0,0,0,0,0,0,0", 1), ("0,1,0,1,0,0,1,1", 2), ("3,2,1,0,1,2,3,0", 4)]:
            for by in self.ways(ranks):
                with self.subTest(owner=owner, by=by):
                    done = self.run_program("--input", "in.0=a.npy", "--input=l1=b=1.npy", "--output", "out.5=five.npy", "--output",
                                            "l7=seven.npy", "--gather", owner=owner, ranks=ranks, by=by, TOY_NET="two")
                    self.assert_done(done)
                    np.testing.assert_allclose(np.load(self.folder / "five.npy"), first, rtol=1e-5, atol=1e-5)
                    np.testing.assert_allclose(np.load(self.folder / "seven.npy"), second, rtol=1e-5, atol=1e-5)
        self.assert_fails(self.run_program("--input", "a.npy", TOY_NET="two"), 2, "--input", "NAME=FILE", "in.0, in.1")
        self.assert_fails(self.run_program("--input", "in.0=a.npy", TOY_NET="two"), 2, "no frames given for input in.1")
        np.save(self.folder / "b.npy", frames(4))
        self.assert_fails(self.run_program("--input", "in.0=a.npy", "--input", "in.1=b.npy", TOY_NET="two"), 1, "5 frames", "4")

    def test_files_and_frames(self):
        x, y = frames(3, 1), frames(2, 2)
        np.save(self.folder / "x.npy", x)
        np.save(self.folder / "y.npy", np.asfortranarray(y))
        given = np.concatenate([x, y])
        self.assert_done(self.run_program("--input", "x.npy", "--input", "y.npy", "--output", "out.npy", "--frames", "12"))
        wanted = over(diamond, np.concatenate([given, given, given])[:24])
        np.testing.assert_allclose(np.load(self.folder / "out.npy"), wanted, rtol=1e-5, atol=1e-5)
        self.assert_done(self.run_program("--input", "x.npy", "--output", "out.npy", "--frames", "2", "--warmup", "7"))
        np.testing.assert_allclose(np.load(self.folder / "out.npy"), over(diamond, x[:4]), rtol=1e-5, atol=1e-5)

    def test_numbers_that_are_not_finite(self):
        """--check-numbers names the first tensor that holds them: an input, or the first layer that makes them."""
        large = np.full((2, 32), 3e38, np.float32)
        w = Weights()
        with np.errstate(over="ignore"):
            first = w.scale(large)
            second, third = w.scale(first), w.scale(first)
            added = add(second, third)
        row, column = np.argwhere(np.isfinite(second) & np.isfinite(third) & ~np.isfinite(added))[0]
        sign = "-" if added[row, column] < 0 else ""
        x = np.ones((8, 32), np.float32)
        for value, file in (-np.inf, "infinite.npy"), (3e38, "large.npy"):
            x[4 + row, column] = value  # frame 2
            np.save(self.folder / file, x)
        for owner, ranks in PLACEMENTS[:3]:
            with self.subTest(owner=owner):
                go = lambda *a, by="threads": self.run_program("--frames", 9, *a, owner=owner, ranks=ranks, by=by)
                of = lambda rank: f"rank {rank} (host " if ranks > 1 else "host "
                self.assert_done(go("--check-numbers", "--random", 1))
                self.assert_done(go("--input", "infinite.npy"))
                self.assert_fails(go("--check-numbers", "--input", "infinite.npy"), 1, of(owner[0]),
                                  f", frame 2, layer 'in.0': the input itself holds -inf at [{row}, {column}]; correct the frames")
                for by in self.ways(ranks if owner == PLACEMENTS[2][0] else 1):
                    self.assert_fails(go("--check-numbers", "--input", "large.npy", by=by), 1, of(owner[2 * 4]),
                                      f", frame 2, layer '/node/4': its result holds {sign}inf at [{row}, {column}]; its inputs are "
                                      "finite, so look at its weights")
        done = self.run_program("--check-numbers", "--input", "large.npy", "--warmup", 3)
        self.assert_fails(done, 1, "warm-up frame 2, layer '/node/4'")

    def test_random_frames_depend_on_the_seed_alone(self):
        outs = {}
        for owner, ranks in PLACEMENTS[:3]:
            for seed in (1, 2):
                self.assert_done(self.run_program("--random", seed, "--frames", 6, "--output", "o.npy", owner=owner, ranks=ranks))
                outs.setdefault(seed, []).append(np.load(self.folder / "o.npy"))
        for same in outs.values():
            for other in same[1:]:
                np.testing.assert_array_equal(same[0], other)
        self.assertFalse(np.allclose(outs[1][0], outs[2][0]))
        self.assertFalse(np.allclose(outs[1][0][:2], outs[1][0][2:4]))

    def test_random_frames_of_each_input_depend_neither_on_its_rank_nor_on_other_inputs(self):
        self.weights("two", self.folder / "toy.safetensors")
        np.save(self.folder / "a.npy", frames(6))
        outs = []
        for owner, ranks in [("0,0,0,0,0,0,0,0", 1), ("0,1,0,1,0,0,1,1", 2)]:
            for given in [], ["--input", "in.0=a.npy"]:
                self.assert_done(self.run_program("--random", 1, "--frames", 6, *given, "--output", "l7=o.npy", owner=owner, ranks=ranks,
                                                  TOY_NET="two"))
                outs.append(np.load(self.folder / "o.npy"))  # of in.1 only
        for other in outs[1:]:
            np.testing.assert_array_equal(outs[0], other)

    def test_expect(self):
        x = frames(4)
        np.save(self.folder / "in.npy", x)
        right = over(diamond, x)
        np.save(self.folder / "right.npy", right)
        wrong = right.copy()
        wrong[3, 4] += 1e-2 * np.abs(right).max()
        np.save(self.folder / "wrong.npy", wrong)
        nan = right.copy()
        nan[0, 0] = np.nan
        np.save(self.folder / "nan.npy", nan)
        np.save(self.folder / "short.npy", right[:6])
        for owner, ranks in PLACEMENTS[:3]:
            for by in self.ways(ranks):
                with self.subTest(owner=owner, by=by):
                    go = lambda *a: self.run_program("--input", "in.npy", *a, owner=owner, ranks=ranks, by=by)
                    self.assert_done(go("--expect", "right.npy"))
                    self.assert_done(go("--expect", "right.npy", "--frames", "9"))
                    self.assert_done(go("--expect", "wrong.npy", "--tolerance", "0.02"))
                    self.assert_fails(go("--expect", "wrong.npy"), 1, "wrong.npy", "error 0.01 ", "0.0001")
                    self.assert_fails(go("--expect", "nan.npy"), 1, "nan")
                    self.assert_fails(go("--expect", "short.npy"), 1, "3 frames", "4")
        np.save(self.folder / "flat.npy", right.reshape(4, 64))
        message = self.assert_fails(self.run_program("--input", "in.npy", "--expect", "flat.npy"), 1, "holds float32 (4, 64)",
                                    "give the expected results as --output writes them")
        self.assertNotIn("onnx2hpp", message)

    def test_top(self):
        x = frames(2)
        np.save(self.folder / "in.npy", x)
        (self.folder / "labels.txt").write_text("".join(f"name{i}\n" for i in range(32)))
        y = over(diamond, x).reshape(4, 32)  # a frame is a batch of two
        for owner, ranks in PLACEMENTS[:2]:
            for by in self.ways(ranks):
                done = self.run_program("--input", "in.npy", "--top", 3, "--labels", "labels.txt", owner=owner, ranks=ranks, by=by)
                self.assert_done(done)
                lines = [line for line in done.stdout.splitlines() if line.startswith("frame ") and ":" in line]
                for p in range(4):
                    best = np.argsort(-y[p], kind="stable")[:3]
                    self.assertEqual(lines[p], f"frame {p // 2} [{p % 2}]: " + ", ".join(f"{i} name{i} {y[p][i]:.4g}" for i in best))
                self.assertEqual(done.stderr, "")
                if by == "threads":  # mpirun may print what ranks print in any order
                    self.assertLess(done.stdout.index("latency median"), done.stdout.index("frame 0 [0]: "))
        for few, text in (("one\ntwo\n", "has 2 labels for"), ("one\n", "has 1 label for")):
            (self.folder / "few.txt").write_text(few)
            done = self.run_program("--input", "in.npy", "--top", 3, "--labels", "few.txt")
            self.assert_done(done)
            self.assertIn(text + " the 32 numbers of a row of output 'out.9'", done.stderr)

    def test_output_to_a_device_stays_a_device(self):
        self.assert_done(self.run_program("--random", 1, "--output", "/dev/null"))
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())


class Plans(Case):
    def test_plan(self):
        done = self.run_program("--plan=json", owner="0,0,0,1,1,0,0,1,0,0", PATH="")
        self.assert_done(done)
        plan = json.loads(done.stdout)
        self.assertEqual([r["layers"] for r in plan["ranks"]], [[0, 1, 2, 5, 6, 8, 9], [3, 4, 7]])
        for r in plan["ranks"]:
            self.assertLessEqual({"rank", "unit", "layers", "macs", "weight_bytes", "arena_bytes", "peak_bytes"}, set(r))
            self.assertEqual(r["peak_bytes"], r["weight_bytes"] + r["arena_bytes"])
        for m in plan["messages"]:
            self.assertEqual(set(m), {"from", "to", "tag", "layer", "bytes"})
            self.assertEqual(m["bytes"], 256)
        text = self.run_program("--plan", owner="0,0,0,1,1,0,0,1,0,0")
        self.assert_done(text)
        self.assertIn("l0 … l2", text.stdout)

    def test_help_and_version(self):
        self.assertIn("--in-flight", self.run_program("--help").stdout)
        self.assertEqual(self.run_program("--help").stdout, self.run_program("-h").stdout)
        self.assertRegex(self.run_program("--version").stdout, r"^dice 1\.2\.3\n(kernels for [^\n]+\n)?$")
        unknown = self.run_program("--version", DICE_CPU_LEVEL="x86-64-v9")
        self.assert_done(unknown)
        names, here = self.levels()
        self.assertIn(here, names.split(", "))
        if names:
            self.assertIn(f"kernels for {names}: DICE_CPU_LEVEL is 'x86-64-v9', which", unknown.stdout)


class Refusals(Case):
    def test_usage(self):
        for arguments, texts in [([], ["--input", "--random"]), (["--inptu", "x"], ["--inptu", "did you mean --input?"]),
                                 (["x.npy"], ["unexpected argument 'x.npy'"]), (["--random", "x"], ["--random", "'x'"]),
                                 (["--random", "1", "--frames", "0"], ["--frames", "'0'"]), (["--input"], ["--input", "missing"]),
                                 (["--random", "1", "--in-flight", "5"], ["--in-flight", "allows, 4"]),
                                 (["--random=-1"], ["--random"]), (["--random", "1", "--tolerance", "1"], ["--expect"]),
                                 (["--random", "1", "--random", "2"], ["twice"]), (["--plan=xml"], ["xml"]),
                                 (["--random", "1", "--output", "a", "--output", "b"], ["two files"]),
                                 (["--random", "1", "--output", "l8=a"], ["no output 'l8'", "its output is out.9", "./l8=a"]),
                                 (["--input", "l1=in.npy"], ["no input 'l1'", "its input is in.0"]),
                                 (["--gather=1"], ["takes no value"]), (["--random", "1", "--expect", "a", "--tolerance", "nan"], ["nan"])]:
            with self.subTest(arguments):
                self.assert_fails(self.run_program(*arguments), 2, *texts)
                if MPIRUN and arguments in ([], ["x.npy"]):
                    self.assert_fails(self.run_program(*arguments, owner="0,0,0,0,0,1", ranks=2, by="mpi"), 2, *texts)

    def test_a_level_that_the_program_has_not(self):
        for by in self.ways(2):
            done = self.run_program("--random", 1, owner="0,0,0,0,0,1", ranks=2, by=by, DICE_CPU_LEVEL="x86-64-v9")
            where = f"host {os.uname().nodename}: " if by == "mpi" else ""
            self.assert_fails(done, 1, f"dice: error: {where}DICE_CPU_LEVEL is 'x86-64-v9', ", "; unset the variable")
        if MPIRUN:  # only one rank wants it, which is not the first of its host
            rank = [PROGRAM, "--random", "1"]
            began = time.monotonic()
            done = subprocess.run([MPIRUN, "--oversubscribe", "--bind-to", "none",
                                   *of_ranks(rank, ["env", "DICE_CPU_LEVEL=x86-64-v9", *rank])],
                                  env={**os.environ, "TOY_OWNER": "0,0,0,0,0,1"}, cwd=self.folder, text=True, capture_output=True,
                                  timeout=LIMIT)
            self.seconds = time.monotonic() - began
            self.assert_fails(done, 1, "dice: error: host ", ": DICE_CPU_LEVEL is 'x86-64-v9', ")
        self.assert_done(self.run_program("--plan", DICE_CPU_LEVEL="x86-64-v9"))
        for level in filter(None, self.levels()):
            self.assert_done(self.run_program("--random", 1, DICE_CPU_LEVEL=level.split(", ")[0]))

    def test_a_mistake_of_one_rank_names_it(self):
        if not MPIRUN:
            self.skipTest("no mpirun")
        rank = [PROGRAM, "--random", "1"]
        began = time.monotonic()
        done = subprocess.run([MPIRUN, "--oversubscribe", "--bind-to", "none", *of_ranks(rank, [*rank, "--frames", "x"])],
                              env={**os.environ, "TOY_OWNER": "0,0,0,0,0,1"}, cwd=self.folder, text=True, capture_output=True,
                              timeout=LIMIT)
        self.seconds = time.monotonic() - began
        self.assert_fails(done, 2, "dice: error: rank 1 (host ", "): --frames: 'x' is not")
        done = self.run_program("--random", 1, "--frames", "x", owner="0,0,0,0,0,1", ranks=2, by="mpi")
        self.assert_fails(done, 2, "dice: error: --frames: 'x' is not")  # of all ranks

    def test_weights(self):
        good = self.folder / "toy.safetensors"
        data = good.read_bytes()
        cases = {"missing": None, "foreign": data.replace(b"aaaa1010", b"bbbb1010"), "old": data.replace(b"dice_structure", b"dice_str_cture"), "cut short": data[:-4], "too long": data + b"0",
                 "empty": b"", "not safetensors": b"x" * 100, "header": (1 << 40).to_bytes(8, "little") + data[8:],
                 "json": data[:8] + b"[" + data[9:], "undigested": data.replace(b"dice_digest", b"dice_dogest")}
        texts = {"missing": ["not found", "--weights", str(self.folder)], "foreign": ["belongs to another network than toy", "compile the program again"], "old": ["was written by an older onnx2hpp"],
                 "cut short": ["cut short"], "too long": ["too long"], "undigested": ["onnx2hpp"]}
        for case, content in cases.items():
            good.unlink(missing_ok=True)
            if content is not None:
                good.write_bytes(content)
            for owner, ranks in PLACEMENTS[:2]:
                for by in self.ways(ranks) if case in ("missing", "foreign") else ["threads"]:
                    with self.subTest(case=case, by=by, ranks=ranks):
                        done = self.run_program("--random", 1, owner=owner, ranks=ranks, by=by)
                        self.assert_fails(done, 1, *texts.get(case, ["not a safetensors"]))
        self.assert_fails(self.run_program("--random", 1, "--weights", "elsewhere"), 1, "'elsewhere'", "No such file", "give --weights the")
        self.assert_fails(self.run_program("--random", 1, "--weights", "/"), 1, "regular")
        good.write_bytes(data)
        (self.folder / "copy").write_bytes(data)
        good.unlink()
        self.assert_done(self.run_program("--random", 1, "--weights", "copy"))

    def test_inputs(self):
        x = frames(2)
        np.save(self.folder / "double.npy", x.astype(np.float64))
        np.save(self.folder / "shape.npy", x.reshape(4, 8, 4))
        np.save(self.folder / "odd.npy", x[:3])
        np.save(self.folder / "none.npy", x[:0])
        np.save(self.folder / "good.npy", x)
        (self.folder / "cut.npy").write_bytes((self.folder / "good.npy").read_bytes()[:-1])
        (self.folder / "text.npy").write_text("no tensor at all")
        huge = (self.folder / "good.npy").read_bytes().replace(b"(4, 32), }", b"(4000000000000000, 32), }")[:128]
        (self.folder / "huge.npy").write_bytes(huge)
        for file, texts in {"double.npy": ["float64 (4, 32)", "float32 (N·2, 32)", ".astype(np.float32)"], "shape.npy": ["(4, 8, 4)", "(N·2, 32)"], "odd.npy": ["(3, 32)"],
                            "none.npy": ["no frame"], "cut.npy": ["cut short"], "text.npy": ["neither a .npy file"], "huge.npy": ["damaged"],
                            "absent.npy": ["No such file"], "toy.safetensors": ["neither a .npy file nor a JPEG or PNG picture"]}.items():
            for owner, ranks in PLACEMENTS[:2]:
                for by in self.ways(ranks) if file in ("double.npy", "absent.npy") else ["threads"]:
                    with self.subTest(file=file, by=by):
                        self.assert_fails(self.run_program("--input", file, owner=owner, ranks=ranks, by=by), 1, f"'{file}'", *texts)

    def test_outputs_that_cannot_be_written(self):
        for owner, ranks in PLACEMENTS[:2]:
            for by in self.ways(ranks):
                done = self.run_program("--random", 1, "--output", "nowhere/o.npy", owner=owner, ranks=ranks, by=by)
                self.assert_fails(done, 1, "nowhere/o.npy")
        for option in ("--output", "--json"):  # detected before the first frame
            self.assert_fails(self.run_program("--random", 1, option, "nowhere/o", TOY_FAIL_AFTER=0), 1, "nowhere/o")
        self.assert_fails(self.run_program("--random", 1, "--frames", 4000, "--output", "/dev/full"), 1, "/dev/full")

    def test_an_output_that_nobody_reads(self):
        """Files are written first. Output that cannot be printed is an error."""
        files = [self.folder / "o.npy", self.folder / "run.json"]
        command = [PROGRAM, "--random", "1", "--top", "32", "--frames", "3000", "--output", files[0], "--json", files[1]]
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 1)
        failed = "dice: error: the standard output cannot be written: "  # other lines: warnings about this machine
        self.assertEqual(done.stderr.splitlines()[-1], failed + "No space left on device")
        for file in files:
            file.unlink()
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(command, cwd=self.folder, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (1, failed + "Broken pipe"))
        self.assertEqual(np.load(files[0]).shape, (6000, 32))
        self.assertEqual(json.loads(files[1].read_text())["frames"], 3000)
        for option in ("--plan=json", "--help", "--version"):
            with open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, option], stdout=full, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 1, option)
            self.assertIn("dice: error: the standard output", done.stderr)

    def test_a_rank_that_fails(self):
        for by in self.ways(2):
            done = self.run_program("--random", 1, "--frames", 100, owner="0,0,0,0,0,1,1,1,0,0", ranks=2, by=by, TOY_FAIL_AFTER=17)
            self.assert_fails(done, 1, "rank 1 (host ", ", frame 17, layer '/node/6': this kernel fails as it was told")
            done = self.run_program("--random", 1, "--frames", 9, "--warmup", 99, owner="0,0,0,0,0,1,1,1,0,0", ranks=2, by=by,
                                    TOY_FAIL_AFTER=17)
            self.assert_fails(done, 1, "warm-up frame 17")
        done = self.run_program("--random", 1, "--frames", 100, TOY_FAIL_AFTER=3)
        self.assert_fails(done, 1, "frame 3")


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
