#!/usr/bin/env python3
"""test_figures.py PROGRAM: what --trace and --profile write, with threads and with MPI.  PROGRAM is toy_app, as for
test_program.py."""
import collections
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
import test_program  # noqa: E402
from test_program import Case, MPIRUN

OWNER, RANKS, FRAMES = "0,0,1,1,0,1,2,2,2,2", 3, 25
WAYS = ("threads", "mpi") if MPIRUN else ("threads",)


class Figures(Case):
    def plan(self):
        done = self.run_program("--plan=json", owner=OWNER)
        return json.loads(done.stdout)

    def test_trace(self):
        messages = self.plan()["messages"]
        for by in WAYS:
            with self.subTest(by):
                file = self.folder / f"{by}.json"
                self.assert_done(self.run_program("--random", 1, "--frames", FRAMES, "--warmup", 7, "--trace", file, owner=OWNER,
                                                  ranks=RANKS, by=by))
                events = json.loads(file.read_text())["traceEvents"]
                names = {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
                self.assertEqual([n.split(" (")[0] for n in sorted(names)], ["rank 0", "rank 1", "rank 2"])
                slices = [e for e in events if e["ph"] == "X"]
                # Every layer once for each frame, on its own rank; warm-up frames are excluded.
                counts = collections.Counter((e["name"], e["pid"]) for e in slices)
                for layer, rank in enumerate(map(int, OWNER.split(","))):
                    name = {0: "enter l0", 9: "leave l9"}.get(layer, f"l{layer}")
                    self.assertEqual(counts[name, rank], FRAMES, name)
                    self.assertEqual([r for r in range(RANKS) if counts[name, r]], [rank])
                # Every message of every frame has its arrow, from sender to receiver and forward in time.
                begins = {e["id"]: e for e in events if e["ph"] == "s"}
                ends = {e["id"]: e for e in events if e["ph"] == "f"}
                self.assertEqual(len(begins), FRAMES * len(messages))
                self.assertEqual(begins.keys(), ends.keys())
                pairs = collections.Counter((begins[i]["pid"], ends[i]["pid"]) for i in begins)
                self.assertEqual(pairs, collections.Counter({p: FRAMES * n for p, n in collections.Counter(
                    (m["from"], m["to"]) for m in messages).items()}))
                slack = 0 if by == "threads" else 20000  # µs: messages compare the clocks, on a busy machine
                for i in begins:
                    self.assertGreaterEqual(ends[i]["ts"] - begins[i]["ts"], -slack)

    def test_trace_of_threads(self):
        file = self.folder / "trace.json"
        self.assert_done(self.run_program("--random", 1, "--frames", FRAMES, "--trace", file, owner=OWNER, ranks=RANKS,
                                          OMP_NUM_THREADS=2, TOY_SLOW=200))
        events = json.loads(file.read_text())["traceEvents"]
        for rank in range(RANKS):
            rows = {e["args"]["name"]: e["tid"] for e in events if e["pid"] == rank and e["name"] == "thread_name"}
            self.assertEqual(list(rows), ["thread 0", "thread 1", "messages arrive"])
            first, second = ([e for e in events if e["ph"] == "X" and e["pid"] == rank and e["tid"] == rows[f"thread {t}"]]
                             for t in (0, 1))
            calls = {(e["name"], e["args"]["frame"]): e for e in first if e["name"][:2] in
                     ("l" + digit for digit in "123456789")}
            self.assertEqual(len(second), len(calls))
            for part in second:  # within the first thread's call
                whole = calls[part["name"], part["args"]["frame"]]
                self.assertLessEqual(whole["ts"], part["ts"])
                self.assertLessEqual(part["ts"] + part["dur"], whole["ts"] + whole["dur"] + 1)

    def test_profile(self):
        plan = self.plan()
        for by in WAYS:
            with self.subTest(by):
                file = self.folder / f"{by}.json"
                done = self.run_program("--random", 1, "--frames", FRAMES, "--profile", file, owner=OWNER, ranks=RANKS, by=by,
                                        TOY_SLOW=2000)
                self.assert_done(done)
                profile = json.loads(file.read_text())
                self.assertEqual((profile["network"], profile["frames"]), ("toy", FRAMES))
                self.assertEqual([r["rank"] for r in profile["ranks"]], [0, 1, 2])
                for rank in profile["ranks"]:
                    layers = [i for entry in rank["layers"] for i in entry["ids"]]
                    self.assertEqual(layers, [l for l in plan["ranks"][rank["rank"]]["layers"] if l not in (0, 9)])
                    self.assertAlmostEqual(sum(entry["share"] for entry in rank["layers"]), 1, places=4)
                    for entry in rank["layers"]:
                        # The toy's kernels take 0 to 2 ms at random; a busy machine adds to that.
                        self.assertTrue(0.1 < entry["median_ms"] < 100, entry)
                        self.assertTrue(0.1 < entry["spread_ms"] < 100, entry)
                        self.assertRegex(done.stdout, rf"(?m)^{rank['rank']} +{entry['name']} +{entry['operator']} +[0-9.]+ ")

    def test_files_that_cannot_be_written(self):
        for option in ("--trace", "--profile"):
            self.assert_fails(self.run_program("--random", 1, option, "/nonexistent/file.json"), 1, "/nonexistent/file.json")


if __name__ == "__main__":
    test_program.PROGRAM = sys.argv.pop(1)
    unittest.main()
