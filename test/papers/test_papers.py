#!/usr/bin/env python3
"""test_papers.py FOLDER: the simulations of bench/papers on cases worked out by hand; every command has a help text."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(sys.argv.pop(1))
sys.path.append(str(FOLDER))
import simulate  # noqa: E402
import bed  # noqa: E402


class Simulations(unittest.TestCase):
    def told(self, got, frames_per_second, seconds):
        self.assertAlmostEqual(got[0], frames_per_second)
        self.assertAlmostEqual(got[1], seconds)

    def test_a_pipeline_with_time_to_spare(self):
        # One frame per second, each done 0.9 s after it arrived: the third at 2.9 s.
        self.told(simulate.pipeline([0.3, 0.1, 0.5], 4, 1, 3), 3 / 2.9, 0.9)

    def test_a_link_that_limits_a_pipeline(self):
        # All arrive almost at once. The link is done with frame k at 0.2 + 0.5 (k + 1), the last stage 0.1 later.
        self.told(simulate.pipeline([0.2, 0.5, 0.1], 4, 1e9, 3), 3 / 1.8, 1.3)

    def test_messages_keep_stages_busy(self):
        # The first stage begins a frame every 0.6 s; each leaves 0.8 s after it began.
        self.told(simulate.pipeline([0.2, 0.5, 0.1], 4, 1e9, 3, [0.4, 0, 0]), 3 / 2.0, 1.4)

    def test_frames_in_flight_limit_a_pipeline(self):
        # One at a time: 0.8 s each.
        self.told(simulate.pipeline([0.2, 0.5, 0.1], 1, 1e9, 3), 3 / 2.4, 1.6)
        # Two at a time: the third enters at 0.8, when the first leaves; it is on the link from 1.2, after the second, to
        # 1.7.
        self.told(simulate.pipeline([0.2, 0.5, 0.1], 2, 1e9, 3), 3 / 1.8, 1.3)
        # Two at a time through equal stages: frames leave at 3, 4, then 6 and 7, since the third enters at 3 and the fourth
        # at 4.
        self.told(simulate.pipeline([1, 1, 1], 2, 1e9, 4), 4 / 7, 5)

    def test_greedy_takes_the_fastest_that_is_free(self):
        # At a low rate the second host gets nothing.
        self.told(simulate.greedy([0.5, 0.1], 1, 3), 3 / 2.5, 0.5)
        # The frames at 0 and 1 go to the first and the second host. The first is free again at 2, when the third arrives.
        self.told(simulate.greedy([2, 3], 1, 3), 3 / 4, 2)

    def test_greedy_waits_for_the_host_that_is_free_first(self):
        # All arrive at once: the first host finishes frames at 1, 2, 3, 4, the second has one frame until 3.
        self.told(simulate.greedy([1, 3], 1e9, 4), 4 / 3, 2.5)


class Commands(unittest.TestCase):
    def call(self, command, *options):
        return subprocess.run([sys.executable, "-B", FOLDER / command, *options], capture_output=True, text=True)

    def test_help(self):
        for command in "predictions", "autodice", "tvm", "dp", "splits", "schemes":
            with self.subTest(command):
                said = self.call(command, "--help")
                self.assertEqual(said.returncode, 0, said.stderr)
                self.assertIn("--rounds N", said.stdout)
                self.assertEqual("--paper FILE" in said.stdout, command not in ("predictions", "splits", "schemes"))

    def test_help_of_deployments(self):
        said = self.call("deployments", "--help")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("--sysroot DIR", said.stdout)

    def test_mistakes(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            print("{", file=file, flush=True)
            for options, word in (["alexnet"], "there is no alexnet"), (["--paper", file.name], "Expecting property name"), \
                    (["--paper", "/nowhere"], "No such file"):
                said = self.call("tvm", *options)
                self.assertEqual(said.returncode, 2)
                self.assertIn(word, said.stderr)

    def test_networks_are_those_of_models(self):
        text = (FOLDER.parent / "models.py").read_text()
        for name in bed.NETWORKS:
            self.assertIn(f"\ndef {name}(net):", text)


if __name__ == "__main__":
    unittest.main()
