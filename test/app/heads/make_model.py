#!/usr/bin/python3
"""make_model.py: writes heads.onnx, a network whose outputs are numbers of its input in the forms of detectors and other heads, and
`steady`, a detector that always finds the same boxes.  Needs python3-onnx (Debian)."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZE = 3, 24, 40  # of the input
SHAPES = {"yolov5": (1, 40, 8), "yolov8": (1, 7, 60), "yolov10": (1, 30, 6), "corners": (1, 30, 4), "scores": (1, 30, 5),
          "classes": (1, 10), "mask": (1, 3, 12, 20)}
# Centre x and y, width, height in pixels of the input; the scores of three classes.
STEADY = np.array([[20, 12, 16, 8, 0, 0.9, 0], [6, 6, 4, 4, 0.6, 0, 0], [39, 23, 10, 10, 0, 0, 0.7], [-30, 12, 8, 8, 0.8, 0, 0],
                   [20.5, 12, 16, 8, 0, 0.8, 0], [30, 5, 3, 3, 0.1, 0.2, 0.1], [10, 18, 4, 4, 0.2, 0.1, 0], [2, 2, 2, 2, 0, 0, 0.2]], np.float32)


def model():
    nodes, values, outputs = [], [], []

    def constant(name, numbers):
        values.append(numpy_helper.from_array(numbers, name))
        return name

    def output(name, shape):
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    nodes.append(helper.make_node("Flatten", ["picture"], ["flat"]))
    for name, shape in SHAPES.items():
        n = int(np.prod(shape))
        of = [constant(f"{name}_{what}", np.array([number], np.int64)) for what, number in [("from", 0), ("to", n), ("axis", 1)]]
        nodes.append(helper.make_node("Slice", ["flat", *of], [f"{name}_numbers"]))
        nodes.append(helper.make_node("Reshape", [f"{name}_numbers", constant(f"{name}_shape", np.array(shape, np.int64))], [name]))
        output(name, shape)
    nodes.append(helper.make_node("ReduceMean", ["picture"], ["mean"], axes=[1, 2, 3], keepdims=0))
    nodes.append(helper.make_node("Mul", ["mean", constant("zero", np.zeros(1, np.float32))], ["nothing"]))
    nodes.append(helper.make_node("Add", ["nothing", constant("steady_boxes", np.ascontiguousarray(STEADY.T[None]))], ["steady"]))
    output("steady", (1, 7, 8))
    picture = helper.make_tensor_value_info("picture", TensorProto.FLOAT, (1, *SIZE))
    graph = helper.make_graph(nodes, "heads", [picture], outputs, values)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(made)
    return made


if __name__ == "__main__":
    onnx.save(model(), pathlib.Path(__file__).with_name("heads.onnx"))
