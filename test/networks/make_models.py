#!/usr/bin/env python3
"""Write the test networks as ONNX files, with inputs and PyTorch's outputs: NAME.onnx, NAME_in.npy, NAME_out.npy (for
several outputs NAME_out_OUTPUT.npy).

    make_models.py --out DIR [--small] [--exporter auto|torchscript|dynamo] [--frames N] [--check] [NAME…]

Needs PyTorch and torchvision (Debian's python3-torch and python3-torchvision, or the newest from PyPI; the dynamo exporter
also needs onnxscript). Weights are seeded: He-initialised convolutions, batch normalisation with the statistics of random
pictures, then perturbed, so that no layer is an identity and no output is saturated. The expected output is computed in
float64 from the float32 weights and rounded to float32. A network is refused if PyTorch's own float32 output differs from it
by more than a fifth of what `run` allows. --check also runs the file in ONNX Runtime.
"""
import argparse
import copy
import pathlib
import sys
import warnings
import zlib

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import architectures

TORCH = tuple(int(n) for n in torch.__version__.split('.')[:2])


def pictures(count, shape, generator):
    """Smooth random pictures with noise, (count, channels, height, width), about zero mean and unit variance."""
    channels, height, width = shape
    coarse = torch.randn(count, channels, max(height // 16, 4), max(width // 16, 4), generator=generator)
    smooth = F.interpolate(coarse, size=(height, width), mode='bilinear', align_corners=False)
    return smooth + 0.3 * torch.randn(count, *shape, generator=generator)


def initialise(net, slope, bias):
    for module in net.modules():
        if hasattr(module, 'constant'):
            module.weight.data.copy_(module.constant)
        elif isinstance(module, nn.ConvTranspose2d):
            taps = module.weight[0, 0].numel() / (module.stride[0] * module.stride[1])
            nn.init.normal_(module.weight, 0, (2.0 * module.groups / (module.in_channels * taps)) ** 0.5)
            if module.bias is not None:
                nn.init.normal_(module.bias, 0, 0.05)
        elif isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, a=slope, mode='fan_in', nonlinearity='leaky_relu')
            if module.bias is not None:
                nn.init.normal_(module.bias, 0, 0.05)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, 0, (2.0 / module.in_features) ** 0.5)
            if module.bias is not None:
                nn.init.normal_(module.bias, 0, 0.05)
        elif isinstance(module, (nn.BatchNorm2d, nn.LayerNorm, nn.GroupNorm)):
            nn.init.uniform_(module.weight, 0.6, 1.2)
            nn.init.normal_(module.bias, bias, 0.2)
    for name, parameter in net.named_parameters():   # 0, or so small that their layers would have no effect
        kind = name.split('.')[-1]
        if kind == 'layer_scale':
            nn.init.uniform_(parameter, 0.3, 0.7)
        elif kind in ('class_token', 'pos_embedding', 'relative_position_bias_table'):
            nn.init.normal_(parameter, 0, 0.3)
        elif kind == 'in_proj_bias':
            nn.init.normal_(parameter, 0, 0.05)


def calibrate(net, shape, generator):
    """Give every batch normalisation the statistics of random pictures, then move them by some 10 %."""
    norms = [m for m in net.modules() if isinstance(m, nn.BatchNorm2d)]
    net.eval()
    for norm in norms:
        norm.momentum = 1.0
        norm.train()
    with torch.no_grad():
        net(pictures(4, shape, generator))
        for norm in norms:
            deviation = norm.running_var.sqrt()
            norm.running_mean += 0.1 * deviation * torch.randn(deviation.shape, generator=generator)
            norm.running_var *= 0.7 + 0.6 * torch.rand(deviation.shape, generator=generator)
            norm.momentum = 0.1
    net.eval()


def build(name, network, frames):
    """The seeded network, its input frames and PyTorch's results."""
    seed = zlib.crc32(name.encode()) & 0x7fffffff
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    net = network.make()
    initialise(net, 0.1 if name.startswith('yolo') else 0.0, network.bias)
    calibrate(net, network.shape, generator)
    given = pictures(frames, network.shape, generator)
    wanted = outputs(copy.deepcopy(net).double(), given.double(), network)
    for (output, exact), single in zip(wanted.items(), outputs(net, given, network).values()):
        if not exact.is_floating_point():
            if not torch.equal(exact, single) or exact.unique(return_counts=True)[1].max() > 0.8 * exact.numel():
                raise SystemExit(f'{name}: {output} differs in float32, or is almost the same everywhere')
            continue
        spread = exact.std() / exact.abs().max()
        ends = torch.stack([(exact - end).abs() < 1e-6 * exact.abs().max() for end in (exact.min(), exact.max())])
        if not torch.isfinite(exact).all() or spread < 0.01 or ends.any(0).float().mean() > 0.5:
            raise SystemExit(f'{name}: {output} tells nothing (standard deviation / maximum = {spread:.2g})')
        error = (single - exact).abs().max() / exact.abs().max()
        if error > 2e-5:
            raise SystemExit(f'{name}: {output} differs by {error:.1e} in float32')
    return net, given, wanted


def outputs(net, frames, network):
    """{name: results of all frames, as float32 or integers}"""
    with torch.no_grad():
        results = [net(frame[None]) for frame in frames]
    columns = zip(*(r if isinstance(r, tuple) else (r,) for r in results))
    joined = [torch.cat(column) for column in columns]
    return {name: all.float() if all.is_floating_point() else all for name, all in zip(network.outputs, joined)}


def export_torchscript(net, frame, path, network):
    options = dict(opset_version=network.opset[0], input_names=['input'], output_names=list(network.outputs))
    if network.free_batch:
        options['dynamic_axes'] = {name: {0: 'batch'} for name in ('input', *network.outputs)}
    if network.keep_bn:
        options['training'] = torch.onnx.TrainingMode.PRESERVE
    if TORCH >= (2, 0):
        options['dynamo'] = False
    torch.onnx.export(net, frame, str(path), **options)


def export_dynamo(net, frame, path, network):
    options = dict(input_names=['input'], output_names=list(network.outputs), dynamo=True, verbose=False)
    if network.opset[1]:
        options['opset_version'] = network.opset[1]
    if network.raw:
        options['optimize'] = False
    if network.free_batch:
        options['dynamic_shapes'] = ({0: torch.export.Dim('batch')},)
        frame = torch.cat([frame, frame])
    program = torch.onnx.export(net, (frame,), **options)
    for node in program.model.graph.all_nodes():     # it contains local paths, and would be most of a small file
        node.metadata_props.pop('pkg.torch.onnx.stack_trace', None)
    program.save(str(path), external_data=True)


def check(path, given, wanted):
    """The largest difference of ONNX Runtime's results."""
    import onnxruntime
    session = onnxruntime.InferenceSession(str(path), providers=['CPUExecutionProvider'])
    results = zip(*(session.run(list(wanted), {'input': frame[None]}) for frame in given))
    return max(np.abs(np.concatenate(got) - b).max() / np.abs(b).max() for got, b in zip(results, wanted.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=pathlib.Path, required=True, help='folder for the files')
    parser.add_argument('--small', action='store_true', help='the small networks instead of those at full size')
    parser.add_argument('--exporter', choices=['auto', 'torchscript', 'dynamo'], default='auto',
                        help='auto: what this PyTorch uses by default')
    parser.add_argument('--frames', type=int, default=0, help='input frames (default: 3 small, 2 full size)')
    parser.add_argument('--check', action='store_true', help='compare with ONNX Runtime')
    parser.add_argument('names', nargs='*', metavar='NAME', help='only these networks')
    args = parser.parse_args()
    networks = architectures.SMALL if args.small else architectures.FULL
    unknown = [name for name in args.names if name not in networks]
    if unknown:
        parser.error(f'no network {", ".join(unknown)}; known: {", ".join(networks)}')
    new = TORCH >= (2, 9)     # since when the dynamo exporter is the default
    exporter = args.exporter if args.exporter != 'auto' else 'dynamo' if new else 'torchscript'
    if exporter == 'dynamo' and not new:
        parser.error(f'PyTorch {torch.__version__} has no usable dynamo exporter (2.9 or newer)')
    warnings.filterwarnings('ignore')
    args.out.mkdir(parents=True, exist_ok=True)
    worst = 0.0
    for name in args.names or networks:
        network = networks[name]
        net, given, wanted = build(name, network, args.frames or (3 if args.small else 2))
        path = args.out / f'{name}.onnx'
        (export_dynamo if exporter == 'dynamo' else export_torchscript)(net, given[:1], path, network)
        np.save(args.out / f'{name}_in.npy', given.numpy())
        wanted = {output: values.numpy() for output, values in wanted.items()}
        for output, values in wanted.items():
            np.save(args.out / f'{name}_out{"_" + output if len(wanted) > 1 else ""}.npy', values)
        size = sum(file.stat().st_size for file in args.out.glob(f'{name}.onnx*'))
        shapes = ', '.join(str(values.shape) for values in wanted.values())
        line = f'{name:18} {exporter} {tuple(given.shape)} -> {shapes}, {size / 1e6:.2f} MB'
        if args.check:
            error = check(path, given.numpy(), wanted)
            worst = max(worst, error)
            line += f', ONNX Runtime differs by {error:.1e}'
        print(line, flush=True)
    return int(worst > 1e-4)


if __name__ == '__main__':
    sys.exit(main())
