"""Smaller models with the same verdict."""
import numpy as np
import onnx
from onnx import helper

import oracle
import verdicts


def values_between(model, feeds):
    """All values that an oracle computes, by name."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    del whole.graph.output[:]
    names = [o for n in model.graph.node for o in n.output if o]
    for name in names:
        whole.graph.output.append(onnx.ValueInfoProto(name=name))
    for a in reversed(oracle.answers(whole, feeds)):
        if a.values is not None:
            return dict(zip(names, a.values))
    return {}


def graph_of(n):
    return onnx.GraphProto(node=[n])


def part(model, feeds, start, output, values):
    """The model from `start` (names that become inputs) to `output`."""
    needed, nodes = {output}, []
    for n in reversed(model.graph.node):
        if any(o in needed for o in n.output) and not all(o in start for o in n.output if o in needed):
            nodes.insert(0, n)
            needed.update(i for within in (n, *oracle.nodes_within(graph_of(n))) for i in within.input if i)
    needed_initializers = [t for t in model.graph.initializer if t.name in needed]
    inputs = [i for i in model.graph.input if i.name in needed]
    new_feeds = {i.name: feeds[i.name] for i in inputs}
    for name in start:
        if name in needed:
            v = np.asarray(values[name])
            inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape))
            new_feeds[name] = v
    info = onnx.ValueInfoProto(name=output)
    kind = np.asarray(values[output]).dtype if output in values else np.dtype(np.float32)
    info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(kind)
    graph = helper.make_graph(nodes, 'g', inputs, [info], needed_initializers)
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version), new_feeds


def shrunk(tool, model, feeds, kind):
    """A part of the model with the verdict `kind`, the smallest that is found."""
    values = values_between(model, feeds)
    names = [n for n, v in values.items() if isinstance(v, np.ndarray)]
    best = model, feeds
    outputs = [o for o in names] + [o.name for o in model.graph.output]
    for output in dict.fromkeys(outputs):
        candidate = part(model, feeds, (), output, values)
        if len(candidate[0].graph.node) <= len(best[0].graph.node) and verdicts.judge(tool, *candidate)[0] == kind:
            best = candidate
            break
    output = best[0].graph.output[0].name
    for start in reversed(names):
        v = values[start]
        if start == output or v.dtype != np.float32 or not v.size:
            continue
        candidate = part(best[0], best[1], (start,), output, values)
        if 0 < len(candidate[0].graph.node) < len(best[0].graph.node) and verdicts.judge(tool, *candidate)[0] == kind:
            return candidate
    return best
