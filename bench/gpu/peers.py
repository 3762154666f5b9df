#!/usr/bin/env python3
"""dice beside PyTorch on a GPU: float32 without TF32, batch 1, the same inputs, outputs checked.

    peers.py --programs DIR --models DIR [--libraries DIR:…] [--rounds N] [--seconds S] [--engines NAME,…] [--json FILE]
             [NETWORK…]

The folder of programs has full_NETWORK (test/gpu/run builds them), that of models what export.py wrote. PyTorch runs in
eager mode (eager), as a CUDA graph that includes the copies (graph), the same with batch normalisation folded (folded), each
also with channels last (…_nhwc), and with torch.compile, max-autotune and frozen weights (compile). One process serves the
first six and another one compile; they wait while others are measured.

Latency is for a single frame, from host memory to host memory. Throughput is for a sequence of frames: dice has as many in
flight as its plan allows, PyTorch has ten enqueued at a time. Engines take turns, round after round; a figure is the median
of a measurement's frames, then of the rounds.

FILE keeps all measurements: another call measures only those requested engines that it lacks, and dice not again. Exit
status 1 if a network fails, or dice's output differs from PyTorch's own on the CPU in float64 by more than 1e-4 of its
largest number; 3 if an engine was not ready in time; another call tries it again.
"""
import argparse
import json
import math
import os
import pathlib
import selectors
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import host  # noqa: E402

NETWORKS = ["vgg19", "resnet50", "resnet101", "densenet121", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1", "inception_v3",
            "yolov2_16"]  # those of bench/peers
EAGER = ["eager", "eager_nhwc", "graph", "graph_nhwc", "folded", "folded_nhwc"]
MOST_ERROR = 1e-4


# PyTorch's side: peers.py --serve NETWORK MODELS DEVICE ENGINE…

def age_ms():
    """Milliseconds since this process was started, with a resolution of 1/100 s."""
    began = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    return 1000 * (time.clock_gettime(time.CLOCK_BOOTTIME) - began)


def ready(torch, net, engine, given, device):
    """(function that runs a frame, function that waits for it, host memory with its result)."""
    last = torch.channels_last if engine.endswith("nhwc") else torch.contiguous_format
    kind = engine.split("_")[0]
    if kind == "folded":
        from torch.fx.experimental import optimization
        net = optimization.fuse(net.cpu())
    net = net.to(device).to(memory_format=last)
    here = given.to(memory_format=last)
    wait = lambda: None  # noqa: E731
    if device == "cuda":
        here, wait = here.pin_memory(), torch.cuda.synchronize
    x = here.to(device)
    model = torch.compile(net, mode="max-autotune") if kind == "compile" else net
    result = torch.empty_like(model(x), device="cpu", memory_format=torch.contiguous_format)
    result = result.pin_memory() if device == "cuda" else result

    def run():
        x.copy_(here, non_blocking=True)
        result.copy_(model(x), non_blocking=True)
    if device == "cuda" and kind in ("graph", "folded"):
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                run()
        torch.cuda.current_stream().wait_stream(aside)
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                run()
            return graph.replay, wait, result
        except RuntimeError:  # a PyTorch that cannot capture copies to the host
            torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = model(x)

        def run_between():
            x.copy_(here, non_blocking=True)
            graph.replay()
            result.copy_(y, non_blocking=True)
        return run_between, wait, result
    return run, wait, result


def serve(name, models, device, *engines):
    import numpy
    import torch
    sys.path.append(str(HERE.parents[1] / "test/networks"))
    torch.set_grad_enabled(False)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    if "compile" in engines:
        import torch._inductor.config
        torch._inductor.config.freezing = True
    given, wanted = (torch.from_numpy(numpy.load(f"{models}/{name}_{end}.npy")[:1].copy()) for end in ("in", "out"))
    known = {}
    out = sys.stdout
    sys.stdout = sys.stderr  # libraries print

    def say(**what):
        print(json.dumps(what), file=out, flush=True)
    for engine in engines:
        try:
            begin = time.perf_counter()
            net = torch.load(f"{models}/{name}.pt", weights_only=False, map_location="cpu").eval()
            run, wait, result = ready(torch, net, engine, given, device)
            run()
            wait()
            error = float((result - wanted).abs().max() / wanted.abs().max())
            known[engine] = run, wait
            say(engine=engine, error=error, age_ms=age_ms(), load_ms=1000 * (time.perf_counter() - begin))
        except Exception as problem:  # if one mode fails, still measure the others
            say(engine=engine, failed=f"{type(problem).__name__}: {problem}"[:500])
    say(all=True, version=torch.__version__)
    for line in sys.stdin:
        engine, what, seconds = line.split()
        run, wait = known[engine]
        seconds, times = float(seconds), []
        end = time.perf_counter() + seconds / 2
        while time.perf_counter() < end:
            run()
            wait()
        begin = time.perf_counter()
        if what == "latency":
            while len(times) < 10 or time.perf_counter() < begin + seconds:
                before = time.perf_counter()
                run()
                wait()
                times.append(1000 * (time.perf_counter() - before))
            say(ms=statistics.median(times), p95=sorted(times)[len(times) * 95 // 100], frames=len(times))
        else:
            n = 0
            while time.perf_counter() < begin + seconds:
                for _ in range(10):  # do not get further ahead of the GPU
                    run()
                wait()
                n += 10
            say(per_second=n / (time.perf_counter() - begin))


# The side that measures

class Server:
    """A PyTorch process that answers line by line."""

    def __init__(self, given, name, engines, log):
        self.used = gpu_used()
        self.process = subprocess.Popen(
            [given.python, "-B", __file__, "--serve", name, given.models, given.device, *engines], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=log, env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(given.work / "inductor")})
        self.rest, self.selector = b"", selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def read(self, seconds):
        """The next line; None if none comes in time."""
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            if not self.selector.select(max(0, end - time.monotonic())):
                return None
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()
        told = self.read(120)
        if not told:
            raise RuntimeError(f"PyTorch does not answer: {' '.join(map(str, words))}")
        return told

    def end(self):
        self.process.kill()
        self.process.wait()


def gpu_used():
    """Bytes of GPU memory that all processes use; 0 if unknown."""
    try:
        told = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                              capture_output=True, text=True, timeout=20)
        return int(told.stdout.split()[0]) << 20
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):
        return 0


def rss_of(pid):
    """The peak host memory of a process."""
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0


def dice(given, name, *options, watch=False):
    """Runs the program of a network; returns its output, its figures, and with `watch` the peak GPU memory in use
    meanwhile."""
    with tempfile.TemporaryDirectory() as scratch:
        figures = pathlib.Path(scratch) / "figures.json"
        command = [given.programs / f"full_{name}", "--input", given.models / f"{name}_in.npy", "--json", figures, *options]
        libraries = {"LD_LIBRARY_PATH": given.libraries} if given.libraries else {}
        process = subprocess.Popen([str(w) for w in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env={**os.environ, **libraries})
        most, done = [0], threading.Event()

        def sample():
            while not done.wait(0.2):
                most[0] = max(most[0], gpu_used())
        watcher = threading.Thread(target=sample)
        if watch:
            watcher.start()
        printed = process.communicate()[0]
        done.set()
        if watch:
            watcher.join()
        if process.returncode or not figures.exists():
            raise RuntimeError(f"full_{name} fails ({process.returncode}): {printed[-1000:]}")
        return printed, json.loads(figures.read_text()), most[0]


def dice_begins(given, name):
    """Measures the first starts, memory and error of a network."""
    def start():
        begin = time.perf_counter()
        dice(given, name, "--frames", 1)
        return 1000 * (time.perf_counter() - begin)
    for kept in given.programs.glob(f"dice_networks/{name}.safetensors.*.kernels"):
        kept.unlink()
    first = start()
    again = min(start() for _ in range(3))
    printed, told, _ = dice(given, name, "--expect", given.models / f"{name}_out.npy", "--tolerance", 1e9)
    before = gpu_used()
    _, told, most = dice(given, name, "--frames", max(20, int(1.5 * told["frames_per_second"])), watch=True)
    rank = told["ranks"][0]
    return {"error": float(printed.split(": error ")[1].split()[0]), "first_start_ms": first, "later_start_ms": again,
            "gpu_bytes": max(0, most - before), "host_bytes": rank["peak_rss_bytes"], "planned": rank.get("gpu", {}),
            "frame_ms": told["latency_ms"]["median"]}


def dice_round(given, name, frame_ms):
    n = max(10, int(1000 * given.seconds / frame_ms))
    common = ("--warmup", max(5, n // 2), "--frames", n)
    told = dice(given, name, *common, "--in-flight", 1)[1]
    return {"ms": told["latency_ms"]["median"], "p95": told["latency_ms"]["p95"],
            "per_second": dice(given, name, *common)[1]["frames_per_second"]}


def measure(given, name, found, log):
    """Adds missing engines to {engine: figures} of a network; skips engines that are not ready in time."""
    rounds, servers, begun = {}, {}, []
    alone = "dice" in found
    try:
        if not alone:
            found["dice"] = dice_begins(given, name)
        for group in (EAGER, ["compile"]):
            group = [e for e in group if e in given.engines and e not in found]
            if not group:
                continue
            server = Server(given, name, group, log)
            begun.append(server)
            while told := server.read(given.patience):
                if told.get("all"):
                    found["version"] = told["version"]
                    break
                engine = told.pop("engine")
                if "failed" not in told:  # figures of the process so far: only the first engine's are its own
                    servers[engine] = server
                    told |= {"first_start_ms": told["age_ms"], "host_bytes": rss_of(server.process.pid),
                             "gpu_bytes": max(0, gpu_used() - server.used)}
                found[engine] = told
            else:
                time.sleep(1)  # so that the end of a process is noticed
                ended = server.process.poll()
                server.end()
                for engine in group:  # their process has ended
                    servers.pop(engine, None)
                    found.pop(engine, None)
                    if ended is not None:
                        found[engine] = {"failed": f"PyTorch's process ends ({ended})"}
        for _ in range(given.rounds):
            if not alone:
                rounds.setdefault("dice", []).append(dice_round(given, name, found["dice"]["frame_ms"]))
            for engine, server in servers.items():
                latency, throughput = (server.ask(engine, what, given.seconds) for what in ("latency", "throughput"))
                rounds.setdefault(engine, []).append({**latency, **throughput})
    finally:
        for server in begun:
            server.end()
    for engine, all_of in rounds.items():
        found[engine] |= {key: statistics.median(r[key] for r in all_of) for key in ("ms", "p95", "per_second")}
        found[engine]["rounds"] = all_of
    return found


def mean(values):
    values = [v for v in values if v]
    return f"{math.exp(statistics.fmean(map(math.log, values))):.2f}" if values else "–"


def tables(results):
    engines = [e for e in [*EAGER, "compile"] if any(e in r for r in results.values())]
    for title, key, best_of, form in (("latency, ms", "ms", min, "{:.3f}"),
                                      ("frames/s, batch 1", "per_second", max, "{:.0f}")):
        rows, ratios = [], []
        for name, found in results.items():
            others = {e: found[e][key] for e in engines if key in found.get(e, {})}
            row = [name, form.format(found["dice"][key]) if key in found["dice"] else "–",
                   *(form.format(others[e]) if e in others else "–" for e in engines)]
            if others and key in found["dice"]:
                best = best_of(others, key=others.get)
                times = (others[best], found["dice"][key]) if key == "ms" else (found["dice"][key], others[best])
                ratios.append(times[0] / times[1])
                row += [best, f"{ratios[-1]:.2f}"]
            rows.append(row + [""] * (len(engines) + 4 - len(row)))
        print(f"\n{title}")
        host.table(["network", "dice", *engines, "best of PyTorch", "its time / dice's"],
                   rows + [["geometric mean", *[""] * (len(engines) + 2), mean(ratios)]])
    mib = lambda found, key: f"{found[key] / 2**20:.0f}" if found.get(key) else "–"  # noqa: E731
    print("\nmemory of GPU and host (whole process), MiB; ms from the start of the process to its first result")
    host.table(["network", "dice GPU", "eager GPU", "dice host", "eager host", "dice", "dice again", "eager", "compile"],
               [[name, mib(f["dice"], "gpu_bytes"), mib(f.get(EAGER[0], {}), "gpu_bytes"), mib(f["dice"], "host_bytes"),
                 mib(f.get(EAGER[0], {}), "host_bytes"),
                 *(f"{f['dice'][key]:.0f}" for key in ("first_start_ms", "later_start_ms")),
                 *(f"{ms:.0f}" if (ms := f.get(e, {}).get("first_start_ms")) else "–" for e in (EAGER[0], "compile"))]
                for name, f in results.items()])


def main():
    if sys.argv[1:2] == ["--serve"]:
        return serve(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--libraries", metavar="DIR:…", help="LD_LIBRARY_PATH of dice's programs")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path.home() / ".cache/dice-gpu",
                        help="for what torch.compile keeps (default: %(default)s)")
    parser.add_argument("--python", default=sys.executable, help="one with PyTorch (default: this one)")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="of PyTorch")
    parser.add_argument("--engines", type=lambda text: text.split(",") if text else [], default=[*EAGER, "compile"],
                        metavar="NAME,…")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, metavar="S", help="that each measurement takes (default: 0.5)")
    parser.add_argument("--patience", type=float, default=240, metavar="S",
                        help="how long an engine may take until it is ready (default: 240)")
    parser.add_argument("--json", type=pathlib.Path, help="written after each network; what is in it stays")
    parser.add_argument("--again", action="store_true", help="measure these engines and dice although they are in it")
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"(default: {' '.join(NETWORKS)})")
    given = parser.parse_args()
    here = host.begin()
    results = json.loads(given.json.read_text())["results"] if given.json and given.json.exists() else {}
    anew = ["dice", *given.engines]
    results = {name: {e: figures for e, figures in found.items() if not given.again or e not in anew}
               for name, found in results.items() if found.get("dice", {}).get("error", 0) <= MOST_ERROR}
    failed, names = [], given.networks or NETWORKS
    with tempfile.TemporaryFile() as log:
        for name in names:
            if all(e in results.get(name, {}) for e in anew):
                continue
            print(f"{name} …", flush=True)
            try:
                results[name] = measure(given, name, dict(results.get(name, {})), log)
                host.write(given.json, here, rounds=given.rounds, seconds=given.seconds, results=results)
            except Exception as problem:  # the other networks may work
                failed.append(f"{name}: {type(problem).__name__}: {problem}")
    complete = {name: found for name, found in results.items() if "dice" in found}
    tables(complete)
    print("\nPyTorch", *{r["version"] for r in complete.values() if "version" in r})
    late = False
    for name, found in complete.items():
        for engine, figures in found.items():
            if engine == "version":
                continue
            if "failed" in figures:
                print(f"without {engine} on {name}: {figures['failed']}")
            elif not figures["error"] <= MOST_ERROR:
                print(f"{engine} on {name} differs by {figures['error']:.1e}")
                if engine == "dice":
                    failed.append(f"dice on {name} differs by {figures['error']:.1e}")
    for name in names:
        if missing := [e for e in given.engines if name in complete and e not in complete[name]]:
            late = True
            print(f"{name}: {', '.join(missing)}: not ready within {given.patience:.0f} s")
    for text in failed:
        print("failed:", *text.split())  # one line
    return 1 if failed else 3 if late else 0


if __name__ == "__main__":
    sys.exit(main())
