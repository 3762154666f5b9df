#!/usr/bin/python3
"""make_expected.py > expected.json: cases of every operator with the outputs that PyTorch (float64) computes.

Tensors of a case are given by shape, seed and range; values() here and in harness.hpp make the same float32 numbers.
"""
import json
import math

import numpy
import torch
import torch.nn.functional as F

cases = []


def values(shape, seed, low=-1.0, high=1.0):
    """Numbers of 24 random bits, exact in float32 before scaling; scaled in float32."""
    count = math.prod(shape)
    i = numpy.arange(count, dtype=numpy.uint64)
    bits = ((i + 1) * 2654435761 + seed * 40503 * 65537) % (1 << 32)
    bits = ((bits ^ (bits >> 15)) * 2246822519) % (1 << 32)
    unit = (bits >> 8).astype(numpy.float32) / numpy.float32(1 << 24)
    scaled = numpy.float32(low) + unit * numpy.float32(high - low)
    return torch.from_numpy(scaled.astype(numpy.float64)).reshape(shape)


class Case:
    def __init__(self, op, **attributes):
        self.data = {"op": op, "attributes": attributes, "inputs": [], "parameters": []}
        self.seed = 100 * len(cases)

    def tensor(self, where, shape, low=-1.0, high=1.0):
        self.seed += 1
        self.data[where].append({"shape": list(shape), "seed": self.seed, "low": low, "high": high})
        return values(shape, self.seed, low, high)

    def input(self, *shape, **kw):
        return self.tensor("inputs", shape, **kw)

    def parameter(self, *shape, **kw):
        return self.tensor("parameters", shape, **kw)

    def expect(self, y, activation=None, residual=False):
        if residual:
            self.data["residual"] = []
            y = y + self.tensor("residual", y.shape)
        if activation:
            self.data["activation"] = activation
            y = {"relu": F.relu, "leaky_relu": lambda v: F.leaky_relu(v, 0.1), "clip": lambda v: v.clamp(-0.5, 0.75),
                 "sigmoid": torch.sigmoid, "tanh": torch.tanh, "hard_swish": F.hardswish}[activation](y)
        self.data["shape"] = list(y.shape)
        self.data["expected"] = [float(f"{v:.8g}") for v in y.reshape(-1).tolist()]
        cases.append(self.data)


def conv(shape, channels, kernel, strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0), group=1, bias=True, **after):
    flat = len(shape) == 3
    c = Case("conv", channels=channels, kernel=kernel, strides=strides, dilations=dilations, pads=pads, group=group,
             bias=bias)
    x = c.input(*shape)
    w = c.parameter(channels, shape[1] // group, *(kernel[1:] if flat else kernel))
    b = c.parameter(channels) if bias else None
    if flat:
        y = F.conv1d(F.pad(x, (pads[1], pads[3])), w, b, strides[1], 0, dilations[1], group)
    else:
        y = F.conv2d(F.pad(x, (pads[1], pads[3], pads[0], pads[2])), w, b, strides, 0, dilations, group)
    c.expect(y, **after)


conv((1, 3, 7, 7), 4, (3, 3), pads=(1, 1, 1, 1))
conv((2, 2, 5, 6), 3, (3, 3), strides=(2, 2), pads=(0, 1, 1, 0), activation="relu")
conv((1, 4, 6, 7), 5, (1, 1), bias=False, residual=True)
conv((1, 4, 6, 7), 6, (1, 1), strides=(2, 2), residual=True, activation="relu")
conv((1, 3, 11, 9), 2, (3, 3), dilations=(2, 2), pads=(2, 2, 2, 2), activation="leaky_relu")
conv((1, 2, 9, 10), 3, (2, 3), strides=(3, 2), dilations=(1, 2), pads=(1, 0, 2, 3), activation="clip")
conv((1, 6, 5, 5), 4, (3, 3), pads=(1, 1, 1, 1), group=2, activation="tanh")
conv((1, 6, 7, 5), 6, (3, 3), pads=(1, 1, 1, 1), group=6, activation="sigmoid")
conv((1, 3, 8, 8), 6, (5, 5), strides=(2, 2), pads=(2, 2, 2, 2), group=3)
conv((1, 3, 6, 9), 4, (1, 7), pads=(0, 3, 0, 3), activation="hard_swish")
conv((1, 3, 9, 6), 4, (7, 1), pads=(3, 0, 3, 0), residual=True)
conv((1, 2, 12, 13), 3, (7, 7), strides=(2, 2), pads=(3, 3, 3, 3))
conv((2, 3, 17), 4, (1, 3), pads=(0, 1, 0, 1), activation="relu")
conv((1, 4, 20), 6, (1, 5), strides=(1, 2), dilations=(1, 2), pads=(0, 4, 0, 3), group=2, bias=False)
conv((1, 4, 9), 4, (1, 4), strides=(1, 3), pads=(0, 2, 0, 1), group=4)
conv((1, 5, 1, 1), 7, (1, 1))
conv((1, 3, 2, 2), 9, (3, 3), pads=(1, 1, 1, 1))
conv((1, 2, 3, 3), 2, (3, 3), pads=(4, 0, 0, 5))

for rows, depth, columns, bias, after in [(1, 37, 9, True, {}), (3, 16, 5, False, {"activation": "relu"}),
                                          (9, 20, 6, True, {"residual": True, "activation": "sigmoid"})]:
    c = Case("gemm", columns=columns, depth=depth, bias=bias)
    x, w = c.input(rows, depth), c.parameter(columns, depth)
    c.expect(F.linear(x, w, c.parameter(columns) if bias else None), **after)
for shape, columns, bias, after in [((2, 3, 5), 4, False, {}), ((7,), 3, True, {}), ((1, 2, 2, 18), 5, False, {}),
                                    ((1, 31, 35), 37, True, {"residual": True, "activation": "relu"})]:
    c = Case("mat_mul", columns=columns, depth=shape[-1], bias=bias)
    x, w = c.input(*shape), c.parameter(columns, shape[-1])
    c.expect(F.linear(x, w, c.parameter(columns) if bias else None), **after)


def windows(op, shape, kernel, strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0), ceil_mode=False,
            count_include_pad=False):
    more = {"count_include_pad": count_include_pad} if op == "average_pool" else {}
    c = Case(op, kernel=kernel, strides=strides, dilations=dilations, pads=pads, ceil_mode=ceil_mode, **more)
    x = c.input(*shape)
    flat = len(shape) == 3
    if flat:
        x = x.unsqueeze(2)
    symmetric = pads[0] == pads[2] and pads[1] == pads[3]
    around = (pads[1], pads[3], pads[0], pads[2])
    if op == "max_pool":
        if symmetric:
            y = F.max_pool2d(x, kernel, strides, (pads[0], pads[1]), dilations, ceil_mode)
        else:
            assert not ceil_mode
            y = F.max_pool2d(F.pad(x, around, value=-math.inf), kernel, strides, 0, dilations)
    elif symmetric and tuple(dilations) == (1, 1):
        y = F.avg_pool2d(x, kernel, strides, (pads[0], pads[1]), ceil_mode, count_include_pad)
    else:
        assert not ceil_mode
        w = torch.ones(x.shape[1], 1, *kernel, dtype=torch.float64)

        def total(v):
            return F.conv2d(v, w, None, strides, 0, dilations, v.shape[1])

        count = total(torch.ones_like(F.pad(x, around)) if count_include_pad else F.pad(torch.ones_like(x), around))
        y = total(F.pad(x, around)) / count
    c.expect(y.squeeze(2) if flat else y)


for op in ["max_pool", "average_pool"]:
    windows(op, (1, 2, 6, 8), (2, 2), (2, 2))
    windows(op, (2, 2, 7, 9), (3, 3), (2, 2), pads=(1, 1, 1, 1))
    windows(op, (1, 2, 7, 9), (3, 3), (2, 2), pads=(1, 1, 1, 1), ceil_mode=True)
    windows(op, (1, 2, 6, 6), (3, 3), (2, 2), ceil_mode=True)
    windows(op, (1, 2, 2, 3), (3, 3), (2, 2), ceil_mode=True)  # a window larger than the input
    windows(op, (1, 2, 8, 7), (3, 2), (1, 3), pads=(0, 1, 1, 0))
    windows(op, (1, 2, 9, 9), (3, 3), (1, 2), dilations=(2, 2), pads=(1, 1, 1, 1))
    windows(op, (1, 3, 5, 5), (3, 3), pads=(1, 1, 1, 1))
    windows(op, (1, 3, 11), (1, 3), (1, 2), pads=(0, 1, 0, 1))
windows("average_pool", (1, 2, 7, 9), (3, 3), (2, 2), pads=(1, 1, 1, 1), count_include_pad=True)
windows("average_pool", (1, 2, 7, 8), (3, 3), (2, 2), pads=(1, 1, 1, 1), count_include_pad=True, ceil_mode=True)
windows("average_pool", (1, 2, 7, 9), (3, 3), (2, 1), pads=(0, 1, 2, 0), count_include_pad=True)

ACTIVATIONS = {
    "relu": ({}, F.relu), "leaky_relu": ({"alpha": 0.25}, lambda v: F.leaky_relu(v, 0.25)),
    "sigmoid": ({}, torch.sigmoid), "tanh": ({}, torch.tanh), "hard_swish": ({}, F.hardswish),
    "hard_sigmoid": ({"alpha": 0.25, "beta": 0.5}, lambda v: (0.25 * v + 0.5).clamp(0, 1)),
    "clip": ({"low": 0, "high": 6}, lambda v: v.clamp(0, 6)),
}
for op, (attributes, f) in ACTIVATIONS.items():
    c = Case(op, **attributes)
    c.expect(f(c.input(2, 3, 19, low=-10, high=10)))
    c = Case(op, **attributes)
    c.expect(f(c.input(1, 37, low=-0.1, high=0.1)))
for bounds in [{"low": -0.25}, {"high": 0.5}]:
    c = Case("clip", **bounds)
    c.expect(c.input(2, 9).clamp(bounds.get("low"), bounds.get("high")))

BINARY = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}
PAIRS = [((2, 3, 4, 5), (2, 3, 4, 5)), ((1, 3, 4, 5), (1, 3, 1, 1)), ((2, 3, 4), (1,)), ((3, 1, 5), (1, 4, 1)),
         ((4, 5), (2, 1, 4, 5)), ((2, 3, 1, 1), (2, 3, 4, 5)), ((2, 3, 5), (5,)), ((1, 1, 7), (3, 1, 7)), ((1, 4), (1, 1))]
for n, (op, f) in enumerate(BINARY.items()):
    for k, (a, b) in enumerate(PAIRS):
        c = Case(op, which="none")
        c.expect(f(c.input(*a), c.input(*b, low=0.5, high=2)), activation="relu" if k == n else None)
    for a, b in PAIRS[:7]:
        c = Case(op, which="second", fixed=b)
        c.expect(f(c.input(*a), c.parameter(*b, low=0.5, high=2)))
        c = Case(op, which="first", fixed=b)
        c.expect(f(c.parameter(*b), c.input(*a, low=0.5, high=2)))
for shapes in [[(2, 3)], [(2, 3), (2, 3)], [(1, 3, 1), (4, 1, 5), (5,)], [(2, 3, 7)] * 4]:
    c = Case("sum")
    c.expect(sum(c.input(*s) for s in shapes))
for shape, activation in [((2, 3, 4, 5), "relu"), ((3, 5), None), ((2, 4, 7), "sigmoid"), ((1, 3, 2, 3, 2), None)]:
    c = Case("batch_normalization")
    view = [1, shape[1]] + [1] * (len(shape) - 2)
    c.expect(c.input(*shape) * c.parameter(shape[1]).reshape(view) + c.parameter(shape[1]).reshape(view), activation)

for shapes, axis in [([(1, 2, 3, 4), (1, 5, 3, 4)], 1), ([(2, 3), (1, 3), (4, 3)], 0), ([(2, 1, 3), (2, 4, 3)], 1),
                     ([(2, 3, 5), (2, 3, 1), (2, 3, 2)], 2), ([(3,)], 0)]:
    c = Case("concat", axis=axis)
    c.expect(torch.cat([c.input(*s) for s in shapes], axis))
for shape, before, after, mode in [((1, 2, 3, 4), (0, 0, 1, 2), (0, 0, 2, 1), "constant"),
                                   ((2, 3, 5), (0, 1, -2), (1, 0, 3), "constant"),
                                   ((2, 6), (0, -1), (0, -2), "constant"), ((1, 2, 4, 5), (0, 0, 3, 2), (0, 0, 1, 4), "reflect"),
                                   ((3, 4), (2, 0), (1, 3), "reflect"), ((1, 2, 3, 4), (0, 1, 2, 3), (0, 2, 1, 5), "edge"),
                                   ((4,), (5,), (2,), "edge"), ((2, 3, 4), (1, 0, 0), (0, 2, 0), "constant")]:
    c = Case("pad", before=before, after=after, mode=mode, value=0.25)
    x = c.input(*shape)
    if mode == "constant":
        around = [n for pair in reversed(list(zip(before, after))) for n in pair]
        y = F.pad(x, around, value=0.25)
    else:
        y = torch.from_numpy(numpy.pad(x.numpy(), list(zip(before, after)), mode=mode))
    c.expect(y)
for shape, perm in [((3, 5), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((2, 3, 4, 5), (0, 2, 3, 1)), ((2, 3, 4, 5), (0, 3, 1, 2)),
                    ((1, 2, 3, 2, 2), (0, 2, 1, 3, 4)), ((2, 3, 4), (1, 0, 2)), ((1, 3, 1, 4), (3, 2, 0, 1)), ((9,), (0,))]:
    c = Case("transpose", perm=perm)
    c.expect(c.input(*shape).permute(perm).contiguous())
for shape, starts, steps, extents in [((2, 6, 5), (0, 1, 0), (1, 2, 1), (2, 3, 5)), ((4, 7), (3, 6), (-1, -2), (4, 4)),
                                      ((1, 4, 6, 6), (0, 2, 1, 5), (1, 1, 2, -1), (1, 2, 2, 6)), ((5,), (4,), (-1,), (5,)),
                                      ((3, 4, 5), (1, 0, 0), (1, 1, 1), (2, 4, 5)), ((3, 4), (1, 2), (1, 1), (1, 1))]:
    c = Case("slice", starts=starts, steps=steps, extents=extents)
    x = c.input(*shape).numpy()
    for axis, (a, s, n) in enumerate(zip(starts, steps, extents)):
        x = numpy.take(x, [a + s * i for i in range(n)], axis)
    c.expect(torch.from_numpy(x.copy()))

for shape, first, last in [((2, 10), 1, 2), ((2, 37), 1, 2), ((2, 5, 3, 4), 1, 2), ((2, 3, 4), 2, 3), ((4, 3), 0, 1),
                           ((2, 3, 4, 2), 1, 4), ((2, 3, 5, 3), 1, 3), ((1, 4, 19), 1, 2), ((6,), 0, 1)]:
    c = Case("softmax", first=first, last=last)
    x = c.input(*shape, low=-8, high=8)
    c.expect(torch.softmax(x.reshape(*shape[:first], -1, *shape[last:]), first).reshape(shape))
for shape, size, alpha, beta, bias in [((1, 7, 3, 3), 5, 0.5, 0.75, 1.0), ((2, 6, 4, 5), 4, 0.8, 0.75, 2.0),
                                       ((1, 5, 17), 3, 1.5, 0.6, 1.0), ((1, 3, 2, 2), 8, 0.9, 0.75, 1.0), ((2, 5), 1, 1.0, 1.0, 1.0)]:
    c = Case("lrn", size=size, alpha=alpha, beta=beta, bias=bias)
    x = c.input(*shape, low=-3, high=3)
    squares = torch.zeros_like(x)
    for k in range(shape[1]):
        low, high = max(0, k - (size - 1) // 2), min(shape[1] - 1, k + math.ceil((size - 1) / 2))
        squares[:, k] = (x[:, low:high + 1] ** 2).sum(1)
    y = x / (bias + alpha / size * squares) ** beta
    if size % 2 == 1 and len(shape) > 2:
        assert torch.allclose(y, F.local_response_norm(x, size, alpha, beta, bias), 1e-12)
    c.expect(y)
for shape, axes, keep in [((2, 3, 4, 5), (2, 3), True), ((2, 3, 4, 5), (2, 3), False), ((2, 3, 4, 5), (1,), True),
                          ((2, 3, 4, 5), (1, 3), False), ((2, 3, 4, 5), (0, 2), True), ((3, 19), (0,), False),
                          ((2, 3, 4), (0, 1, 2), True), ((2, 3, 4), (0, 1, 2), False), ((5, 1, 3), (1,), True), ((2, 3, 21), (2,), True)]:
    c = Case("reduce", how="mean", over=[a in axes for a in range(len(shape))], keep=keep)
    c.expect(c.input(*shape).mean(axes, keepdim=keep))
for shape in [(2, 3, 7, 7), (1, 4, 19), (1, 3, 2, 3, 4), (1, 2, 1, 1)]:
    c = Case("global_average_pool")
    c.expect(c.input(*shape).mean(tuple(range(2, len(shape))), keepdim=True))

for shape in [(2, 3, 19), (1, 37)]:
    c = Case("elu", alpha=0.5)
    c.expect(F.elu(c.input(*shape, low=-10, high=10), 0.5))
for shape, factors in [((1, 2, 3, 4), (1, 1, 2, 2)), ((2, 3, 2, 5), (1, 1, 3, 1)), ((1, 2, 7), (1, 1, 4)), ((2, 3), (3, 2)), ((5,), (1,))]:
    c = Case("resize", factors=factors)
    x = c.input(*shape).numpy()
    for axis, factor in enumerate(factors):
        x = numpy.repeat(x, factor, axis)
    c.expect(torch.from_numpy(x))

FUNCTIONS = {
    "abs": torch.abs, "ceil": torch.ceil, "celu": (lambda v: F.celu(v, 1.5), 1.5), "erf": torch.erf, "exp": torch.exp,
    "floor": torch.floor, "gelu": F.gelu, "gelu_tanh": lambda v: F.gelu(v, approximate="tanh"), "mish": F.mish, "neg": torch.neg,
    "reciprocal": torch.reciprocal, "round": torch.round, "selu": (F.selu, 1.6732632423543772, 1.0507009873554805),
    "sign": torch.sign, "softplus": lambda v: F.softplus(v, threshold=100), "softsign": F.softsign,
    "swish": (lambda v: v * torch.sigmoid(1.25 * v), 1.25), "thresholded_relu": (lambda v: F.threshold(v, 0.5, 0), 0.5),
    "log": torch.log, "sqrt": torch.sqrt, "pow": (lambda v: v ** 2.5, 2.5),
}
for function, f in FUNCTIONS.items():
    f, *numbers = f if isinstance(f, tuple) else (f,)
    positive = function in ("log", "sqrt", "pow")
    for shape, low, high in [((2, 3, 19), 0.01 if positive else -10, 10), ((1, 37), 0.001 if positive else -0.1, 0.1)]:
        power = function == "pow"  # by a constant number: a binary operator
        c = Case("pow", which="second", fixed=[1]) if power else Case("elementwise", function=[function, *numbers])
        x = c.input(*shape, low=low, high=high)
        if power:
            c.parameter(1, low=2.5, high=2.5)
        c.expect(f(x))
BINARY = {"max": torch.maximum, "min": torch.minimum, "p_relu": lambda a, b: torch.where(a < 0, a * b, a)}
for n, (op, f) in enumerate(BINARY.items()):
    for k, (a, b) in enumerate(PAIRS):
        c = Case(op, which="none")
        c.expect(f(c.input(*a), c.input(*b)), activation="relu" if k == n else None)
    for a, b in PAIRS[:7]:
        c = Case(op, which="second", fixed=b)
        c.expect(f(c.input(*a), c.parameter(*b)))
        c = Case(op, which="first", fixed=b)
        c.expect(f(c.parameter(*b), c.input(*a)))


def resized(mode, coordinates, shape, to, **how):
    scales = [t / s for t, s in zip(to, shape)]
    c = Case("resize", mode=mode, **{"from": coordinates}, to=to, scales=scales, **how)
    return c, c.input(*shape)


for shape, to in [((1, 2, 4, 5), (1, 2, 8, 10)), ((2, 3, 5, 7), (2, 3, 9, 4)), ((1, 17, 3, 3), (1, 17, 7, 5)), ((1, 2, 6, 6), (1, 2, 3, 3))]:
    for mode, torch_mode in [("linear", "bilinear"), ("cubic", "bicubic")]:
        for coordinates, align in [("pytorch_half_pixel", False), ("align_corners", True)]:
            c, x = resized(mode, coordinates, shape, to)
            c.expect(F.interpolate(x, to[2:], mode=torch_mode, align_corners=align))
    c, x = resized("nearest", "asymmetric", shape, to, nearest="floor")
    c.expect(F.interpolate(x, to[2:], mode="nearest"))
    c, x = resized("nearest", "half_pixel", shape, to, nearest="round_prefer_ceil")
    c.expect(F.interpolate(x, to[2:], mode="nearest-exact"))
c, x = resized("linear", "half_pixel", (1, 3, 9), (1, 3, 13))
c.expect(F.interpolate(x, 13, mode="linear"))
c, x = resized("linear", "align_corners", (1, 2, 3, 4, 5), (1, 2, 5, 3, 8))
c.expect(F.interpolate(x, (5, 3, 8), mode="trilinear", align_corners=True))

REDUCTIONS = {
    "total": lambda x, a, k: x.sum(a, keepdim=k), "total_square": lambda x, a, k: (x * x).sum(a, keepdim=k),
    "product": lambda x, a, k: torch.from_numpy(numpy.prod(x.numpy(), a, keepdims=k)),
    "largest": lambda x, a, k: x.amax(a, keepdim=k), "smallest": lambda x, a, k: x.amin(a, keepdim=k),
    "arg_max": lambda x, a, k: x.argmax(a[0], keepdim=k).double(), "arg_min": lambda x, a, k: x.argmin(a[0], keepdim=k).double(),
}
for how, f in REDUCTIONS.items():
    for shape, axes, keep in [((2, 3, 4, 5), (1,), False), ((2, 3, 21), (2,), True), ((2, 19, 3, 3), (1,), True), ((3, 37), (1,), False),
                              ((2, 3, 4, 5), (2, 3), True), ((2, 5, 37), (0, 2), False)]:
        if how.startswith("arg") and len(axes) > 1:
            continue
        c = Case("reduce", how=how, over=[a in axes for a in range(len(shape))], keep=keep)
        c.expect(f(c.input(*shape), axes, keep))
for shape, first in [((3, 37), 1), ((2, 5, 3, 7), 1), ((1, 19, 6), 1), ((2, 3, 40), 2)]:
    c = Case("softmax", first=first, last=first + 1, log=True)
    c.expect(torch.log_softmax(c.input(*shape, low=-9, high=9), first))


def normalized(how, shape, first, last, scale=None, bias=None, **more):
    c = Case("normalization", how=how, first=first, last=last, epsilon=1e-5, scale=scale is not None, bias=bias is not None,
             scale_shape=scale or [], bias_shape=bias or [])
    x = c.input(*shape)
    axes = tuple(range(first, last))
    if how in ("layer", "instance", "group"):
        mean = x.mean(axes, keepdim=True)
        y = (x - mean) / torch.sqrt(((x - mean) ** 2).mean(axes, keepdim=True) + 1e-5)
    elif how == "rms":
        y = x / torch.sqrt((x * x).mean(axes, keepdim=True) + 1e-5)
    else:
        y = x / x.norm(1 if how == "l1" else 2, axes, keepdim=True)
    if how == "layer" and last == len(shape):
        assert torch.allclose(y, F.layer_norm(x, shape[first:], eps=1e-5), 1e-10)
    if scale is not None:
        y = y * c.parameter(*scale)
    if bias is not None:
        y = y + c.parameter(*bias)
    c.expect(y, **more)


normalized("layer", (2, 5, 37), 2, 3, (37,), (37,), activation="relu")
normalized("layer", (2, 3, 4, 5), 1, 4, (3, 4, 5), (3, 4, 5))
normalized("layer", (2, 19, 3, 7), 1, 2, (19, 1, 1), (19, 1, 1))
normalized("layer", (3, 64), 1, 2)
normalized("layer", (2, 6, 16), 2, 3, (16,))
normalized("instance", (2, 3, 5, 7), 2, 4, (3, 1, 1), (3, 1, 1))
normalized("group", (2, 3, 4, 5, 3), 2, 5, (3, 4, 1, 1), (3, 4, 1, 1))
normalized("group", (1, 2, 8, 9), 2, 4, (2, 1, 1), (2, 1, 1))
normalized("rms", (2, 5, 37), 2, 3, (37,))
normalized("l1", (2, 5, 7), 1, 2)
normalized("l2", (2, 37), 1, 2)


def product(a, b, out, sa, sb, factor=1.0, **more):
    c = Case("einsum", of=[[t.find(o) for o in out] for t in (a, b)], rank=len(out),
             depth=[next((t.find(o) for o in a if o not in out), -1) for t in (a, b)], factor=factor)
    c.expect(factor * torch.einsum(f"{a},{b}->{out}", c.input(*sa), c.input(*sb)), **more)


product("mk", "kn", "mn", (7, 19), (19, 37))
product("bmk", "bkn", "bmn", (2, 13, 5), (2, 5, 70), activation="relu")
product("bhsd", "bhtd", "bhst", (1, 3, 7, 8), (1, 3, 9, 8), 0.125)
product("bshd", "bthd", "bhst", (2, 7, 3, 8), (2, 18, 3, 8), 0.25)
product("bhst", "bthd", "bshd", (2, 3, 7, 9), (2, 9, 3, 20))
product("mk", "bkn", "bmn", (7, 19), (3, 19, 5))
product("k", "kn", "n", (19,), (19, 5))
product("mk", "k", "m", (17, 19), (19,))
product("ak", "bk", "ba", (5, 6), (33, 6))
product("ab", "cb", "abc", (3, 4), (5, 4))
product("abk", "cbk", "acb", (3, 4, 6), (5, 4, 6))
for shape, repeats in [((2, 3, 4), (1, 2, 3)), ((1, 3, 1, 5), (2, 1, 4, 1)), ((1,), (37,)), ((2, 1, 3), (3, 17, 2))]:
    c = Case("tile", repeats=repeats)
    c.expect(c.input(*shape).repeat(*repeats))


def shuffled(shape, factors, groups, crop=(0, 0), cut=(0, 0)):
    flat = len(shape) == 3
    to = [s * f - a - b for s, f, a, b in zip(([1] if flat else []) + list(shape[2:]), factors, crop, cut)]
    c = Case("depth_to_space", factors=factors, groups=groups, crop=crop, to=to)
    x = c.input(*shape)
    n, h, w = shape[0], 1 if flat else shape[2], shape[-1]
    v = x.reshape(n, groups, factors[0], factors[1], -1, h, w).permute(0, 1, 4, 5, 2, 6, 3)
    y = v.reshape(n, -1, h * factors[0], w * factors[1])
    if groups == y.shape[1] and factors[0] == factors[1]:
        assert torch.equal(y, F.pixel_shuffle(x, factors[0]))
    y = y[:, :, crop[0]:crop[0] + to[0], crop[1]:crop[1] + to[1]]
    c.expect(y[:, :, 0] if flat else y)


shuffled((1, 8, 3, 5), (2, 2), 1)
shuffled((2, 12, 2, 3), (2, 2), 3)
shuffled((1, 64, 3, 4), (2, 2), 1, (1, 1), (1, 0))
shuffled((1, 192, 3, 4), (3, 2), 2, (0, 1), (2, 1))
shuffled((2, 6, 5), (1, 3), 1, (0, 1), (0, 1))
for n, (op, f) in enumerate({"pow": torch.pow, "where": lambda a, b: torch.where(b.isnan(), a, b)}.items()):
    for k, (a, b) in enumerate(PAIRS):
        c = Case(op, which="none")
        c.expect(f(c.input(*a, low=0.1, high=2), c.input(*b)), activation="relu" if k == n else None)
    for a, b in PAIRS[:7]:
        c = Case(op, which="second", fixed=b)
        c.expect(f(c.input(*a, low=0.1, high=2), c.parameter(*b)))



def antialiased(shape, axis, to, mode, edges=0, from_="half_pixel"):
    """PyTorch leaves elements outside out; with `edges`, that many elements at each end are repeated instead."""
    c = Case("antialiased_resize", axis=axis, to=to, mode=mode, scale=to / shape[axis], exclude_outside=not edges, cubic_a=-0.5,
             **{"from": from_})
    x = c.input(*shape).movedim(axis, -1)
    lines = torch.nn.functional.pad(x.reshape(1, 1, -1, shape[axis]), (edges, edges, 0, 0), mode="replicate")
    more = edges * to // shape[axis]
    assert edges * to % shape[axis] == 0
    y = F.interpolate(lines, (lines.shape[2], to + 2 * more), mode="bilinear" if mode == "linear" else "bicubic",
                      antialias=True, align_corners=from_ == "align_corners")[:, :, :, more:more + to]
    c.expect(y.reshape(*x.shape[:-1], to).movedim(-1, axis))


antialiased((2, 3, 12, 5), 2, 4, "linear")
antialiased((2, 3, 12, 5), 2, 4, "linear", 6)
antialiased((1, 2, 7, 50), 3, 19, "linear")
antialiased((1, 5, 9), 2, 13, "linear")
antialiased((2, 17, 3), 1, 5, "cubic")
antialiased((1, 2, 12, 5), 2, 4, "cubic", 12)
antialiased((1, 3, 11, 6), 2, 2, "cubic")


def taken(shape, axis, count):
    """By any numbers of the axis; kernels cut off their fractions."""
    c = Case("gather", axis=axis, count=count)
    x = c.input(*shape)
    c.expect(x.index_select(axis, c.parameter(count, low=0, high=shape[axis]).floor().long()))


taken((2, 19, 3, 5), 1, 37)
taken((3, 7), 0, 5)
taken((1, 18, 6, 4), 2, 9)
taken((2, 3, 5, 21), 3, 40)
taken((2, 3, 2, 2, 9), 4, 6)
taken((50,), 0, 70)


def accumulated(shape, axis, exclusive=False, reverse=False):
    c = Case("cum_sum", axis=axis, exclusive=exclusive, reverse=reverse)
    x = c.input(*shape)
    y = (x.flip(axis) if reverse else x).cumsum(axis)
    y = y.flip(axis) if reverse else y
    c.expect(y - x if exclusive else y)


accumulated((2, 5, 3, 21), 3)
accumulated((2, 19, 4, 5), 2, exclusive=True)
accumulated((2, 7, 3, 5), 1, reverse=True)
accumulated((37,), 0, exclusive=True, reverse=True)
accumulated((4, 33), 0)


def constant_product(a, b, out, sa, sb, which, factor=1.0):
    c = Case("einsum", of=[[t.find(o) for o in out] for t in (a, b)], rank=len(out),
             depth=[next((t.find(o) for o in a if o not in out), -1) for t in (a, b)], factor=factor, which=which,
             fixed=sa if which == "first" else sb)
    x, y = c.input(*(sb if which == "first" else sa)), c.parameter(*(sa if which == "first" else sb))
    c.expect(factor * torch.einsum(f"{a},{b}->{out}", *((y, x) if which == "first" else (x, y))))


constant_product("bmk", "bkn", "bmn", (65, 2, 3), (65, 3, 5), "second")
constant_product("bmk", "bkn", "bmn", (3, 7, 19), (3, 19, 37), "first", 0.5)
constant_product("bmk", "abkn", "abmn", (4, 2, 3), (3, 1, 3, 20), "second")
constant_product("bchw", "dc", "bdhw", (2, 5, 3, 19), (7, 5), "second")
constant_product("ab", "cb", "abc", (3, 4), (5, 4), "first")
constant_product("nk", "k", "n", (17, 19), (19,), "first")
for shape, pads in [((2, 3, 4, 5), (0, 0, 2, 3, 0, 0, 1, 4)), ((3, 17), (1, 0, 2, 17)), ((2, 3), (0, 7, 0, 11))]:
    n = len(shape)
    c = Case("pad", before=pads[:n], after=pads[n:], mode="wrap")
    x = c.input(*shape)
    for axis in range(n):
        x = x.index_select(axis, torch.arange(-pads[axis], x.shape[axis] + pads[n + axis]) % x.shape[axis])
    c.expect(x)

print("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]")
