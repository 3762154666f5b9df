#!/usr/bin/env python3
"""Write networks of keras.applications as ONNX files, with inputs and Keras' outputs: NAME.onnx, NAME_in.npy, NAME_out.npy.

    make_keras_models.py --out DIR [--opset N] [--first] [--frames N] [NAME…]

Needs Keras 3, TensorFlow or PyTorch, and ONNX Runtime (KERAS_BACKEND=torch chooses PyTorch). With TensorFlow, Keras exports by
its own copy of tf2onnx; --opset N uses the package tf2onnx instead, and --first gives pictures channels first. Weights are
random, and batch normalisation does something. Checks that ONNX Runtime computes the same.
"""
import argparse
import os
import pathlib
import sys
import zlib

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import numpy as np

if not hasattr(np, 'object'):   # tf2onnx 1.16 uses names that NumPy 2 lacks
    np.object, np.bool, np.cast = object, np.bool_, {}

import keras
from keras import layers


def application(name, size=224):
    make = getattr(keras.applications, name)
    return lambda: make(weights=None, input_shape=(size, size, 3))


def signal():
    """A series of numbers: convolutions along one axis."""
    given = keras.Input((256, 4))
    x = layers.Conv1D(16, 5, padding='same', strides=2)(given)
    x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.SeparableConv1D(32, 3, padding='same')(x)
    x = layers.MaxPooling1D()(layers.Conv1D(32, 3, padding='causal', dilation_rate=2)(x))
    return keras.Model(given, layers.Dense(5)(layers.GlobalAveragePooling1D()(x)))


def segmentation():
    """Pictures from pictures: what else there is in Keras that names axes."""
    given = keras.Input((64, 64, 3))
    wide = layers.Conv2D(16, 3, padding='same', activation='relu')(given)
    x = layers.Conv2D(32, 3, padding='same', activation='elu')(layers.MaxPooling2D()(wide))
    x = layers.Concatenate()([wide, layers.UpSampling2D(2)(x)])
    x = layers.Conv2D(16, 3, activation='silu')(layers.ZeroPadding2D(((1, 0), (0, 1)))(x))
    x = layers.PReLU(shared_axes=[1, 2])(layers.Cropping2D(((1, 0), (0, 1)))(x))
    x = layers.Conv2DTranspose(8, 3, strides=2, padding='same')(layers.AveragePooling2D(3, strides=2, padding='same')(x))
    x = layers.LeakyReLU()(layers.UpSampling2D(2, interpolation='bilinear')(x))
    return keras.Model(given, layers.Softmax()(layers.Conv2D(4, 1)(x)))


NETWORKS = {
    'mobilenet': application('MobileNet'), 'mobilenet_v2': application('MobileNetV2'),
    'mobilenet_v3_small': application('MobileNetV3Small'), 'mobilenet_v3_large': application('MobileNetV3Large'),
    'resnet50': application('ResNet50'), 'resnet50_v2': application('ResNet50V2'),
    'densenet121': application('DenseNet121'), 'nasnet_mobile': application('NASNetMobile'),
    'inception_v3': application('InceptionV3', 299), 'xception': application('Xception', 299),
    'efficientnet_b0': application('EfficientNetB0'), 'signal': signal, 'segmentation': segmentation,
}


def initialise(net, random):
    """Statistics and offsets with which no layer is an identity."""
    for weight in net.weights:
        kind, shape = weight.path.split('/')[-1], tuple(weight.shape)
        if kind in ('moving_variance', 'variance', 'gamma'):
            weight.assign((0.6 + 0.8 * random.random(shape)).astype(np.float32))
        elif kind in ('moving_mean', 'beta', 'bias', 'alpha'):
            weight.assign((0.1 * random.standard_normal(shape)).astype(np.float32))


def export(net, path, opset, first):
    if not opset:
        return net.export(str(path), format='onnx', verbose=False)
    import tensorflow
    import tf2onnx
    name = net.inputs[0].name
    spec = (tensorflow.TensorSpec((None, *net.inputs[0].shape[1:]), tensorflow.float32, name=name),)
    compute = tensorflow.function(lambda x: net(x, training=False), input_signature=spec)
    tf2onnx.convert.from_function(compute, input_signature=spec, opset=opset, output_path=str(path),
                                  inputs_as_nchw=[name] if first else None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=pathlib.Path, required=True, help='folder for the files')
    parser.add_argument('--opset', type=int, default=0, help='export by tf2onnx with this opset')
    parser.add_argument('--first', action='store_true', help='pictures have the channels first (with --opset)')
    parser.add_argument('--frames', type=int, default=2, help='input frames (default: 2)')
    parser.add_argument('names', nargs='*', metavar='NAME', help='only these networks')
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in NETWORKS]
    if unknown or (args.first and not args.opset):
        parser.error(f'no network {", ".join(unknown)}; known: {", ".join(NETWORKS)}' if unknown else '--first needs --opset')
    args.out.mkdir(parents=True, exist_ok=True)
    worst = 0.0
    for name in args.names or NETWORKS:
        keras.utils.set_random_seed(zlib.crc32(name.encode()) & 0x7fffffff)
        random = np.random.default_rng(zlib.crc32(name.encode()))
        net = NETWORKS[name]()
        initialise(net, random)
        given = random.standard_normal((args.frames, *net.inputs[0].shape[1:])).astype(np.float32)
        if any('rescaling' in layer.name for layer in net.layers):
            given = 128 + 50 * given   # of pictures as they are stored
        wanted = np.concatenate([np.asarray(net.predict(frame[None], verbose=0)) for frame in given])
        path = args.out / f'{name}.onnx'
        first = args.first and given.ndim == 4
        export(net, path, args.opset, first)
        if first:
            given = np.ascontiguousarray(np.moveaxis(given, -1, 1))
        np.save(args.out / f'{name}_in.npy', given)
        np.save(args.out / f'{name}_out.npy', wanted)
        import onnxruntime
        session = onnxruntime.InferenceSession(str(path), providers=['CPUExecutionProvider'])
        got = np.concatenate([session.run(None, {session.get_inputs()[0].name: frame[None]})[0] for frame in given])
        error = np.abs(got - wanted).max() / np.abs(wanted).max()
        worst = max(worst, error)
        print(f'{name:18} {given.shape} -> {wanted.shape}, ONNX Runtime differs by {error:.1e}', flush=True)
    return int(worst > 1e-4)


if __name__ == '__main__':
    sys.exit(main())
