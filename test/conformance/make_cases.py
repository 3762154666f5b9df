#!/usr/bin/env python3
"""Writes the backend cases of the installed ONNX in the form of libonnx-testdata: make_cases.py FOLDER

PyPI's onnx contains the code that makes its cases, but not their files. Cases whose values are not tensors are
left out.
"""
import os
import sys

import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def save(case, folder):
    files = {'model.onnx': case.model}
    inputs, outputs = case.data_sets[0]
    for kind, declared, values in ('input', case.model.graph.input, inputs), ('output', case.model.graph.output, outputs):
        for k, (variable, value) in enumerate(zip(declared, values)):
            data = numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
            files[f'test_data_set_0/{kind}_{k}.pb'] = numpy_helper.from_array(data, variable.name)  # as raw data
    os.makedirs(os.path.join(folder, 'test_data_set_0'))
    for name, message in files.items():
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(message.SerializeToString())


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith('-'):
        sys.exit(__doc__.strip())
    out = sys.argv[1]
    for folder in ('node', 'pytorch-converted', 'pytorch-operator', 'simple'):
        os.makedirs(os.path.join(out, folder))
    written = left_out = 0
    for case in collect_testcases(None):
        try:
            save(case, os.path.join(out, 'node', case.name))
            written += 1
        except (TypeError, ValueError, AttributeError):
            left_out += 1
    print(f'ONNX {onnx.__version__}: {written} cases in {out}, {left_out} left out')


if __name__ == '__main__':
    main()
