#!/usr/bin/env python3
"""models.py resnet18|densenet121 -o FILE.onnx: networks as PyTorch exports them, with seeded weights, for 1x3x224x224.

Needs NumPy and ONNX (Debian: python3-numpy python3-onnx). Not trained: what they cost is right, what they answer means nothing.
"""
import argparse

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Network:
    def __init__(self):
        self.random = np.random.default_rng(1)
        self.nodes, self.weights, self.channels, self.size = [], [], {"input": 3}, {"input": 224}

    def weight(self, name, values):
        self.weights.append(numpy_helper.from_array(np.asarray(values, np.float32), name))
        return name

    def add(self, operator, name, operands, channels=None, size=None, **attributes):
        """Append a node; returns its output's name. Channels and size are those of the first operand unless given."""
        self.nodes.append(helper.make_node(operator, operands, [name], name=name, **attributes))
        self.channels[name] = channels or self.channels[operands[0]]
        self.size[name] = size or self.size[operands[0]]
        return name

    def conv(self, name, x, channels, kernel, stride=1, bias=True, gain=2.0):
        """He-initialised; `gain` 1 keeps the sum of a branch and its skip edge near the input's size."""
        inputs, shape = self.channels[x], (channels, self.channels[x], kernel, kernel)
        scale = np.sqrt(gain / (inputs * kernel * kernel))
        operands = [x, self.weight(f"{name}.weight", self.random.standard_normal(shape) * scale)]
        if bias:
            operands.append(self.weight(f"{name}.bias", self.random.standard_normal(channels) * 0.05))
        return self.add("Conv", name, operands, channels, -(-self.size[x] // stride), kernel_shape=[kernel] * 2,
                        strides=[stride] * 2, pads=[kernel // 2] * 4)

    def norm_relu(self, name, x):
        values = self.random.uniform(0.8, 1.2, (4, self.channels[x])) * [[1], [0], [0], [1]]  # scale, bias, mean, variance
        parts = [self.weight(f"{name}.{i}", row) for i, row in enumerate(values)]
        return self.add("Relu", f"{name}_relu", [self.add("BatchNormalization", name, [x, *parts])])

    def classifier(self, x):
        x = self.add("Flatten", "flatten", [self.add("GlobalAveragePool", "average", [x])])
        weight = self.weight("fc.weight", self.random.standard_normal((1000, self.channels[x])) * 0.03)
        self.add("Gemm", "output", [x, weight, self.weight("fc.bias", np.zeros(1000))], 1000, transB=1)

    def save(self, path):
        graph = helper.make_graph(
            self.nodes, "network", [helper.make_tensor_value_info("input", onnx.TensorProto.FLOAT, [1, 3, 224, 224])],
            [helper.make_tensor_value_info("output", onnx.TensorProto.FLOAT, [1, 1000])], self.weights)
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", choices=["resnet18", "densenet121"])
    parser.add_argument("-o", "--output", required=True)
    given = parser.parse_args()
    network = Network()
    {"resnet18": resnet18, "densenet121": densenet121}[given.network](network)
    network.save(given.output)
