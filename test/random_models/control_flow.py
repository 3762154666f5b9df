"""Generators of nodes with graphs inside them, which the model's constants decide: If, Loop, Scan and SequenceMap."""
import numpy as np

from arrangements import sequence_end
from elementwise import makes
from maker import Unfit


def steps(m, x, s, at_least=0):
    """A few functions of the elements of x, which may read constants and values outside; of shape `s` like x."""
    for _ in range(m.r.randint(at_least, 2)):
        kind = m.r.randint(0, 3)
        if kind == 0:
            x = m.node(m.one_of('Relu', 'Neg', 'Abs', 'Tanh'), [x])
        elif kind == 1:
            x = m.node(m.one_of('Add', 'Mul', 'Sub'), [x, m.const(m.array(s, like='small'))])
        elif kind == 2:
            outside = [n for n, v in m.known.items() if n[0] == 'x' and list(v.shape) == list(s) and v.dtype == np.float32]
            x = m.node('Add', [x, m.r.choice(outside)]) if outside else x
        else:
            x = m.node('Mul', [x, m.const(0.5, np.float32)])
    return x


def decided(m, value, x):
    """A constant condition, or one that follows from the shape of x."""
    if m.chance(0.5) or m.opset < 9:
        return m.const(value, np.bool_)
    few = m.node(m.one_of('Less', 'Less', 'Greater'), [m.node('Size', [x]), m.const(0 if m.flag() else 10**6, np.int64)])
    return m.node('Not', [few]) if m.chance(0.3) else few


@makes('If', weight=2)
def if_(m, op):
    x, s = m.data()
    outputs = m.one_of(1, 1, 2)
    branch = lambda: m.graph([], lambda: [(steps(m, m.node('Identity', [x]), s), np.float32) for _ in range(outputs)])
    y = m.node(op, [decided(m, m.flag(), x)], outputs, then_branch=branch(), else_branch=branch())
    return y if isinstance(y, str) else m.r.choice(y)


@makes('Loop', weight=3)
def loop(m, op):
    x, s = m.data(most=4)
    times, most = m.r.randint(0 if m.chance(0.1) else 1, 4), m.r.randint(0, 4)
    i, on, state = m.name('i'), m.name('on'), m.name('s')
    scans = m.one_of(0, 1, 2)
    by_condition = m.opset >= 9 and m.chance(0.4)

    def body():
        goes_on = m.node('Less', [i, m.const(most, np.int64)]) if by_condition else m.node('Identity', [on])
        y = steps(m, state, s, at_least=1)
        if m.chance(0.4):
            y = m.node('Add', [y, m.cast(i, np.float32)])
        found = [m.node('Neg', [m.one_of(state, y)]) if m.chance(0.7) else m.cast(i, np.float32) for _ in range(scans)]
        return [(goes_on, np.bool_), (y, np.float32)] + [(f, np.float32) for f in found]

    count = m.const(m.one_of(times, [times]), np.int64) if not by_condition or m.chance(0.6) else ''
    first = '' if m.chance(0.4) and count else decided(m, m.r.random() < 0.9, x) if m.chance(0.3) else m.const(True, np.bool_)
    y = m.node(op, [count, first, x], 1 + scans, body=m.graph([(i, np.int64), (on, np.bool_), (state, np.float32)], body))
    return y if isinstance(y, str) else m.r.choice(y)


@makes('Scan', weight=3)
def scan(m, op):
    batched = m.opset < 9  # then axis 0 is the batch, and axis 1 is scanned
    x, s = m.data(least=3 if batched else 2, most=5)
    if 0 in s:  # ONNX Runtime ends
        raise Unfit
    axis = 1 if batched else m.axis(len(s))
    of = s[2:] if batched else [d for a, d in enumerate(s) if a != axis % len(s)]
    inputs = ([''] if batched else []) + [m.other(s[:1] + of if batched else of, p_constant=0.5), x]
    state, elements, axes = m.name('s'), [m.name('e')], [axis]
    if m.chance(0.3):  # scans another tensor, too
        elements.append(m.name('e'))
        axes.append(1 if batched else m.axis(len(s)))
        shape = list(of)
        shape.insert(axes[1] % len(s), s[axis % len(s)])
        inputs.append(m.other(s if batched else shape, p_constant=0.2))

    def body():
        total = steps(m, m.node(m.one_of('Add', 'Sub', 'Max'), [state, elements[0]]), of)
        found = steps(m, m.node('Mul', [elements[0], elements[-1] if len(elements) > 1 else state]), of)
        return [(total, np.float32), (found, np.float32)]

    directions = m.attribute(0.4, [m.flag() for _ in elements])
    stated = {'directions': directions} if batched else {
        'scan_input_axes': axes if any(axes) else m.attribute(0.3, axes), 'scan_input_directions': directions,
        'scan_output_axes': m.attribute(0.4, [m.axis(len(s))]), 'scan_output_directions': m.attribute(0.4, [m.flag()])}
    y = m.node(op, inputs, 2, body=m.graph([(name, np.float32) for name in [state] + elements], body),
               num_scan_inputs=len(elements), **stated)
    return m.r.choice(y)


@makes('SequenceMap')
def sequence_map(m, op):
    x, s = m.data(least=1, most=3)
    items = [x] + [m.other(s, p_constant=0.2) for _ in range(m.r.randint(0, 2))]
    if m.constants:
        raise Unfit
    item = m.name('e')
    body = m.graph([(item, np.float32)], lambda: [(steps(m, item, s, at_least=1), np.float32)])
    return sequence_end(m, m.node(op, [m.node('SequenceConstruct', items)], body=body), len(items))
