#!/usr/bin/env python3
"""Writes the backend cases of the installed ONNX in the form of libonnx-testdata: make_cases.py FOLDER [PREFIX…]

PyPI's onnx brings the code that makes its cases, but not their files. Cases of element types that numpy lacks, and of
sequences, are left out; their number is printed. With PREFIXes only cases whose names begin so: test_attention.
"""
import os
import sys

import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def write(path, data):
    with open(path, 'wb') as file:
        file.write(data)


def save(case, folder):
    tensors = [(kind, j, declared, value) for inputs, outputs in case.data_sets[:1]
               for kind, declarations, values in (('input', case.model.graph.input, inputs),
                                                  ('output', case.model.graph.output, outputs))
               for j, (declared, value) in enumerate(zip(declarations, values))]
    data = {f'{kind}_{j}.pb': value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(value, declared.name)
            for kind, j, declared, value in tensors}
    os.makedirs(os.path.join(folder, 'test_data_set_0'))
    write(os.path.join(folder, 'model.onnx'), case.model.SerializeToString())
    for name, tensor in data.items():
        write(os.path.join(folder, 'test_data_set_0', name), tensor.SerializeToString())


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith('-'):
        sys.exit(__doc__.strip())
    out, prefixes = sys.argv[1], tuple(sys.argv[2:])
    for folder in ('node', 'pytorch-converted', 'pytorch-operator', 'simple'):
        os.makedirs(os.path.join(out, folder))
    written = left_out = 0
    for case in collect_testcases(None):
        if prefixes and not case.name.startswith(prefixes):
            continue
        try:
            save(case, os.path.join(out, 'node', case.name))
            written += 1
        except (TypeError, ValueError, AttributeError):
            left_out += 1
    print(f'ONNX {onnx.__version__}: {written} cases in {out}, {left_out} left out')


if __name__ == '__main__':
    main()
