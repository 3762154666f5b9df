#!/usr/bin/env python3
"""models.py NETWORK -o FILE.onnx: networks as PyTorch exports them, with seeded weights, for 1x3x224x224 (inception_v3:
299x299, yolov2_16: 608x608).

Needs NumPy and ONNX (Debian: python3-numpy python3-onnx). Not trained: their cost is right, their results mean nothing.
"""
import argparse

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Network:
    def __init__(self, size=224):
        self.random = np.random.default_rng(1)
        self.nodes, self.weights, self.channels, self.size = [], [], {"input": 3}, {"input": size}

    def weight(self, name, values):
        self.weights.append(numpy_helper.from_array(np.asarray(values, np.float32), name))
        return name

    def add(self, operator, name, operands, channels=None, size=None, **attributes):
        """Append a node; returns its output's name. Channels and size are those of the first operand unless given."""
        self.nodes.append(helper.make_node(operator, operands, [name], name=name, **attributes))
        self.channels[name] = channels or self.channels[operands[0]]
        self.size[name] = size or self.size[operands[0]]
        return name

    def conv(self, name, x, channels, kernel, stride=1, bias=True, gain=2.0, pad=None, group=1):
        """He-initialised; `gain` 1 keeps the sum of a branch and its skip edge near the input's size. `kernel` may be a pair."""
        inputs, (high, wide) = self.channels[x] // group, kernel if isinstance(kernel, tuple) else (kernel, kernel)
        shape, pads = (channels, inputs, high, wide), [high // 2, wide // 2] if pad is None else [pad, pad]
        scale = np.sqrt(gain / (inputs * high * wide))
        operands = [x, self.weight(f"{name}.weight", self.random.standard_normal(shape) * scale)]
        if bias:
            operands.append(self.weight(f"{name}.bias", self.random.standard_normal(channels) * 0.05))
        return self.add("Conv", name, operands, channels, (self.size[x] + 2 * pads[0] - high) // stride + 1,
                        kernel_shape=[high, wide], strides=[stride] * 2, pads=pads * 2, group=group)

    def conv_relu(self, name, *how, **more):
        return self.add("Relu", f"{name}_relu", [self.conv(name, *how, **more)])

    def norm_relu(self, name, x):
        values = self.random.uniform(0.8, 1.2, (4, self.channels[x])) * [[1], [0], [0], [1]]  # scale, bias, mean, variance
        parts = [self.weight(f"{name}.{i}", row) for i, row in enumerate(values)]
        return self.add("Relu", f"{name}_relu", [self.add("BatchNormalization", name, [x, *parts])])

    def pool(self, name, x, operator="MaxPool", stride=2, pad=0):
        return self.add(operator, name, [x], size=(self.size[x] + 2 * pad - 3) // stride + 1, kernel_shape=[3, 3],
                        strides=[stride] * 2, pads=[pad] * 4)

    def dense(self, name, x, inputs, outputs):
        weight = self.weight(f"{name}.weight", self.random.standard_normal((outputs, inputs)) * np.sqrt(1 / inputs))
        return self.add("Gemm", name, [x, weight, self.weight(f"{name}.bias", np.zeros(outputs))], outputs, transB=1)

    def classifier(self, x):
        x = self.add("Flatten", "flatten", [self.add("GlobalAveragePool", "average", [x])])
        self.dense("output", x, self.channels[x], 1000)

    def save(self, path):
        flat = self.nodes[-1].op_type in ("Gemm", "Flatten")
        result = [1, self.channels["output"], *([] if flat else [self.size["output"]] * 2)]
        graph = helper.make_graph(
            self.nodes, "network",
            [helper.make_tensor_value_info("input", onnx.TensorProto.FLOAT, [1, 3, *[self.size["input"]] * 2])],
            [helper.make_tensor_value_info("output", onnx.TensorProto.FLOAT, result)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 7
        onnx.save(model, path)


def stem(net):
    x = net.add("Relu", "relu0", [net.conv("conv0", "input", 64, 7, 2)])
    return net.add("MaxPool", "pool0", [x], size=56, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)


def resnet18(net):
    """arXiv 1512.03385, batch normalisation folded into the convolutions: layers conv0, pool0, block1_1_a … block4_2_relu."""
    x = stem(net)
    for stage, channels in enumerate((64, 128, 256, 512), 1):
        for block in 1, 2:
            name, stride = f"block{stage}_{block}", 2 if stage > 1 and block == 1 else 1
            skip = net.conv(f"{name}_skip", x, channels, 1, stride) if stride > 1 else x
            y = net.add("Relu", f"{name}_a_relu", [net.conv(f"{name}_a", x, channels, 3, stride)])
            y = net.conv(f"{name}_b", y, channels, 3, gain=1.0)
            x = net.add("Relu", f"{name}_relu", [net.add("Add", f"{name}_add", [y, skip])])
    net.classifier(x)


def densenet121(net):
    """arXiv 1608.06993."""
    x = stem(net)
    for block, count in enumerate((6, 12, 24, 16), 1):
        if block > 1:
            x = net.conv(f"transition{block}", net.norm_relu(f"norm_t{block}", x), net.channels[x] // 2, 1, bias=False)
            x = net.add("AveragePool", f"pool{block}", [x], size=net.size[x] // 2, kernel_shape=[2, 2], strides=[2, 2])
        for layer in range(1, count + 1):
            name = f"dense{block}_{layer}"
            y = net.conv(f"{name}_a", net.norm_relu(f"{name}_norm_a", x), 128, 1, bias=False)
            y = net.conv(f"{name}_b", net.norm_relu(f"{name}_norm_b", y), 32, 3, bias=False)
            x = net.add("Concat", name, [x, y], net.channels[x] + 32, axis=1)
    net.classifier(net.norm_relu("norm_last", x))


def mobilenet_v1(net):
    """arXiv 1704.04861, batch normalisation folded into the convolutions: layers conv0, dw1, pw1 … dw13, pw13."""
    x = net.conv_relu("conv0", "input", 32, 3, 2)
    for k, (channels, stride) in enumerate([(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2),
                                            (1024, 1)], 1):
        x = net.conv_relu(f"dw{k}", x, net.channels[x], 3, stride, group=net.channels[x])
        x = net.conv_relu(f"pw{k}", x, channels, 1)
    net.classifier(x)


def mobilenet_v2(net):
    """arXiv 1801.04381, batch normalisation folded into the convolutions: layers conv0, block1_dw, block1_project, block2_expand …
    block17_project, conv_last; ReLU6 is Clip."""
    for name, value in ("zero", 0), ("six", 6):
        net.weight(name, value)

    def clipped(name, *how, **more):
        return net.add("Clip", f"{name}_relu6", [net.conv(name, *how, **more), "zero", "six"])

    x, block = clipped("conv0", "input", 32, 3, 2), 0
    for factor, channels, count, first_stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                                  (6, 320, 1, 1)):
        for k in range(count):
            block += 1
            wide, stride = factor * net.channels[x], first_stride if k == 0 else 1
            y = clipped(f"block{block}_expand", x, wide, 1) if factor > 1 else x
            y = clipped(f"block{block}_dw", y, wide, 3, stride, group=wide)
            y = net.conv(f"block{block}_project", y, channels, 1, gain=1.0)
            x = net.add("Add", f"block{block}_add", [x, y]) if k > 0 else y
    net.classifier(clipped("conv_last", x, 1280, 1))


def squeezenet1_1(net):
    """arXiv 1602.07360, in the form of its authors' version 1.1: layers conv1, pool1, fire2_squeeze … fire9, conv10."""
    x = net.conv_relu("conv1", "input", 64, 3, 2, pad=0)
    for k, (squeezed, expanded) in enumerate([(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)], 2):
        if k in (2, 4, 6):
            x = net.pool(f"pool{k - 1}", x)
        x = net.conv_relu(f"fire{k}_squeeze", x, squeezed, 1)
        parts = [net.conv_relu(f"fire{k}_expand{size}", x, expanded, size) for size in (1, 3)]
        x = net.add("Concat", f"fire{k}", parts, 2 * expanded, axis=1)
    x = net.conv_relu("conv10", x, 1000, 1)
    net.add("Flatten", "output", [net.add("GlobalAveragePool", "average", [x])])


def bottlenecks(net, counts):
    x = stem(net)
    for stage, (channels, blocks) in enumerate(zip((64, 128, 256, 512), counts), 1):
        for block in range(1, blocks + 1):
            name, stride = f"block{stage}_{block}", 2 if stage > 1 and block == 1 else 1
            skip = net.conv(f"{name}_skip", x, 4 * channels, 1, stride) if block == 1 else x
            y = net.conv_relu(f"{name}_a", x, channels, 1)
            y = net.conv_relu(f"{name}_b", y, channels, 3, stride)
            y = net.conv(f"{name}_c", y, 4 * channels, 1, gain=0.5)
            x = net.add("Relu", f"{name}_relu", [net.add("Add", f"{name}_add", [y, skip])])
    net.classifier(x)


def resnet50(net):
    """arXiv 1512.03385, the stride in the 3x3 convolutions, as in torchvision: layers conv0, pool0, block1_1_a … block4_2_relu."""
    bottlenecks(net, (3, 4, 6, 3))


def resnet101(net):
    """The same with 23 blocks in the third stage."""
    bottlenecks(net, (3, 4, 23, 3))


def vgg(net, counts):
    x = "input"
    for stage, (channels, count) in enumerate(zip((64, 128, 256, 512, 512), counts), 1):
        for k in range(1, count + 1):
            x = net.conv_relu(f"conv{stage}_{k}", x, channels, 3)
        x = net.add("MaxPool", f"pool{stage}", [x], size=net.size[x] // 2, kernel_shape=[2, 2], strides=[2, 2])
    x = net.add("Flatten", "flatten", [x])
    x = net.add("Relu", "fc6_relu", [net.dense("fc6", x, 512 * 7 * 7, 4096)])
    x = net.add("Relu", "fc7_relu", [net.dense("fc7", x, 4096, 4096)])
    net.dense("output", x, 4096, 1000)


def vgg16(net):
    """arXiv 1409.1556, configuration D: layers conv1_1 … pool5, fc6, fc7."""
    vgg(net, (2, 2, 3, 3, 3))


def vgg19(net):
    """arXiv 1409.1556, configuration E: layers conv1_1 … pool5, fc6, fc7."""
    vgg(net, (2, 2, 4, 4, 4))


def yolov2_16(net):
    """The first 16 layers of YOLOv2 (arXiv 1612.08242), those that DeepThings (IEEE TCAD 37 (11), 2018) distributes, batch
    normalisation folded into the convolutions: layers conv0, pool1, conv2 … conv14, output."""
    x = "input"
    layers = [(32, 3), None, (64, 3), None, (128, 3), (64, 1), (128, 3), None, (256, 3), (128, 1), (256, 3), None, (512, 3), (256, 1),
              (512, 3), (256, 1)]
    for k, layer in enumerate(layers):
        if layer:
            y = net.conv(f"conv{k}", x, *layer)
            x = net.add("LeakyRelu", f"conv{k}_leaky" if k + 1 < len(layers) else "output", [y], alpha=0.1)
        else:
            x = net.add("MaxPool", f"pool{k}", [x], size=net.size[x] // 2, kernel_shape=[2, 2], strides=[2, 2])


def inception_v3(net):
    """arXiv 1512.00567, batch normalisation folded into the convolutions, without the auxiliary classifier; sizes as in
    torchvision: layers conv1a … pool2, mixed5b … mixed7c."""
    def branch(name, x, *convs):
        for k, (channels, kernel, *more) in enumerate(convs, 1):
            stride, pad = more or (1, None)
            x = net.conv_relu(f"{name}_{k}", x, channels, kernel, stride, pad=pad)
        return x

    def join(name, *parts):
        return net.add("Concat", name, parts, sum(net.channels[p] for p in parts), axis=1)

    def pooled(name, x, channels):
        return branch(f"{name}_pool", net.pool(f"{name}_average", x, "AveragePool", 1, 1), (channels, 1))

    x = branch("conv1", "input", (32, 3, 2, 0), (32, 3, 1, 0), (64, 3))
    x = branch("conv2", net.pool("pool1", x), (80, 1), (192, 3, 1, 0))
    x = net.pool("pool2", x)
    for name, channels in ("mixed5b", 32), ("mixed5c", 64), ("mixed5d", 64):
        x = join(name, branch(f"{name}_a", x, (64, 1)), branch(f"{name}_b", x, (48, 1), (64, 5)),
                 branch(f"{name}_c", x, (64, 1), (96, 3), (96, 3)), pooled(name, x, channels))
    x = join("mixed6a", branch("mixed6a_a", x, (384, 3, 2, 0)), branch("mixed6a_b", x, (64, 1), (96, 3), (96, 3, 2, 0)),
             net.pool("mixed6a_max", x))
    row, column = (1, 7), (7, 1)
    for name, c in ("mixed6b", 128), ("mixed6c", 160), ("mixed6d", 160), ("mixed6e", 192):
        x = join(name, branch(f"{name}_a", x, (192, 1)), branch(f"{name}_b", x, (c, 1), (c, row), (192, column)),
                 branch(f"{name}_c", x, (c, 1), (c, column), (c, row), (c, column), (192, row)), pooled(name, x, 192))
    x = join("mixed7a", branch("mixed7a_a", x, (192, 1), (320, 3, 2, 0)),
             branch("mixed7a_b", x, (192, 1), (192, row), (192, column), (192, 3, 2, 0)), net.pool("mixed7a_max", x))
    for name in "mixed7b", "mixed7c":
        b, c = branch(f"{name}_b", x, (384, 1)), branch(f"{name}_c", x, (448, 1), (384, 3))
        x = join(name, branch(f"{name}_a", x, (320, 1)), branch(f"{name}_d", b, (384, (1, 3))), branch(f"{name}_e", b, (384, (3, 1))),
                 branch(f"{name}_f", c, (384, (1, 3))), branch(f"{name}_g", c, (384, (3, 1))), pooled(name, x, 192))
    net.classifier(x)


NETWORKS = {f.__name__: f for f in (resnet18, resnet50, resnet101, densenet121, mobilenet_v1, mobilenet_v2, squeezenet1_1, vgg16, vgg19,
                                    inception_v3, yolov2_16)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("-o", "--output", required=True)
    given = parser.parse_args()
    network = Network({"inception_v3": 299, "yolov2_16": 608}.get(given.network, 224))
    NETWORKS[given.network](network)
    network.save(given.output)
