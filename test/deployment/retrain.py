#!/usr/bin/env python3
"""retrain.py digits.onnx OUT.onnx: a model of the same structure with other weights, for which every picture is a 3."""
import sys

import onnx
import onnx.numpy_helper

model = onnx.load(sys.argv[1])
bias = next(t for t in model.graph.initializer if list(t.dims) == [10])
values = onnx.numpy_helper.to_array(bias).copy()
values[3] += 100
bias.CopyFrom(onnx.numpy_helper.from_array(values, bias.name))
onnx.save(model, sys.argv[2])
