#!/usr/bin/env python3
"""Write VGG-19 (arXiv 1409.1556, configuration E) with seeded weights: vgg19.onnx, vgg19_in.npy, vgg19_out.npy.

    make_vgg19.py [--out DIR] [--seed N]

Needs NumPy and ONNX (Debian: python3-numpy python3-onnx), no PyTorch. The weights are He-initialised, not trained: the
network costs the same as VGG-19, and its results equal those that NumPy computes here, but they recognise nothing in a
picture. The three files take 575 MB.
"""
import argparse
import pathlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

STAGES = [(2, 64), (2, 128), (4, 256), (4, 512), (4, 512)]  # convolutions and channels between two poolings
HIDDEN, CLASSES, SIZE = 4096, 1000, 224


def layers():
    """(operator, name, channels or features) of every layer in order; the names become those in vgg19.hpp."""
    for stage, (count, channels) in enumerate(STAGES, 1):
        for i in range(1, count + 1):
            yield 'Conv', f'conv{stage}_{i}', channels
            yield 'Relu', f'relu{stage}_{i}', None
        yield 'MaxPool', f'pool{stage}', None
    yield 'Flatten', 'flatten', None
    for number, features in (6, HIDDEN), (7, HIDDEN):
        yield 'Gemm', f'fc{number}', features
        yield 'Relu', f'relu{number}', None
    yield 'Gemm', 'fc8', CLASSES


def convolve(x, weight, bias):
    """3×3 with a border of zeros, of one picture (channels, height, width), a row of taps at a time."""
    channels, height, width = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    result = np.repeat(bias, height * width).reshape(len(weight), -1)
    for row in range(3):
        taps = np.stack([padded[:, row:row + height, column:column + width] for column in range(3)], 1)
        result += weight[:, :, row].reshape(len(weight), -1) @ taps.reshape(3 * channels, -1)
    return result.reshape(len(weight), height, width)


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=pathlib.Path, default=here, help='folder for the files (default: beside this script)')
    parser.add_argument('--seed', type=int, default=19)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)
    picture = random.standard_normal((1, 3, SIZE, SIZE), dtype=np.float32)
    nodes, weights, value, x = [], [], 'input', picture[0]
    for operator, name, count in layers():
        operands, attributes = [value], {}
        if operator in ('Conv', 'Gemm'):
            shape = (count, len(x), 3, 3) if operator == 'Conv' else (count, x.size)
            weight = random.standard_normal(shape, dtype=np.float32) * np.float32(np.sqrt(2 / np.prod(shape[1:])))
            bias = random.standard_normal(count, dtype=np.float32) * np.float32(0.05)
            for part, tensor in ('weight', weight), ('bias', bias):
                operands.append(f'{name}.{part}')
                weights.append(numpy_helper.from_array(tensor, operands[-1]))
        if operator == 'Conv':
            attributes = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1])
            x = convolve(x, weight, bias)
        elif operator == 'Gemm':
            attributes = dict(transB=1)
            x = weight @ x + bias
        elif operator == 'Relu':
            x = np.maximum(x, 0)
        elif operator == 'MaxPool':
            attributes = dict(kernel_shape=[2, 2], strides=[2, 2])
            x = x.reshape(len(x), x.shape[1] // 2, 2, x.shape[2] // 2, 2).max((2, 4))
        elif operator == 'Flatten':
            x = x.reshape(-1)
        value = 'output' if name == 'fc8' else f'{name}_out'
        nodes.append(helper.make_node(operator, operands, [value], name=name, **attributes))
    graph = helper.make_graph(
        nodes, 'vgg19', [helper.make_tensor_value_info('input', onnx.TensorProto.FLOAT, picture.shape)],
        [helper.make_tensor_value_info('output', onnx.TensorProto.FLOAT, [1, CLASSES])], weights)
    del weights
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], producer_name='make_vgg19.py')
    model.ir_version = 7
    args.out.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(args.out / 'vgg19.onnx'))
    np.save(args.out / 'vgg19_in.npy', picture)
    np.save(args.out / 'vgg19_out.npy', x[None])
    print(f'{args.out / "vgg19.onnx"}: written, with vgg19_in.npy and vgg19_out.npy')


if __name__ == '__main__':
    main()
