#!/usr/bin/env python3
"""test_try.py DICE_TESTBED CLUSTER_APP TOY_APP: a program on the hosts of its cluster, emulated. Without root and network
namespaces, only what is said before hosts are made."""
import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

TESTBED, APP, TOY = (sys.argv.pop(1) for _ in range(3))
HERE = {**os.environ, "TESTBED_NAME": f"try{os.getpid()}"}


def bed(*arguments, code=0):
    done = subprocess.run([TESTBED, *map(str, arguments)], capture_output=True, text=True, timeout=100, env=HERE)
    assert code is None or done.returncode == code, f"exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done


@functools.cache
def why_no_hosts():
    if os.geteuid() != 0:
        return "hosts need root"
    up = subprocess.run([TESTBED, "up", "1", "--wire"], capture_output=True, text=True, env=HERE)
    subprocess.run([TESTBED, "down"], capture_output=True, env=HERE)
    return "" if up.returncode == 0 else "hosts cannot be made here: " + up.stderr.strip().splitlines()[-1]


class Try(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        header = json.dumps({"__metadata__": dict.fromkeys(["dice_structure", "dice_digest", "model_sha256"], "0" * 64),
                             "all": {"dtype": "F32", "shape": [1440], "data_offsets": [0, 5760]}})
        header += " " * (-(len(header) + 8) % 64)
        self.weights = self.folder / "zeros.safetensors"
        self.weights.write_bytes(len(header).to_bytes(8, "little") + header.encode() + bytes(5760))

    def test_dry_run_shows_hosts_and_the_command(self):
        done = bed("try", "--dry-run", "--seconds", 0.1, "--slower", 1000, "--json", self.folder / "out.json", APP, "--weights", self.weights, "--random", 2)
        self.assertTrue(done.stderr.startswith("step 1 of 1: the whole network on a thread of this machine\n"), done.stderr)
        self.assertIn("2 hosts, 1000 times slower than stated", done.stderr)
        self.assertRegex(done.stderr, r"q \(quick\): the whole network takes [\d.]+ ms")
        # Ranks on their hosts, in order; one thread in place of cores that this machine may not have.
        self.assertRegex(done.stdout, r"(?s)run -h q mpirun -n 1 --host q \S+/cluster_app --mapping '.*dev<0, threads<1>, dice::on<\"q\">>.*"
                                      r"dev<1, threads<1>, .* --weights \S+ --random 2 : -n 1 --host s ")
        out = json.loads((self.folder / "out.json").read_text())
        self.assertEqual([h["host"] for h in out["hosts"]], ["s", "q"])
        self.assertEqual(out["links"], [{"hosts": ["s", "q"], "mbit_per_s": 4000, "us": 1}])
        self.assertEqual([rank["host"] for rank in out["ranks"]], ["q", "s"])
        self.assertEqual(out["slower"], 1000)
        self.assertTrue(out["predicted_frames_per_s"] > 1e5 and 0 < out["predicted_latency_s"] < 1e-3, out)
        self.assertIn(f"takes {next(h['network_s'] for h in out['hosts'] if h['host'] == 'q') * 1e3:.3g} ms, ", done.stderr)

    def test_mistakes_are_named(self):
        self.assertIn("'nothing' is not a program", bed("try", "--dry-run", "nothing", code=1).stderr)
        self.assertIn("toy_app has no cluster: write it as the third argument of dice::main", bed("try", "--dry-run", TOY, code=1).stderr)
        self.assertIn("is not a program of dice", bed("try", "--dry-run", "/bin/true", code=1).stderr)
        self.assertIn("--explain compares with this machine's kernels", bed("try", "--dry-run", APP, "--explain", code=2).stderr)
        self.assertIn("--slower needs a number above 0", bed("try", "--slower", 0, APP, code=2).stderr)
        self.assertIn("--seconds needs a number above 0", bed("try", "--seconds", 0, APP, code=2).stderr)
        self.assertIn("weights file 'nothing' cannot be opened", bed("try", "--dry-run", APP, "--weights", "nothing", code=1).stderr)

    @unittest.skipIf(os.geteuid() != 0, "needs root")
    def test_hosts_that_cannot_be(self):
        self.addCleanup(bed, "down")
        for arguments, said in ((("3", "--names", "a,b,a"), "--names: 'a,b,a' names a host twice"), (("3", "--names", "a,b"), "--names has 2 names for 3 hosts"), (("2", "--names", "a"), "--names has 1 name for 2 hosts"),
                                (("1", "--names", "-a"), "has a name that no host can have"), (("0",), "needs a number of hosts (1-250)"),
                                (("251",), "needs a number of hosts (1-250)"), (("1", "--rate", "1mb"), "bad rate '1mb'"), (("1", "--delay", "1"), "bad time '1'"),
                                (("1", "--loss", "x"), "bad loss 'x%'"), (("1", "--preset", "5g"), "unknown preset 5g"), (("1", "--cpu"), "--cpu needs a value"),
                                (("1", "--cpu", "0"), "bad CPU share '0'")):
            self.assertIn(said, bed("up", *arguments, code=2).stderr)
            self.assertIn("is not up", bed("status", code=1).stderr)

    def test_kernels_of_slower_hosts_take_longer(self):
        def seconds(factor):
            subprocess.run([APP, "--transport", "in-process", "--weights", self.weights, "--random", "1", "--frames", "20", "--json",
                            self.folder / "run.json"], env={**os.environ, "DICE_COMPUTE_SLOWER": factor}, check=True, capture_output=True)
            return 1 / json.loads((self.folder / "run.json").read_text())["frames_per_second"]
        # The fastest of five: 20 frames take a tenth of a millisecond, and a busy machine takes the core away for longer.
        self.assertGreater(seconds("1000"), 20 * min(seconds("no number") for _ in range(5)))

    def test_profiles_of_slower_hosts(self):
        profile = self.folder / "profile.json"
        def ms(factor):
            subprocess.run([APP, "--transport", "in-process", "--mapping", "mapping<dev<0, threads<3>>, layers<all>>", "--weights", self.weights, "--random", "1", "--frames", "9", "--profile", profile],
                           env={**os.environ, "DICE_COMPUTE_SLOWER": factor}, check=True, capture_output=True)
            return sum(layer["median_ms"] for layer in json.loads(profile.read_text())["ranks"][0]["layers"])
        self.assertGreater(ms("1000"), 20 * min(ms("1") for _ in range(5)))

    @unittest.skipIf(why_no_hosts(), why_no_hosts())
    def test_program_runs_on_emulated_hosts(self):
        done = bed("try", "--seconds", 0.2, "--slower", 500, "--json", self.folder / "out.json", APP, "--weights", self.weights)
        self.assertRegex(done.stdout, r"^[\d.e+]+ frames/s, predicted 1\.4\d*e\+05; a single frame takes [\d.]+ ms, predicted 0\.0\d+\n$")
        out = json.loads((self.folder / "out.json").read_text())
        # Far from the prediction on a busy machine, but not by 500 twice.
        self.assertTrue(0.1 < out["latency_s"] / out["predicted_latency_s"] < 1000, out)
        self.assertTrue(0.001 < out["frames_per_s"] / out["predicted_frames_per_s"] < 10, out)
        for host in out["hosts"]:  # not as fast as this machine, which is the mistake to find
            self.assertGreater(host["measured_s"], host["network_s"] / 2)
        self.assertIn("is not up", bed("status", code=1).stderr)
        self.assertIn("is not up", bed("cut", "q", code=1).stderr)
        self.addCleanup(bed, "down")
        done = bed("try", "--keep", "--seconds", 0.1, "--slower", 500, APP, "--weights", self.weights, "--random", 1, "--frames", 3)
        self.assertIn("3 frames in", done.stdout)
        self.assertIn("the real cluster would be 500 times as fast\n", done.stderr)
        self.assertNotIn("is meant for host", done.stderr)  # each rank is where on<> says
        rate = f"{4000 * 1538 / 1448 / 500:.3f}"  # of a full frame, 1448 bytes are data
        for host, other in ("s", "02"), ("q", "01"):
            self.assertRegex(bed("status").stdout, rf"(?s){host}: link up.*?mbit_per_s = 0 0 0 {rate}\n    to 02:00:00:00:00:{other} 0 {rate}  ")
        self.assertIn("a test bed of this name is up; remove it (dice-testbed down)", bed("try", APP, code=1).stderr)
        bed("down")
        done = bed("try", "--seconds", 0.1, "--slower", 500, APP, "--weights", self.weights, "--bogus", code=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("as fast", done.stderr)

    @unittest.skipIf(why_no_hosts(), why_no_hosts())
    def test_each_step_is_announced(self):
        # The least takes longer than --seconds: ten frames and three.
        done = bed("try", "--seconds", 0.001, "--slower", 2000, APP, "--weights", self.weights)
        steps = re.findall(r"step (\d of \d): (.*)", done.stderr)
        self.assertEqual([k for k, _ in steps], [f"{k} of 6" for k in range(1, 7)], done.stderr)
        for (_, said), starts in zip(steps, ("the whole network on a thread of this machine", "making the hosts", "the whole network on s, ", "the whole network on q, ",
                                             "10 random frames, as many as fit at once, ", "3 random frames, one by one, ")):
            self.assertTrue(said.startswith(starts), said)
        self.assertRegex(steps[4][1], r"about \d+ s$|less than a second$")
        done = bed("try", "--seconds", 0.1, "--slower", 500, APP, "--weights", self.weights, "--random", 1)
        self.assertIn("\nstep 5 of 5: the program with its arguments\n", done.stderr)

    @unittest.skipIf(why_no_hosts(), why_no_hosts())
    def test_signals_remove_the_hosts(self):
        self.addCleanup(bed, "down")
        for number, step in (signal.SIGTERM, 2), (signal.SIGHUP, 2), (signal.SIGTERM, 3), (signal.SIGHUP, 5):
            with subprocess.Popen([TESTBED, "try", "--keep", "--seconds", "0.5", "--slower", "500", APP, "--weights", self.weights], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=HERE) as run:
                while not (line := run.stderr.readline()).startswith(f"step {step} of 6"):
                    self.assertTrue(line, run.poll())
                if step == 2:  # while they are made
                    while not pathlib.Path("/run/testbed", HERE["TESTBED_NAME"], "hostfile").exists():
                        self.assertIsNone(run.poll())
                run.send_signal(number)
                said = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 128 + number, said)
            if step == 5:  # they are complete: --keep keeps them, as after Ctrl-C
                self.assertIn("q: link up", bed("status").stdout)
                bed("down")
            left = subprocess.run("ip netns list; ls /run/testbed", shell=True, stdout=subprocess.PIPE, text=True).stdout
            self.assertNotIn(HERE["TESTBED_NAME"], left, f"signal {number} in step {step}")

    @unittest.skipIf(why_no_hosts(), why_no_hosts())
    def test_a_folder_is_limited_once(self):
        self.addCleanup(bed, "down")
        (self.folder / "site").mkdir()
        bed("up", "1", "--folder", self.folder / "site")
        bed("disk", "h1", "3m")
        self.assertIn("h1 has a limited folder already; it cannot be changed: dice-testbed down, then up", bed("disk", "h1", "3m", code=1).stderr)


if __name__ == "__main__":
    unittest.main()
