#!/usr/bin/env python3
"""test_live.py TOY DIGITS [unittest arguments]: frames from commands, named pipes and cameras, as users give them.

TOY is toy_app, DIGITS the example of that name, or empty.  MPIRUN names mpirun, or is empty.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import test_input
from test_input import EXAMPLE, LIMIT, MPIRUN, Case

TOY = DIGITS = None
OWNERS = ["0,0,0,0,0,1,1,1,0,0", "1,1,1,1,0,0,0,0,0,0"]  # ranks of the toy's layers: input and output in rank 0; in 1 and 0


class Run(subprocess.Popen):
    """Is killed if a check fails."""

    def __exit__(self, wrong, *rest):
        if wrong:
            self.kill()
        return super().__exit__(wrong, *rest)


class Live(Case):
    """The toy's frames: 50 of (2, 32) in in.npy and raw.bin, its results in wanted.npy."""

    def setUp(self):
        super().setUp()
        subprocess.run([TOY, "--write-weights", self.folder / "toy.safetensors"], check=True)
        self.frames = np.random.default_rng(1).normal(size=(100, 32)).astype(np.float32)
        np.save(self.folder / "in.npy", self.frames)
        (self.folder / "raw.bin").write_bytes(self.frames.tobytes())
        self.assert_done(super().start(TOY, "--input", "in.npy", "--output", "wanted.npy", ranks=1))
        self.wanted = np.load(self.folder / "wanted.npy")

    def toy(self, *arguments, owner=None, by="threads", **env):
        variables = {**os.environ, **env, **({"TOY_OWNER": owner} if owner else {})}
        return self.start(TOY, *arguments, ranks=2 if owner else 1, by=by, env=variables)

    def script(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)


class Commands(Live):
    def test_a_command_is_a_source(self):
        for owner in OWNERS:
            for by in self.ways():
                done = self.toy("--source", "cat raw.bin", "--output", "out.npy", owner=owner, by=by)
                self.assert_done(done)
                np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.wanted)
        done = self.toy("--source", "in.0=echo said >&2; head -c 2560 raw.bin", "--frames", 8, "--output", "out.npy")
        self.assert_done(done)
        self.assertIn(b"said", done.stderr)
        self.assertNotIn(b"-pix_fmt", done.stderr)
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.wanted[:16])

    def test_a_command_that_fails(self):
        self.assert_fails(self.toy("--source", "no_such_camera"), 1, "the source 'no_such_camera' has ended (exit status 127) after 0 frames")
        self.assert_fails(self.toy("--source", "head -c 2560 raw.bin; kill -9 $$"), 1, "has ended (killed by SIGKILL) after 10 frames")
        self.assert_fails(self.toy("--source", "true"), 1, "the source 'true' holds no frame")
        self.assert_fails(self.toy("--source", "head -c 2600 raw.bin"), 1,
                          "the source 'head -c 2600 raw.bin' ends within frame 10, after 40 of 256 bytes; a frame is float32 (2, 32), 256 bytes")

    def test_a_command_that_closes_its_output(self):
        self.assert_done(self.toy("--source", "cat raw.bin; exec >&-; sleep 0.2"))
        self.assert_fails(self.toy("--source", "cat raw.bin; exec >&-; sleep 1000"), 1, "has closed its output, but not ended within 1 s, and was ended after 50 frames")

    def test_a_source_is_started_again(self):
        self.script("camera", "#!/bin/sh\nn=$(cat count 2>&-); echo $((n + 1)) >count\n"
                    "tail -c +$((n * 2560 + 1)) raw.bin | head -c 2570; sleep 0.1; [ $((n)) = 1 ] || exit 7\n")
        began = time.monotonic()
        fails = subprocess.Popen([TOY, "--source", "exit 7", "--restart-source", "4"], cwd=self.folder, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (fails.kill(), fails.communicate()))
        done = self.toy("--source", "./camera", "--restart-source", 5, "--frames", 25, "--output", "out.npy", "--json", "run.json")
        self.assert_done(done)
        self.assertGreater(time.monotonic() - began, 3)  # 1 s and 2 s
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.wanted[:50])
        text = done.stderr.decode()
        self.assertIn("warning: the source './camera' ends within frame 10, after 10 of 256 bytes", text)
        self.assertIn("after 10 frames; it is started again in 1 s (restart 1 of 5)", text)
        self.assertIn("after 20 frames; it is started again in 2 s (restart 2 of 5)", text)
        self.assertEqual(json.loads((self.folder / "run.json").read_text())["streams"], {"read": 25, "dropped": 0, "restarts": 2})
        self.assertIn("25 frames came, 0 dropped; 2 restarts of the source", done.stdout.decode())
        for delay in 1, 2, 4:
            self.assertIn(f"it is started again in {delay} s", fails.stderr.readline().decode())
        (self.folder / "count").unlink()
        done = self.toy("--source", "exit 3", "--restart-source", 1)
        self.assert_fails(done, 1, "the source 'exit 3' has ended (exit status 3) after 0 frames, and was started again as often as --restart-source allows")
        self.assertIn(b"it is started again in 1 s (restart 1 of 1)", done.stderr)

    def test_a_source_that_stalls(self):
        self.script("camera", "#!/bin/sh\necho $$ >pid; head -c 2560 raw.bin; sleep 1000\n")
        began = time.monotonic()
        done = self.toy("--source", "./camera", "--source-timeout", 0.3, "--output", "out.npy")
        self.assert_fails(done, 1, "the source './camera' has given no frame for 0.3 s (--source-timeout) after 10 frames")
        self.assertLess(time.monotonic() - began, 10)
        self.assert_ended((self.folder / "pid").read_text())

    def test_a_source_that_gives_a_byte_now_and_then(self):
        began = time.monotonic()
        done = self.toy("--source", "while :; do echo; sleep 0.02; done", "--source-timeout", 0.5)  # a frame in 6 s
        self.assert_fails(done, 1, "has given no frame for 0.5 s (--source-timeout) after 0 frames")
        self.assertLess(time.monotonic() - began, 4)
        with Run([TOY, "--source", "while :; do echo; sleep 0.05; done"], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
            self.addCleanup(run.kill)
            while "toy.safetensors" not in pathlib.Path(f"/proc/{run.pid}/maps").read_text():
                time.sleep(0.01)
            time.sleep(0.2)
            run.send_signal(signal.SIGUSR1)
            self.assertIn(b"dice: asked to stop (SIGUSR1) after 0 frames\n", run.stderr.read())
            self.assertEqual(run.wait(LIMIT), 3)

    def assert_ended(self, pid):
        stat = pathlib.Path(f"/proc/{pid.strip()}/stat")
        self.assertFalse(stat.exists() and " Z " not in stat.read_text())

    def test_a_signal_ends_the_source(self):
        self.script("camera", "#!/bin/sh\necho $$ >pid; trap '' INT; while :; do cat raw.bin; sleep 0.01; done\n")
        for by in self.ways():
            for how in signal.SIGINT, signal.SIGKILL:
                (self.folder / "pid").unlink(missing_ok=True)
                command = self.command(TOY, ["--source", "./camera"], 2, by)
                with Run(command, cwd=self.folder, env={**os.environ, "TOY_OWNER": OWNERS[1]}, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL) as running:
                    limit = time.monotonic() + LIMIT
                    while not (self.folder / "pid").exists() or not (self.folder / "pid").read_text().strip():
                        self.assertLess(time.monotonic(), limit)
                        time.sleep(0.01)
                    running.send_signal(how)
                    running.wait(LIMIT)
                pid = (self.folder / "pid").read_text()
                while time.monotonic() < limit and pathlib.Path(f"/proc/{pid.strip()}").exists():
                    time.sleep(0.01)
                self.assert_ended(pid)

    def test_late_frames(self):
        """A frame each 5 ms for a network that takes 50 ms a frame; each frame holds its number."""
        frames = np.zeros((150, 2, 32), np.float32) + np.arange(1, 151, dtype=np.float32)[:, None, None]
        frames[:, :, 0] += 0.5
        (self.folder / "numbers.bin").write_bytes(frames.tobytes())
        self.script("camera", "#!/bin/sh\ni=0; while [ $i -lt 150 ]; do tail -c +$((i * 256 + 1)) numbers.bin | head -c 256; i=$((i + 1)); sleep 0.005; done\n")
        seen = {}
        for rule in "wait", "drop-oldest", "drop-newest":
            frames_wanted = 10 if rule == "wait" else 150
            done = self.toy("--source", "./camera", "--when-late", rule, "--frames", frames_wanted, "--json", "run.json", "--results", "json",
                            TOY_NAP="0=10", TOY_IN_FLIGHT="1")
            self.assert_done(done)
            run = json.loads((self.folder / "run.json").read_text())
            numbers = [json.loads(line)["source_frame"] for line in done.stdout.splitlines()[::2]]  # a frame has two rows
            self.assertEqual(numbers, sorted(set(numbers)))
            self.assertEqual(numbers[-1] + 1, {"wait": 10, "drop-oldest": 150}.get(rule, numbers[-1] + 1))
            self.assertEqual(len(numbers), run["frames"])
            seen[rule] = run
            self.assertEqual(run["streams"]["read"], run["streams"]["dropped"] + run["frames"])
        self.assertEqual(seen["wait"]["streams"]["dropped"], 0)
        for rule in "drop-oldest", "drop-newest":
            self.assertGreater(seen[rule]["streams"]["dropped"], 20, seen[rule])
            self.assertEqual(seen[rule]["streams"]["read"], 150)

    def test_two_sources(self):
        env = {"TOY_NET": "two"}
        subprocess.run([TOY, "--write-weights", self.folder / "toy.safetensors"], env={**os.environ, **env}, check=True)
        shapes = [line.split()[-1] for line in self.toy("--help", **env).stdout.decode().splitlines() if line.startswith("  input")]
        sizes = [4 * int(np.prod([int(n) for n in shape.split("×")])) for shape in shapes]
        rng = np.random.default_rng(3)
        for i, (size, shape) in enumerate(zip(sizes, shapes)):
            numbers = rng.normal(size=(7, size // 4)).astype(np.float32)
            (self.folder / f"{i}.bin").write_bytes(numbers.tobytes())
            rows = [int(n) for n in shape.split("×")]
            np.save(self.folder / f"{i}.npy", numbers.reshape(7 * rows[0], *rows[1:]))
        given = ["--output", "out.5=a.npy"]
        self.assert_done(self.toy("--input", "in.0=0.npy", "--input", "in.1=1.npy", *given, **env))
        wanted = np.load(self.folder / "a.npy")
        for more in ["--source", "in.1=cat 1.bin"], ["--input", "in.1=1.npy"]:  # files repeat
            self.assert_done(self.toy("--source", "in.0=cat 0.bin", *more, *given, **env))
            np.testing.assert_array_equal(np.load(self.folder / "a.npy"), wanted)
        for owner in [None] + ["0,1,0,0,0,1,1,1,0,0"]:
            for by in self.ways() if owner else ["threads"]:
                done = self.toy("--source", "in.0=cat 0.bin", "--source", f"in.1=head -c {3 * sizes[1]} 1.bin", *given, owner=owner, by=by, **env)
                self.assertIn(done.returncode, (0, 1) if owner else (1,), done)
                if done.returncode:  # 0: the other stream had no frame under way
                    self.assertRegex(done.stderr.decode(), "has ended after 3 frames, but input 'in.0' has gone on|different numbers of frames")
                else:
                    self.assertEqual(len(np.load(self.folder / "a.npy")) * 7, 3 * len(wanted))
                (self.folder / "a.npy.partial").unlink(missing_ok=True)
        late = f"in.0=head -c {3 * sizes[0]} 0.bin; sleep 0.3; cat 0.bin"
        self.assert_fails(self.toy("--source", late, "--source", f"in.1=head -c {3 * sizes[1]} 1.bin", **env), 1,
                          "input 'in.1' has ended after 3 frames, but input 'in.0' has gone on; streams must have the same number of frames")
        for end in "", "; sleep 1000":  # the other stream may go on, if it gives no more frames
            self.assert_done(self.toy("--source", f"in.0=head -c {3 * sizes[0]} 0.bin{end}", "--source", f"in.1=head -c {3 * sizes[1]} 1.bin", *given, **env))
            self.assertEqual(len(np.load(self.folder / "a.npy")) * 7, 3 * len(wanted))
        drops = ["--source", f"in.0=head -c {sizes[0]} 0.bin; sleep 0.5", "--source", "in.1=cat 1.bin; sleep 0.2; cat 1.bin", "--when-late", "drop-oldest", *given]
        self.assert_done(self.toy(*drops, **env))  # although in.1 has given more
        self.assertEqual(len(np.load(self.folder / "a.npy")) * 7, len(wanted))
        done = self.toy(*drops, owner="0,1,0,0,0,1,1,1,0,0", **env)
        self.assertRegex(done.stderr.decode(), "dice: error: .*(has gone on|different numbers of frames)")

    def test_refusals(self):
        for arguments, code, text in [
                (["--source", "true", "--frames-as", "float32:3x3"], 2, "float32 frames have the input's shape; omit the size"),
                (["--source", "true", "--frames-as", "rgb32"], 2, "'rgb32' is not a format; dice reads float32, rgb24"),
                (["--source", "true", "--frames-as", "rgb24:640"], 2, "'640' is not a size such as 640x480"),
                (["--source", "true", "--frames-as", "nv12:641x480"], 2, "nv12 needs an even width, not 641"),
                (["--source", "true", "--frames-as", "rgb24:8x8"], 1, "pictures do not fit input 'in.0', float32 (2, 32)"),
                (["--source", "true", "--frames-as", "gray8", "--frames-as", "rgb24"], 2, "input in.0 has two formats; give one"),
                (["--source", "left=true"], 2, "the network has no input 'left'; its input is in.0"),
                (["--source", "true", "--when-late", "drop"], 2, "'drop' is not wait, drop-oldest or drop-newest"),
                (["--source", "true", "--warmup", "2"], 2, "frames come as a stream, each only once"),
                (["--input", "in.npy", "--when-late", "wait"], 2, "--when-late is for streams"),
                (["--input", "in.npy", "--frames-as", "gray8"], 2, "--frames-as is for streams"),
                (["--input", "in.npy", "--source-timeout", "2"], 2, "--source-timeout is for streams"),
                (["--random", "1", "--restart-source", "2"], 2, "--restart-source is for streams"),
                (["--source", "true", "--input", "in.npy"], 1, "input 'in.0' is a stream and cannot have other frames, too"),
        ]:
            self.assert_fails(self.toy(*arguments), code, text)


class Health(Live):
    """What a program says of a job that runs."""

    def wait_for(self, condition, run):
        limit = time.monotonic() + LIMIT
        while not condition():
            self.assertIsNone(run.poll(), "it has ended")
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.02)

    def status(self):
        try:
            return json.loads((self.folder / "status.json").read_text())
        except FileNotFoundError:
            return {"phase": None, "answered": 0}

    def test_status_and_metrics(self):
        self.script("camera", "#!/bin/sh\nwhile :; do cat raw.bin; sleep 0.5; done\n")
        for owner, by in [(None, "threads")] + [(OWNERS[1], by) for by in self.ways()]:
            command = self.command(TOY, ["--source", "./camera", "--metrics", "m.prom"], 2 if owner else 1, by)
            if by == "mpi":
                command[1:1] = ["-x", "DICE_STATUS"]
            env = {**os.environ, "DICE_STATUS": str(self.folder / "status.json"), **({"TOY_OWNER": owner} if owner else {})}
            with Run(command, cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
                self.wait_for(lambda: self.status()["answered"] >= 100, run)
                self.wait_for(lambda: all(rank["stage_ms"] is not None for rank in self.status()["ranks"]), run)  # each says so for itself
                status = self.status()
                self.assertEqual(status["phase"], "running")
                self.assertTrue(0 <= status["read"] - status["entered"] <= 2, status)
                self.assertEqual(len(status["ranks"]), 2 if owner else 1)
                for rank in status["ranks"]:
                    self.assertTrue(rank["host"] and rank["stage_ms"] >= 0 and rank["silent_s"] < 10, status)
                self.assertTrue(0 < status["latency_ms"]["median"] <= status["latency_ms"]["p95"] < 5000 and 0 <= status["last_frame_s"] < 5, status)
                self.wait_for(lambda: 'end="answered"} 0' not in (self.folder / "m.prom").read_text(), run)
                self.assertIn("# TYPE dice_latency_seconds summary", (self.folder / "m.prom").read_text())
                run.send_signal(signal.SIGUSR1)
                said = run.communicate(timeout=LIMIT)[0].decode()
            self.assertFalse((self.folder / "status.json").exists())
            last = (self.folder / "m.prom").read_text()  # the counts stay until the end
            self.assertIn(f'end="answered"}} {said.split()[0]}\n', last)
            self.assertIn('dice_up{network="toy"} 0\n', last)
            self.assertNotRegex(last, r"dice_latency_seconds_sum\S+ 0\n|dice_rank_silent_seconds")

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_a_rank_that_is_stuck(self):
        command = self.command(TOY, ["--source", "while :; do cat raw.bin; done"], 2, "mpi", ["-x", "DICE_STATUS"])
        env = {**os.environ, "DICE_STATUS": str(self.folder / "status.json"), "TOY_OWNER": OWNERS[1]}
        with Run(command, cwd=self.folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            self.wait_for(lambda: self.status()["answered"] >= 100, run)
            ranks = [p for p in pathlib.Path("/proc").iterdir() if p.name.isdigit() and self.is_rank(p, "1")]
            self.assertEqual(len(ranks), 1)
            os.kill(int(ranks[0].name), signal.SIGSTOP)
            self.wait_for(lambda: self.status().get("last_frame_s", 0) > 2 and self.status()["ranks"][1]["silent_s"] > 2, run)
            self.assertLess(self.status()["ranks"][0]["silent_s"], 2)
            os.kill(int(ranks[0].name), signal.SIGCONT)
            self.wait_for(lambda: self.status()["last_frame_s"] < 1.5, run)
            run.send_signal(signal.SIGUSR1)
            run.wait(LIMIT)

    def is_rank(self, process, rank):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            return os.readlink(process / "exe") == str(TOY) and f"DICE_STATUS={self.folder / 'status.json'}".encode() in environment and \
                f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment
        except OSError:
            return False

    @unittest.skipUnless(MPIRUN, "no mpirun")
    def test_a_rank_that_does_not_come(self):
        self.script("late", f'#!/bin/sh\n[ $OMPI_COMM_WORLD_RANK = 0 ] || sleep 17\nexec "{TOY}" "$@"\n')
        done = self.start(self.folder / "late", "--input", "in.npy", ranks=2, by="mpi", env={**os.environ, "TOY_OWNER": OWNERS[1]})
        self.assert_done(done)
        self.assertEqual(done.stderr.count(b"still waits for the first message of other ranks. If their hosts are up, a firewall"), 1, done.stderr)

    def test_a_port(self):
        import socket
        import urllib.request
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = self.command(TOY, ["--source", "while :; do cat raw.bin; sleep 0.1; done", "--metrics", port], 1, "threads")
        with Run(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            def page():
                try:
                    return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
                except OSError:
                    return ""
            self.wait_for(lambda: 'dice_up{network="toy"} 1' in page(), run)
            self.assert_fails(self.toy("--input", "in.npy", "--metrics", port), 1, f"--metrics: port {port} of this host cannot be used")
            with socket.create_connection(("127.0.0.1", port)) as client:
                stops = threading.Event()

                def slow():
                    while not stops.wait(0.2):
                        try:
                            client.sendall(b"a")
                        except OSError:
                            return
                threading.Thread(target=slow).start()
                time.sleep(0.3)
                run.send_signal(signal.SIGUSR1)
                try:
                    run.wait(LIMIT)
                finally:
                    stops.set()
        for wrong in "0", "65536", "123456":
            self.assert_fails(self.toy("--input", "in.npy", "--metrics", wrong), 2, f"--metrics: '{wrong}' is not a port from 1 to 65535; for a file of this name write ./{wrong}")


class Pipes(Live):
    def write(self, *parts, pause=0):
        """Writes to the named pipe, opened once for each part."""
        def work():
            for part in parts:
                with open(self.folder / "pipe", "wb") as to:
                    to.write(part)
                time.sleep(pause)
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(thread.join)

    def test_a_named_pipe(self):
        os.mkfifo(self.folder / "pipe")
        for owner in [None, *OWNERS]:
            for by in self.ways() if owner else ["threads"]:
                self.write(self.frames.tobytes())
                done = self.toy("--input", "pipe", "--output", "out.npy", owner=owner, by=by)
                self.assert_done(done)
                np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.wanted)
        self.write(b"")
        self.assert_fails(self.toy("--input", "pipe", "--warmup", "1"), 2, "frames come as a stream, each only once")
        self.assert_fails(self.toy("--input", "pipe"), 1, "the pipe 'pipe' holds no frame")

    def test_another_writer(self):
        os.mkfifo(self.folder / "pipe")
        raw = self.frames.tobytes()
        self.write(raw[:2560], raw[2560:5120], raw[5120:], pause=0.3)
        done = self.toy("--input", "pipe", "--restart-source", 9, "--frames", 50, "--output", "out.npy")
        self.assert_done(done)
        np.testing.assert_array_equal(np.load(self.folder / "out.npy"), self.wanted)
        self.assertIn("the pipe 'pipe' has ended after 10 frames; it waits for the next program that writes there (restart 1 of 9)", done.stderr.decode())
        self.write(raw[:2560], (self.folder / "in.npy").read_bytes(), pause=0.3)
        self.assert_fails(self.toy("--input", "pipe", "--restart-source", 1), 1, "the pipe 'pipe' is a .npy file")


class Cameras(Case):
    """Pictures of digits as a camera's bytes."""

    def setUp(self):
        super().setUp()
        if not DIGITS:
            self.skipTest("the example is not built")
        self.digits = np.round(np.load(EXAMPLE / "digits_in.npy")[:, 0] * 255).astype(np.uint8)
        wanted = self.folder / "wanted.npy"
        np.save(self.folder / "in.npy", self.digits[:, None].astype(np.float32) / 255)
        self.assert_done(self.start(DIGITS, "--input", "in.npy", "--output", wanted))
        self.expected = ["--mean", 0, "--std", 1, "--expect", wanted]

    def script(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def test_bytes_of_pictures(self):
        raw = self.folder / "raw.bin"
        for word, bytes_of in [("gray8", self.digits), ("rgb24", self.digits[..., None].repeat(3, -1)), ("bgr24", self.digits[..., None].repeat(3, -1))]:
            raw.write_bytes(bytes_of.tobytes())
            for given in ["--source", "cat raw.bin"], ["--input", "-"]:
                done = self.start(DIGITS, *given, "--frames-as", word, *self.expected, input=raw.read_bytes() if given[1] == "-" else None)
                self.assert_done(done)
        larger = self.digits.repeat(3, 1).repeat(3, 2)
        np.save(self.folder / "larger.npy", larger)
        raw.write_bytes(larger.tobytes())
        done = self.start(DIGITS, "--source", "cat raw.bin", "--frames-as", "gray8:24x24", "--fit", "stretch", *self.expected[:4], "--top", 1)
        self.assert_done(done)
        answers = [int(line.split(": ")[1].split()[0]) for line in done.stdout.decode().splitlines() if line.startswith("frame ")]
        self.assertGreater(np.mean(np.array(answers) == np.load(self.folder / "wanted.npy").argmax(1)), 0.7)
        self.assert_fails(self.start(DIGITS, "--source", "cat raw.bin", "--frames-as", "gray8:24x24", "--fit", "none"), 1,
                          "input 'picture' takes 8×8 pixels, but the stream's pictures have 24×24; scale them with --fit")
        self.assert_fails(self.start(DIGITS, "--source", "head -c 100 raw.bin", "--frames-as", "gray8"), 1,
                          "ends within frame 1, after 36 of 64 bytes; a frame is gray8 8×8, 64 bytes")

    def test_a_covered_camera(self):
        done = self.start(DIGITS, "--source", "head -c 640 /dev/zero", "--frames-as", "gray8")
        self.assert_done(done)
        self.assertIn("all bytes of the first frame are 0; is the camera covered, or are format and size (--frames-as) wrong?", done.stderr.decode())
        self.assertEqual(done.stderr.count(b"first frame"), 1)

    def test_without_ffmpeg(self):
        (self.folder / "bin").mkdir()
        for where in "rtsp://user:secret@camera/stream", "clip.mp4":
            done = self.start(DIGITS, "--input", where, env={**os.environ, "PATH": str(self.folder / "bin")})
            self.assert_fails(done, 1, "is decoded by ffmpeg, which this host lacks; install it (Debian: ffmpeg), or give a command", "--source 'COMMAND'")
            self.assertNotIn(b"secret", done.stderr)

    def test_what_ffmpeg_decodes(self):
        """A stand-in for ffmpeg notes its arguments and writes grey pictures."""
        (self.folder / "bin").mkdir()
        (self.folder / "raw.bin").write_bytes(self.digits.tobytes())
        (self.folder / "clip.MP4").write_bytes(b"")
        self.script("bin/ffmpeg", "#!/bin/sh\necho \"$@\" >>asked\ncat raw.bin\n")
        self.script("bin/ffprobe", "#!/bin/sh\necho \"$@\" >>asked\n[ -e size ] && cat size\n")
        path = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        (self.folder / "size").write_text("8,8\n")
        for where, by in ("clip.MP4", "-i clip.MP4"), ("rtsps://user:secret@camera/a b", "-rtsp_transport tcp -i rtsps://user:secret@camera/a b"):
            (self.folder / "asked").unlink(missing_ok=True)
            done = self.start(DIGITS, "--input", where, "--frames-as", "gray8", "--when-late", "wait", *self.expected, env=path)
            self.assert_done(done)
            asked = (self.folder / "asked").read_text()
            self.assertIn(f"{by} -an -sn -dn -vf scale=8:8 -f rawvideo -pix_fmt gray -", asked)
            self.assertIn("-select_streams v:0", asked)
        self.script("bin/ffmpeg", "#!/bin/sh\necho \"[tcp @ 0x1] $*: refused\" >&2\nexit 7\n")
        for given, shown in (("rtsp://user:secret@camera/a", "rtsp://user:…@camera/a"), ("rtsp://user:sec@ret@camera", "rtsp://user:…@camera"),
                             ("rtsp://user:sec/ret@camera", "rtsp://user:…@camera"), ("http://camera:80/a@b?pwd=secret", "http://camera:80/a@b?…"),
                             ("http://user:1234@camera:80/a?pwd=secret&x", "http://user:…@camera:80/a?…"), ("udp://camera/c:d@e", "udp://camera/c:d@e")):
            done = self.start(DIGITS, "--input", given, "--frames-as", "gray8:8x8", env=path)
            self.assert_fails(done, 1, f"the source '{shown}' has ended (exit status 7) after 0 frames")
            self.assertNotRegex(done.stderr.decode(), "sec|ret@|1234")
            self.assertRegex(done.stderr.decode(), r"\[tcp @ 0x1\] .*: refused\n")
        self.script("bin/ffmpeg", "#!/bin/sh\ncat raw.bin\n")
        (self.folder / "size").unlink()
        self.assert_fails(self.start(DIGITS, "--input", "clip.MP4", env=path), 1, "'clip.MP4' holds no video that ffprobe can read (exit status 1)")
        done = self.start(DIGITS, "--input", "clip.MP4", "--frames-as", "gray8:8x8", *self.expected, env=path)  # then nobody asks
        self.assert_done(done)
        self.assert_fails(self.start(DIGITS, "--input", "no.mp4", env=path), 1, "'no.mp4' cannot be opened: No such file")
        self.script("bin/ffmpeg", "#!/bin/sh\necho \"$@\" >asked\nexit 1\n")
        done = self.start(DIGITS, "--input", "rtsp://user:secret@camera/", "--frames-as", "gray8:8x8", env=path)
        self.assert_fails(done, 1, "the source 'rtsp://user:…@camera/' has ended (exit status 1) after 0 frames")
        self.assertIn("-rtsp_transport tcp -i rtsp://user:secret@camera/ ", (self.folder / "asked").read_text())


if __name__ == "__main__":
    TOY = pathlib.Path(sys.argv.pop(1)).resolve()
    DIGITS = sys.argv.pop(1)
    test_input.TOY = TOY
    unittest.main()
