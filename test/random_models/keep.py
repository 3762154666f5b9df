"""Writes a model with its inputs and the expected outputs as a text, which kept_test.cpp reads."""
import numpy as np
from google.protobuf import text_format
from onnx import TensorProto, numpy_helper

import oracle

FIELDS = {TensorProto.FLOAT: 'float_data', TensorProto.DOUBLE: 'double_data', TensorProto.INT64: 'int64_data',
          TensorProto.UINT64: 'uint64_data', TensorProto.UINT32: 'uint64_data'}
WHOLE = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16, TensorProto.INT32, TensorProto.BOOL)


def spell(tensor):
    """Numbers as text instead of bytes."""
    if tensor.data_type not in WHOLE + tuple(FIELDS) or not tensor.raw_data:
        return
    values = numpy_helper.to_array(tensor).ravel()
    values = (values.astype(int) if tensor.data_type == TensorProto.BOOL else values).tolist()
    tensor.ClearField('raw_data')
    getattr(tensor, FIELDS.get(tensor.data_type, 'int32_data')).extend(values)


def numbers(values):
    out, line = [], ''
    for v in np.asarray(values).ravel():
        word = repr(float(v)) if np.asarray(values).dtype.kind == 'f' else str(int(v))
        word = word.removesuffix('.0')
        if len(line) + len(word) > 118:
            out.append(line.rstrip())
            line = ''
        line += word + ' '
    return '\n'.join(out + [line.rstrip()]) + '\n'


def text_of(model, feeds, about, outputs=None, refused=''):
    """`outputs`: (type of dice, values) of each output; or the reason for which dice refuses the model."""
    model = type(model).FromString(model.SerializeToString())
    for t in model.graph.initializer:
        spell(t)
    for n in oracle.nodes_within(model.graph):
        for a in n.attribute:
            if a.HasField('t'):
                spell(a.t)
            for t in a.g.initializer if a.HasField('g') else []:
                spell(t)
    one_line = lambda message: text_format.MessageToString(message, as_one_line=True, use_short_repeated_primitives=True)
    out = f'# {about}\n' + ''.join(f'opset_import {{ {one_line(o)} }}\n' for o in model.opset_import)
    out += f'ir_version: {model.ir_version}\ngraph {{\n  name: "g"\n'
    for kind in ('input', 'initializer', 'node', 'output'):
        out += ''.join(f'  {kind} {{ {one_line(m)} }}\n' for m in getattr(model.graph, kind))
    out += '}\n'
    for name, v in feeds.items():
        out += f'--- input {name} float32 {" ".join(map(str, v.shape))}'.rstrip() + '\n' + numbers(v.astype(np.float32))
    if refused:
        return out + f'--- refused {refused}\n'
    for info, (kind, v) in zip(model.graph.output, outputs):
        out += f'--- output {info.name} {kind} {" ".join(map(str, v.shape))}'.rstrip() + '\n' + numbers(v)
    return out
