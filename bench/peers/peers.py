"""What run, roofline and bench/pipeline/scaling.py share: the networks, and the programs that run them."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(HERE.parent))
import host  # noqa: E402
from engine import outputs  # noqa: E402

# Those that the program with oneDNN (onednn.hpp) can run, and the others.
CLASSIC = ["vgg19", "resnet50", "resnet101", "densenet121", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1", "inception_v3",
           "yolov2_16"]
NETWORKS = [*CLASSIC, "efficientnet_b0", "mobilenet_v3_large", "convnext_tiny", "vit_b_16", "unet", "yolo_v8n"]

# Levels of x86-64 to which engines can be limited, and the variables that do so for oneDNN, PyTorch and MKL. ONNX Runtime,
# OpenVINO and ncnn have none: see limit_engines().
LEVELS = {"x86-64-v3": {"ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}}


def add_arguments(parser):
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)} (default: all)")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path.home() / ".cache/dice-peers")
    parser.add_argument("--level", choices=LEVELS,
                        help="limits dice and the other engines to the instructions of this level of x86-64, with programs "
                             "and copies of engines in a folder of --work (default: what the CPU has)")


def understood(parser, given):
    """The networks and the working folder from the arguments."""
    if unknown := [n for n in given.networks if n not in NETWORKS]:
        parser.error(f"no network {', '.join(unknown)}; there are {', '.join(NETWORKS)}")
    if not shutil.which("cmake") or not list(pathlib.Path("/usr/include").glob("**/dnnl.hpp")):
        parser.error("oneDNN is missing: install libdnnl-dev")
    return given.networks or NETWORKS, given.work.resolve() / (given.level or "")


def environment(work, threads):
    """Of a measured process: its threads, and its limits if `work` is that of a level."""
    limits = {**LEVELS[work.name], "PYTHONPATH": str(work / "limited")} if work.name in LEVELS else {}
    return {**os.environ, **limits, "OMP_NUM_THREADS": str(threads)}


def call(command, log=None, **more):
    """Runs a command; returns its output. With `log`, the output also goes to that file."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    if log:
        log.write_text(done.stdout + done.stderr)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} fails:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text}".ljust(70), end="\n" if not text else "", file=sys.stderr, flush=True)


def build(work, targets, *definitions):
    """Builds programs of this folder's CMakeLists.txt, in work/build."""
    print("builds", *targets, flush=True)
    if work.name in LEVELS:
        definitions += (f"-DDICE_BOARD=-march={work.name}",)
    call(["cmake", "-S", HERE, "-B", work / "build", "-DCMAKE_BUILD_TYPE=Release", f"-DDICE_PEERS_MODELS={work / 'models'}",
          *definitions])
    call(["cmake", "--build", work / "build", "--parallel", len(host.cores()), "--target", *targets], work / "build.log")


def prepare_models(work, networks):
    """Makes environment and models, unless they exist."""
    python, models = work / "venv/bin/python", work / "models"
    stamp, wanted = work / "venv/.requirements", (HERE / "requirements.txt").read_text()
    models.mkdir(parents=True, exist_ok=True)
    if not stamp.exists() or stamp.read_text() != wanted:
        print("installs the engines from PyPI", flush=True)
        call([sys.executable, "-m", "venv", work / "venv"])
        call([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], work / "pip.log")
        stamp.write_text(wanted)
    todo = [n for n in networks if not outputs(models / n)]
    if todo:
        print("exports", *todo, flush=True)
        call([python, ROOT / "test/networks/make_models.py", "--out", models, "--exporter", "torchscript", *todo],
             work / "export.log")
    for name in networks:
        if not (models / f"{name}.ncnn.bin").exists():
            scratch = work / "pnnx"
            scratch.mkdir(exist_ok=True)
            shape = call([python, "-c", f"import numpy; print(*numpy.load('{models}/{name}_in.npy').shape[1:], sep=',')"])
            call([work / "venv/bin/pnnx", models / f"{name}.onnx", f"inputshape=[1,{shape.strip()}]", "fp16=0",
                  f"ncnnparam={models}/{name}.ncnn.param", f"ncnnbin={models}/{name}.ncnn.bin"], work / "pnnx.log",
                 cwd=scratch)
            for left in [*models.glob(f"{name}.pnnx*"), *models.glob(f"{name}_*.py")]:
                left.unlink()
            shutil.rmtree(scratch)


def limit_engines(work):
    """Copies the engines that have no variable for it, so that they believe that the operating system does not save the
    registers of AVX-512: their `xgetbv` (0f 01 d0), which reads what it saves, becomes `mov $7, %al; nop`."""
    packages = next((work / "venv/lib").glob("python3*/site-packages"))
    limited, unfinished = work / "limited", work / "limited.unfinished"
    if limited.exists() and limited.stat().st_mtime > (work / "venv/.requirements").stat().st_mtime:
        return
    print("limits the engines to", work.name, flush=True)
    shutil.rmtree(limited, ignore_errors=True)
    shutil.rmtree(unfinished, ignore_errors=True)
    for package in ("onnxruntime", "openvino", "ncnn", "ncnn.libs"):
        shutil.copytree(packages / package, unfinished / package)
    for library in unfinished.rglob("*.so*"):
        code = bytearray(library.read_bytes())
        if b"\x0f\x01\xd0" not in code:
            continue
        sections = [[int(n, 16) for n in found] for found in re.findall(
            r" PROGBITS +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", call(["readelf", "-SW", library]))]
        for found in re.findall(r"^ *([0-9a-f]+):\s+xgetbv", call(["objdump", "-d", "--no-show-raw-insn", library]), re.M):
            at = int(found, 16)
            offset = next(offset + at - first for first, offset, size in sections if first <= at < first + size)
            code[offset:offset + 3] = b"\xb0\x07\x90"
        library.write_bytes(code)
    unfinished.rename(limited)


def prepare(work, networks):
    """Makes environment, models and programs, unless they exist."""
    if work.name in LEVELS:
        prepare_models(work.parent, networks)
        work.mkdir(exist_ok=True)
        for shared in ("models", "venv"):
            if not (work / shared).exists():
                (work / shared).symlink_to(f"../{shared}")
        limit_engines(work)
    else:
        prepare_models(work, networks)
    build(work, [f"peer_{n}" for n in networks])
    for name in networks:
        program = work / f"build/peer_{name}"
        call([program, "dice", "--pack", f"{program}.packed"])


def quiet(patience):
    """Waits until the machine is idle, at most `patience` seconds."""
    end = time.monotonic() + patience
    while time.monotonic() < end and host.busy() > host.MOST_BUSY:
        pass


def threads_of(text):
    return [int(n) for n in text.split(",")]


def wanted(work, name):
    """The words of dice's --expect for the network's outputs."""
    return [f"{output}={file}" if output else file for output, file in outputs(work / "models" / name).items()]


def dice_command(work, name, *options):
    """Runs the network's program on its own picture, with the packed weights that prepare() put beside it."""
    return [work / f"build/peer_{name}", "dice", "--input", work / f"models/{name}_in.npy", *options]


def run_dice(work, name, threads, *options):
    """What the program of dice_command() prints."""
    return call(dice_command(work, name, *options), env=environment(work, threads))


def layer_times(work, name, threads, seconds=2):
    """The network's groups in their order, as the program's `layers` prints them, each with its minimum "ms" over some
    frames; and the minimum ms of a whole frame, measured separately."""
    file = work / "layers.json"

    def latency(frames):
        run_dice(work, name, threads, "--in-flight", 1, "--warmup", 3, "--frames", frames, "--json", file)
        return json.loads(file.read_text())["latency_ms"]["min"]
    frames = max(20, int(1000 * seconds / latency(5)))
    whole = latency(frames)
    run_dice(work, name, threads, "--in-flight", 1, "--warmup", 3, "--frames", frames, "--trace", file)
    spans = {}  # (group, frame): from when the first thread begins to when the last ends
    for event in json.loads(file.read_text())["traceEvents"]:
        if event["ph"] == "X":
            key = event["name"], event.get("args", {}).get("frame")
            begin, end = spans.get(key, (event["ts"], 0))
            spans[key] = min(begin, event["ts"]), max(end, event["ts"] + event["dur"])
    least = {}
    for (group, _), (begin, end) in spans.items():
        least[group] = min(least.get(group, end - begin), end - begin)
    groups = json.loads(call([work / f"build/peer_{name}", "layers"]))["layers"]
    return [{**g, "ms": least[g["name"]] / 1000} for g in groups], whole
