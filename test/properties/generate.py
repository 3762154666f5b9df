#!/usr/bin/env python3
"""generate.py FOLDER SEED…: random networks as ONNX models, with frames and what NumPy computes from them.

For each seed NAME.onnx, NAME_<graph input>.npy and NAME_<graph output>.npy, NAME being seed_SEED.  Branches, skips, Concats
(also of a tensor with itself), views, several graph inputs and outputs, outputs in the middle, unused layers, batch sizes of
1 to 3; blocks of up to 130 channels as in known networks: residual, Inception, depthwise, squeeze-and-excitation, with halving
pools.  The same seed gives the same files.  What must occur in the committed seeds: program.hpp, count_occurrences.
"""
import pathlib
import random
import sys

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import helper, numpy_helper

FRAMES = 5


def windows(x, kernel, strides, dilations, pads, fill):
    """(N, C, H, W) as (N, C, rows, columns, kernel rows, kernel columns)."""
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    view = sliding_window_view(x, reach, axis=(2, 3))
    return view[:, :, ::strides[0], ::strides[1], ::dilations[0], ::dilations[1]]


def convolution(x, w, b, groups, *window):
    view = windows(x, w.shape[2:], *window, 0)
    view = view.reshape(view.shape[0], groups, -1, *view.shape[2:])
    y = np.einsum("bgchwij,gmcij->bgmhw", view, w.reshape(groups, -1, *w.shape[1:]), optimize=True)
    return y.reshape(y.shape[0], -1, *y.shape[3:]) + b.reshape(-1, 1, 1)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


class Skipped(Exception):
    """A node was not added."""


class Network:
    def __init__(self, seed):
        self.draw, self.numbers = random.Random(seed), np.random.RandomState(seed)
        self.inputs, self.outputs, self.nodes, self.constants = [], [], [], []
        self.read = set()
        self.ignored = {"in1"} if seed % 8 == 1 else set()  # an input that nobody reads
        self.values = {}  # by tensor: its values for each frame, in double precision
        batch = self.draw.choice([1, 1, 2, 3])
        for k in range(self.draw.choice([1, 1, 2])):
            shape = [batch, self.draw.choice([1, 3, 4, 6, 20]), self.draw.randint(8, 10) if k == 0 else self.draw.randint(4, 9),
                     self.draw.randint(8, 10)]
            self.inputs.append(f"in{k}")
            self.values[f"in{k}"] = [self.random(shape) for _ in range(FRAMES)]
        steps = [self.convolution] * 2 + [self.join, self.sum] * 2 + [
            self.activation, self.normalization, self.pool, self.slice, self.scale, self.nothing, self.transpose]
        blocks = [self.residual, self.inception, self.separable, self.squeeze, self.halving]
        self.attempt_block(blocks[2 * seed % 5])  # so that any three seeds in a row have all
        while len(self.nodes) < 14:
            self.attempt(self.draw.choice(steps))
        self.attempt_block(blocks[(2 * seed + 1) % 5])
        self.attempt(self.head)
        made = [t for t in self.values if t not in self.inputs and t not in self.ignored]
        loose = [t for t in made if t not in self.read]  # some of these stay unread
        ends = list(dict.fromkeys([made[-1], *loose[-3:-1], *self.draw.sample(made, self.draw.choice([0, 1]))]))
        if seed % 4 == 1:  # a tensor that is two outputs, and an input that is also an output
            ends += [made[-1], self.inputs[0]]
        for tensor in ends:
            name = f"out{len(self.outputs)}"
            self.nodes.append(helper.make_node("Identity", [tensor], [name]))
            self.values[name] = self.values[tensor]
            self.outputs.append(name)

    def attempt(self, step):
        try:
            step()
        except Skipped:
            pass

    def attempt_block(self, block):
        """Nothing else reads what is within the block."""
        before = set(self.values)
        self.attempt(block)
        self.ignored.update([t for t in self.values if t not in before][:-1])

    def random(self, shape, scale=1.0):
        return (self.numbers.standard_normal(shape) * scale).astype(np.float32).astype(np.float64)

    def shape(self, tensor):
        return self.values[tensor][0].shape

    def pick(self, fits=lambda shape: len(shape) == 4):
        """A tensor whose shape fits, more likely a recent one that nobody has read."""
        found = [t for t in self.values if fits(self.shape(t)) and t not in self.ignored]
        unread = [t for t in found if t not in self.read]
        return self.draw.choice(unread[-2:] if unread and self.draw.random() < 0.7 else found)

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def add(self, operator, inputs, function, constants=(), **attributes):
        """Adds a node; `function` computes its value from those of `inputs`. Returns its name. Throws Skipped if
        the result hardly varies or grows too large."""
        values = [function(*(self.values[i][f] for i in inputs)) for f in range(FRAMES)]
        if np.ptp(values) < 1e-3 or np.abs(values).max() > 1e3:
            raise Skipped
        name = f"t{len(self.nodes)}"
        self.values[name] = values
        self.read.update(inputs)
        inputs = [*inputs, *map(self.constant, constants)]
        self.nodes.append(helper.make_node(operator, inputs, [name], f"n{len(self.nodes)}", **attributes))
        return name

    def window(self, shape, kernel):
        """Strides, dilations and pads that leave an output."""
        strides = [self.draw.choice([1, 1, 2]) for _ in range(2)]
        dilations = [self.draw.choice([1, 1, 2]) if k < n else 1 for k, n in zip(kernel, shape[2:])]
        pads = [self.draw.randint(0, k // 2) for k in [*kernel, *kernel]]
        for axis in range(2):
            if shape[2 + axis] + pads[axis] + pads[2 + axis] < (kernel[axis] - 1) * dilations[axis] + 1:
                dilations[axis] = 1
        return strides, dilations, pads

    def convolution(self):
        x = self.pick()
        shape = self.shape(x)
        kernel = [min(k, n) for k, n in zip(self.draw.choice([(1, 1), (3, 3), (3, 1), (4, 4), (5, 5), (1, 7)]), shape[2:])]
        groups = self.draw.choice([1, 1, 1, shape[1], 2 if shape[1] % 2 == 0 else 1])
        channels = groups * max(1, self.draw.choice([3, 8, 12, 16, 24, 40, 64]) // groups)
        self.convolve(x, channels, kernel, groups, *self.window(shape, kernel))

    def convolve(self, x, channels, kernel, groups=1, strides=(1, 1), dilations=(1, 1), pads=None):
        """Without pads, the result has the extents of x."""
        shape = self.shape(x)
        pads = pads or [(k - 1) // 2 for k in kernel] + [k // 2 for k in kernel]
        w = self.random((channels, shape[1] // groups, *kernel), (np.prod(kernel) * shape[1] / groups) ** -0.5)
        b = self.random(channels, 0.3)
        return self.add("Conv", [x], lambda v: convolution(v, w, b, groups, strides, dilations, pads),
                 [w.astype(np.float32), b.astype(np.float32)], kernel_shape=kernel, group=groups, strides=strides,
                 dilations=dilations, pads=pads)

    def large(self):
        """A tensor of at least 8 × 8 pixels if there is one, else of at least 3 × 3."""
        for least in (8, 3, 1):
            fits = lambda shape: len(shape) == 4 and min(shape[2:]) >= least
            if any(fits(self.shape(t)) for t in self.values if t not in self.ignored):
                return self.pick(fits)

    def function(self, x, operator="Relu"):
        functions = {"Relu": lambda v: np.maximum(v, 0), "Sigmoid": lambda v: 1 / (1 + np.exp(-v))}
        return self.add(operator, [x], functions[operator])

    def residual(self):
        """Two large operands: their sum, and its convolution."""
        channels, kernel = self.draw.choice([40, 64, 96]), self.draw.choice([(3, 3), (5, 5), (1, 7)])
        x = self.function(self.convolve(self.large(), channels, (1, 1)))
        y = self.function(self.convolve(x, channels, kernel))
        z = self.add("Add", [self.convolve(y, channels, kernel), x], np.add)
        self.convolve(self.function(z), self.draw.choice([64, 96]), (3, 3))

    def inception(self):
        """Branches of whole blocks of channels, joined, and a convolution of them."""
        x = self.convolve(self.large(), 32, (1, 1))
        kernels = self.draw.sample([(1, 1), (3, 3), (5, 5), (1, 7), (4, 4)], self.draw.choice([2, 3]))
        parts = [self.convolve(x, self.draw.choice([32, 48]), k) for k in kernels[:-1]]
        parts.append(self.convolve(x, self.draw.choice([16, 18]), kernels[-1]))
        joined = self.function(self.add("Concat", parts, lambda *v: np.concatenate(v, 1), axis=1))
        self.convolve(joined, self.draw.choice([64, 130]), (3, 3))

    def separable(self):
        """Depthwise, then in groups that share blocks of channels."""
        x = self.convolve(self.large(), self.draw.choice([24, 48, 72]), (1, 1))
        channels, kernel, stride = self.shape(x)[1], self.draw.choice([(3, 3), (5, 5), (4, 4)]), self.draw.choice([(1, 1), (2, 2)])
        x = self.function(self.convolve(x, channels, kernel, channels, stride))
        x = self.convolve(x, self.draw.choice([32, 72]), self.draw.choice([(1, 1), (3, 3)]), self.draw.choice([4, 8]))
        self.convolve(x, 20, (1, 1))

    def squeeze(self):
        """Squeeze-and-excitation: each channel times a number from the means of all."""
        channels = self.draw.choice([16, 33, 64])
        x = self.convolve(self.large(), channels, self.draw.choice([(1, 1), (3, 3)]))
        means = self.add("GlobalAveragePool", [x], lambda v: v.mean((2, 3), keepdims=True))
        gate = self.convolve(self.function(self.convolve(means, self.draw.choice([4, 16]), (1, 1))), channels, (1, 1))
        self.convolve(self.add("Mul", [x, self.function(gate, "Sigmoid")], np.multiply), 20, (1, 1))

    def halving(self):
        """A convolution that ends with the maximum of each 2 × 2 results."""
        x = self.function(self.convolve(self.large(), self.draw.choice([16, 48, 64]), (3, 3)))
        if min(self.shape(x)[2:]) >= 4:
            self.add("MaxPool", [x], lambda v: windows(v, [2, 2], [2, 2], [1, 1], [0] * 4, -np.inf).max((4, 5)),
                     kernel_shape=[2, 2], strides=[2, 2])

    def pool(self):
        x = self.pick()
        kernel = [min(self.draw.choice([2, 3]), n) for n in self.shape(x)[2:]]
        strides, _, pads = self.window(self.shape(x), kernel)
        kind = self.draw.choice(["max", "average", "global"])
        if kind == "max":
            self.add("MaxPool", [x], lambda v: windows(v, kernel, strides, [1, 1], pads, -np.inf).max((4, 5)),
                     kernel_shape=kernel, strides=strides, pads=pads)
        elif kind == "average":
            count = self.draw.randint(0, 1)
            def mean(v):
                parts = windows(v, kernel, strides, [1, 1], pads, 0).sum((4, 5))
                return parts / windows(np.ones_like(v), kernel, strides, [1, 1], pads, count).sum((4, 5))
            self.add("AveragePool", [x], mean, kernel_shape=kernel, strides=strides, pads=pads, count_include_pad=count)
        else:
            self.add("GlobalAveragePool", [x], lambda v: v.mean((2, 3), keepdims=True))

    def activation(self):
        x = self.pick(lambda shape: True)
        operator, function = self.draw.choice([("Relu", lambda v: np.maximum(v, 0)), ("Sigmoid", lambda v: 1 / (1 + np.exp(-v))),
                                               ("Tanh", np.tanh), ("HardSwish", lambda v: v * np.clip(v / 6 + 0.5, 0, 1))])
        self.add(operator, [x], function)

    def normalization(self):
        x = self.pick()
        c = self.shape(x)[1]
        scale, shift, mean = (self.random(c) for _ in range(3))
        variance = np.abs(self.random(c)).astype(np.float32).astype(np.float64) + 0.5
        each = lambda p: p.reshape(-1, 1, 1)
        self.add("BatchNormalization", [x],
                 lambda v: each(scale) * (v - each(mean)) / np.sqrt(each(variance) + 1e-3) + each(shift),
                 [p.astype(np.float32) for p in (scale, shift, mean, variance)], epsilon=1e-3)

    def join(self):
        """Joins tensors that differ in one axis only, or one tensor twice."""
        x = self.pick()
        axis = self.draw.choice([1, 1, 1, 2, 3])
        rest = lambda shape: len(shape) == 4 and all(shape[a] == self.shape(x)[a] for a in range(4) if a != axis)
        parts = [x] + [self.pick(rest) for _ in range(self.draw.choice([1, 1, 2, 3]))]
        self.draw.shuffle(parts)
        if sum(self.shape(p)[axis] for p in parts) <= (200 if axis == 1 else 24):
            self.add("Concat", parts, lambda *v: np.concatenate(v, axis), axis=axis)

    def sum(self):
        x = self.pick(lambda shape: True)
        others = [t for t in self.values if self.shape(t) == self.shape(x) and t not in {x, *self.ignored}]
        y = self.draw.choice(others or [x])  # x - x would hide errors of the layers before
        operator, function = self.draw.choice([("Add", np.add), ("Mul", np.multiply)] + [("Sub", np.subtract)] * bool(others))
        self.add(operator, [x, y], function)

    def scale(self):
        x = self.pick()
        c = self.random((1, self.shape(x)[1], 1, 1))
        operator, function = self.draw.choice([("Add", np.add), ("Mul", np.multiply)])
        self.add(operator, [x], lambda v: function(v, c), [c.astype(np.float32)])

    def slice(self):
        x = self.pick()
        axis = self.draw.choice([1, 1, 2])
        n = self.shape(x)[axis]
        begin = self.draw.randrange(n)
        end = self.draw.randint(begin + 1, n)
        index = tuple(slice(begin, end) if a == axis else slice(None) for a in range(4))
        self.add("Slice", [x], lambda v: v[index], [np.array([p]) for p in (begin, end, axis)])

    def nothing(self):
        """Layers that move no bytes, or are folded away."""
        x = self.pick()
        b, c, h, w = self.shape(x)
        if self.draw.random() < 0.5:
            self.add("Reshape", [x], lambda v: v.reshape(b, c, w, h), [np.array([0, c, w, h])])
        else:
            self.add("Identity", [x], lambda v: v)

    def transpose(self):
        x = self.pick()
        order = self.draw.choice([[0, 2, 1, 3], [0, 1, 3, 2], [0, 3, 1, 2]])
        self.add("Transpose", [x], lambda v: v.transpose(order), perm=order)

    def head(self):
        """A classifier, with which most networks end."""
        x = self.pick()
        b, elements = self.shape(x)[0], int(np.prod(self.shape(x)[1:]))
        self.add("Flatten", [x], lambda v: v.reshape(b, -1), axis=1)
        w, c = self.random((elements, 7), elements ** -0.5), self.random(7)
        self.add("Gemm", [f"t{len(self.nodes) - 1}"], lambda v: v @ w + c, [w.astype(np.float32), c.astype(np.float32)])
        if self.draw.random() < 0.5:
            self.add("Softmax", [f"t{len(self.nodes) - 1}"], lambda v: softmax(v, 1), axis=1)

    def write(self, folder, name):
        value = lambda t: helper.make_tensor_value_info(t, onnx.TensorProto.FLOAT, self.shape(t))
        graph = helper.make_graph(self.nodes, name, [*map(value, self.inputs)], [*map(value, self.outputs)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        for tensor in self.inputs + self.outputs:
            np.save(folder / f"{name}_{tensor}.npy", np.concatenate(self.values[tensor]).astype(np.float32))
        onnx.save(model, folder / f"{name}.onnx")


if __name__ == "__main__":
    for seed in sys.argv[2:]:
        Network(int(seed)).write(pathlib.Path(sys.argv[1]), f"seed_{seed}")
