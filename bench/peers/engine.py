#!/usr/bin/env python3
"""engine.py ENGINE NAME MODELS THREADS WARMUP SECONDS: one engine on one network, float32, one frame at a time.

ENGINE is onnxruntime, openvino, ncnn or compile (torch.compile); MODELS the folder with NAME.onnx, NAME_in.npy and
NAME_out.npy, or NAME_out_OUTPUT.npy for each of several outputs (ncnn: NAME.ncnn.param and .bin by pnnx). After WARMUP
seconds of warm-up it prints a line of JSON, the milliseconds of a frame, and stops itself (SIGSTOP); once continued, it
measures for SECONDS. Then it prints a second line: milliseconds to load, of the first and of each later run, and from the
start of the process to the first result; memory beyond that of the imported library; and the largest error.
"""
import json
import os
import pathlib
import signal
import statistics
import sys
import time

WARMUP, LEAST_FRAMES = 5, 10


def age_ms():
    """Milliseconds since the process was started, with a resolution of 1/100 s."""
    began = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    return 1000 * (time.clock_gettime(time.CLOCK_BOOTTIME) - began)


def peak_bytes():
    """Of this process; getrusage() would count what its parent had when it started this one."""
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024


def frames_of(seconds, least):
    """Counts from 0, for `seconds` seconds and at least `least` times."""
    began, n = time.perf_counter(), 0
    while n < least or time.perf_counter() < began + seconds:
        yield n
        n += 1


def outputs(path):
    """{output, "" if there is only one: its .npy}, in the order of the network's outputs, which is that of their names."""
    start = f"{pathlib.Path(path).name}_out"
    return {file.stem[len(start) + 1:]: file for file in sorted(pathlib.Path(path).parent.glob(f"{start}*.npy"))}


def onnxruntime(path, threads):
    import onnxruntime as library

    def load(frame):
        options = library.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        session = library.InferenceSession(f"{path}.onnx", options, providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name
        return lambda: session.run(None, {name: frame})
    return library.__version__, load


def openvino(path, threads):
    import openvino as library

    def load(frame):
        model = library.Core().compile_model(f"{path}.onnx", "CPU", {
            "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32"})
        request = model.create_infer_request()
        request.set_input_tensor(library.Tensor(frame, shared_memory=True))

        def run():
            request.infer()
            return [output.data for output in request.output_tensors]
        return run
    return library.__version__.split("-")[0], load


def ncnn(path, threads):
    import ncnn as library
    import numpy

    def load(frame):
        net = library.Net()
        net.opt.num_threads = threads
        net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
        net.opt.use_bf16_storage = False
        if net.load_param(f"{path}.ncnn.param") or net.load_model(f"{path}.ncnn.bin"):
            sys.exit(f"ncnn cannot load {path}.ncnn.param")
        matrix = library.Mat(frame[0])

        def run():
            extractor = net.create_extractor()
            extractor.input("in0", matrix)
            return [numpy.array(extractor.extract(f"out{k}")[1]) for k in range(len(net.output_names()))]
        return run
    return library.__version__, load


def compile(path, threads):
    import torch as library
    import torch._inductor.config
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "test/networks"))
    import architectures
    import make_models
    library.set_num_threads(threads)
    library.set_grad_enabled(False)
    torch._inductor.config.freezing = True
    name = pathlib.Path(path).name
    net = make_models.build(name, architectures.FULL[name], 2)[0]  # seeded: the network that was exported

    def load(frame):
        model, tensor = library.compile(net, mode="max-autotune"), library.from_numpy(frame)

        def run():
            got = model(tensor)
            return [result.numpy() for result in (got if isinstance(got, (tuple, list)) else [got])]
        return run
    return library.__version__.split("+")[0], load


def main():
    engine, name, models, threads, warmup, seconds = *sys.argv[1:4], int(sys.argv[4]), *map(float, sys.argv[5:7])
    os.environ["OMP_NUM_THREADS"] = str(threads)
    import numpy
    path = f"{models}/{name}"
    version, load = globals()[engine](path, threads)
    frame = numpy.load(f"{path}_in.npy")[:1]
    wanted = [numpy.load(file)[:1] for file in outputs(path).values()]
    base, start = peak_bytes(), time.perf_counter()
    run = load(numpy.ascontiguousarray(frame))
    loaded = time.perf_counter()
    got = run()
    first, first_age = time.perf_counter(), age_ms()

    def measure(seconds, least):
        times = []
        for _ in frames_of(seconds, least):
            before = time.perf_counter()
            results = run()
            times.append(1000 * (time.perf_counter() - before))
        return times, results
    print(json.dumps({"frame_ms": statistics.median(measure(warmup, WARMUP)[0])}), flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
    times, got = measure(seconds, LEAST_FRAMES)
    errors = [abs(numpy.asarray(a).reshape(b.shape) - b).max() / abs(b).max() for a, b in zip(got, wanted, strict=True)]
    print(json.dumps({
        "version": version, "load_ms": 1000 * (loaded - start), "first_ms": 1000 * (first - loaded), "times_ms": times,
        "start_to_first_ms": first_age,
        "bytes": peak_bytes() - base, "error": float(max(errors))}))


if __name__ == "__main__":
    main()
