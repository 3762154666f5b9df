"""ONNX's own backend cases (Debian: libonnx-testdata), converted and compared with the outputs that ONNX gives.

  backend_cases.py ONNX2HPP DATA      needs torch and onnx; DATA holds node/, simple/, pytorch-converted/, pytorch-operator/

Each case is tried with one of its inputs as a frame and the others as constants, and with all of them as constants (what
onnx2hpp computes itself, added to an input of zeros). A refusal is an answer; a wrong value, a crash or files left behind
are failures.
"""
import collections
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

import evaluate

# Kinds of data that onnx's Python package does not read back as what they are.
UNREADABLE = ('BFLOAT16',)


def tensor(path):
    proto = onnx.TensorProto()
    try:
        proto.ParseFromString(open(path, 'rb').read())
        return numpy_helper.to_array(proto)
    except Exception:  # a sequence, or of a type that numpy lacks
        return None


def raise_opset(model):
    """To 7, the first that is supported: what these cases use has not changed before."""
    for o in model.opset_import:
        o.version = max(o.version, 7)
    for n in model.graph.node:
        for a in list(n.attribute):
            if a.name in ('axis', 'broadcast') and n.op_type in ('Add', 'Sub', 'Mul', 'Div', 'Gemm') or a.name == 'is_test':
                n.attribute.remove(a)


def freeze(model, inputs, arrays, keep):
    for i, array in zip(inputs, arrays):
        if i.name not in keep:
            model.graph.initializer.append(numpy_helper.from_array(array, i.name))


def add_to_zeros(model, expected):
    """Each output as float32, added to an input of its shape."""
    names = [o.name for o in model.graph.output]
    del model.graph.output[:], model.graph.input[:]
    for k, (name, e) in enumerate(zip(names, expected)):
        model.graph.node.append(helper.make_node('Cast', [name], [f'cast_{k}'], to=1))
        model.graph.node.append(helper.make_node('Add', [f'zeros_{k}', f'cast_{k}'], [f'sum_{k}']))
        model.graph.input.append(helper.make_tensor_value_info(f'zeros_{k}', 1, list(e.shape)))
        model.graph.output.append(helper.make_tensor_value_info(f'sum_{k}', 1, list(e.shape)))


def equal(found, expected):
    if found.shape != expected.shape:
        return False
    with np.errstate(over='ignore'):
        expected = expected.astype(np.float32)
    finite = np.isfinite(expected)
    return np.array_equal(np.isfinite(found), finite) and evaluate.error(found[finite], expected[finite]) <= 1e-4


def convert(tool, model, frames, expected):
    """'equal', 'refused', or what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'm.onnx')
        with open(file, 'wb') as out:
            out.write(model.SerializeToString())
        done = subprocess.run([tool, file, '-o', folder], capture_output=True, text=True)
        left = sorted(os.listdir(folder))
        if done.returncode == 1 and left == ['m.onnx'] and done.stderr.startswith('onnx2hpp: '):
            return 'refused'
        if done.returncode != 0:
            return f'exit {done.returncode}, files {left}: {done.stderr[-500:]}'
        if any(f is None for f in frames) or any(e is None for e in expected):
            return 'not compared'
        found = evaluate.evaluate(os.path.join(folder, 'm.hpp'), frames)
        return 'equal' if all(equal(f, e) for f, e in zip(found, expected)) else 'differs'


def check(tool, case):
    folder = os.path.dirname(case)
    model = onnx.load(case)
    raise_opset(model)
    known = {i.name for i in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in known]
    arrays = [tensor(f'{folder}/test_data_set_0/input_{k}.pb') for k in range(len(inputs))]
    expected = [tensor(f'{folder}/test_data_set_0/output_{k}.pb') for k in range(len(model.graph.output))]
    results = []
    for keep in [[i.name] for i in inputs[:2]] + [[i.name for i in inputs]]:
        if any(a is None for i, a in zip(inputs, arrays) if i.name not in keep):
            continue
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        freeze(copy, inputs, arrays, keep)
        results.append(convert(tool, copy, [a for i, a in zip(inputs, arrays) if i.name in keep], expected))
    readable = all(a is not None and a.size for a in arrays + expected) and all(e.dtype.kind in 'fiub' for e in expected)
    if readable and not any(u in case for u in UNREADABLE):
        freeze(model, inputs, arrays, [])
        add_to_zeros(model, expected)
        results.append(convert(tool, model, [np.zeros(e.shape, np.float32) for e in expected], expected))
    return results


def main():
    tool, data = sys.argv[1:]
    counts, wrong = collections.Counter(), 0
    for case in sorted(glob.glob(f'{data}/*/*/model.onnx')):
        for result in check(tool, case):
            counts[result if result in ('equal', 'refused', 'not compared') else 'wrong'] += 1
            if result not in ('equal', 'refused', 'not compared'):
                wrong += 1
                print(f'{os.path.relpath(os.path.dirname(case), data)}: {result}', flush=True)
    print(', '.join(f'{n} {kind}' for kind, n in sorted(counts.items())))
    sys.exit(wrong > 0 or counts['equal'] < 500)


if __name__ == '__main__':
    main()
