#!/usr/bin/env python3
"""Write back_and_forth.onnx, features.npy and scores.npy, reproducibly.

    make_model.py [--out DIR]

Needs NumPy and ONNX (Debian: python3-numpy python3-onnx). The weights are random numbers from a fixed seed. The scores are
computed here in float64 with NumPy only, without ONNX and without dice.
"""
import argparse
import pathlib

import numpy as np

CHANNELS, SIZE, CLASSES, FRAMES = 8, 16, 10, 6


def numbers():
    """Weights and input frames, float32."""
    random = np.random.default_rng(2022)

    def draw(*shape, scale):
        return (scale * random.standard_normal(shape)).astype(np.float32)

    weights = {
        'Conv1.weight': draw(CHANNELS, CHANNELS, 3, 3, scale=0.2),
        'Conv1.bias': draw(CHANNELS, scale=0.5),
        'FC1.weight': draw(CLASSES, CHANNELS * SIZE // 2 * SIZE // 2, scale=0.05),
        'FC1.bias': draw(CLASSES, scale=0.5),
    }
    return weights, draw(FRAMES, CHANNELS, SIZE, SIZE, scale=1)


def scores(weights, frames):
    """The network in float64: (N,8,16,16) -> (N,10)."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}
    half = SIZE // 2
    pooled = frames.astype(np.float64).reshape(-1, CHANNELS, half, 2, half, 2).max(axis=(3, 5))       # MaxPool1
    padded = np.pad(pooled, ((0, 0), (0, 0), (1, 1), (1, 1)))
    convolved = w['Conv1.bias'].reshape(1, -1, 1, 1) + sum(                                           # Conv1
        np.einsum('oc,nchw->nohw', w['Conv1.weight'][:, :, y, x], padded[:, :, y:y + half, x:x + half])
        for y in range(3) for x in range(3))
    added = convolved + pooled                                                                        # Add1
    relu = np.maximum(added, 0)                                                                       # Relu1
    return relu.reshape(len(frames), -1) @ w['FC1.weight'].T + w['FC1.bias']                          # Flatten1, FC1


def model(weights):
    """The same network as ONNX."""
    from onnx import TensorProto, checker, helper, numpy_helper
    nodes = [
        helper.make_node('MaxPool', ['features'], ['pooled'], 'MaxPool1', kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node('Conv', ['pooled', 'Conv1.weight', 'Conv1.bias'], ['convolved'], 'Conv1', kernel_shape=[3, 3],
                         pads=[1, 1, 1, 1]),
        helper.make_node('Add', ['convolved', 'pooled'], ['added'], 'Add1'),
        helper.make_node('Relu', ['added'], ['relu'], 'Relu1'),
        helper.make_node('Flatten', ['relu'], ['flat'], 'Flatten1'),
        helper.make_node('Gemm', ['flat', 'FC1.weight', 'FC1.bias'], ['scores'], 'FC1', transB=1),
    ]
    graph = helper.make_graph(
        nodes, 'back_and_forth',
        [helper.make_tensor_value_info('features', TensorProto.FLOAT, [1, CHANNELS, SIZE, SIZE])],
        [helper.make_tensor_value_info('scores', TensorProto.FLOAT, [1, CLASSES])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=7)
    checker.check_model(made)
    return made


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=pathlib.Path, default=here, help='folder for the files (default: beside this script)')
    args = parser.parse_args()
    weights, frames = numbers()
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / 'back_and_forth.onnx').write_bytes(model(weights).SerializeToString())
    np.save(args.out / 'features.npy', frames)
    np.save(args.out / 'scores.npy', scores(weights, frames).astype(np.float32))


if __name__ == '__main__':
    main()
