"""Generators of operators that move elements, of shapes, sequences and constants."""
import math

import numpy as np
from onnx import helper, numpy_helper

from elementwise import makes
from maker import Unfit


@makes('Reshape', weight=2, special=True)
def reshape(m, op):
    x, s = m.movable(op, most=5)
    count = math.prod(s)
    to, left = [], count
    for _ in range(m.r.randint(0, 4)):
        d = m.r.choice([k for k in range(1, left + 1) if left % k == 0] or [1]) if left else 1
        to.append(d)
        left = left // d if d else left
    if left != 1 or not to:
        to.append(left)
    zero = 0
    if m.chance(0.3):
        for a in range(min(len(to), len(s))):
            if to[a] == s[a] and m.chance(0.8):
                to[a] = 0
    if m.chance(0.5) and to:
        a = m.r.randrange(len(to))
        to[a] = -1
    if m.chance(0.1):
        zero = m.flag()
    return m.node(op, [x, m.ints(to)], allowzero=zero if zero else m.attribute(0.1, 0))


@makes('Flatten')
def flatten(m, op):
    x, s = m.movable(op)
    return m.node(op, [x], axis=m.attribute(0.8, m.axis(len(s), cut=True)))


@makes('Squeeze', 'Unsqueeze', weight=1.5)
def squeeze(m, op):
    x, s = m.movable(op, most=4)
    if op == 'Squeeze':
        ones = [a for a, d in enumerate(s) if d == 1]
        axes = None if m.chance(0.25) else [a - len(s) if m.opset >= 11 and m.chance(0.4) else a for a in m.r.sample(ones, m.r.randint(0, len(ones)))]
        if axes is not None and m.chance(0.02):
            axes.append(m.axis(len(s)))
        if axes == []:  # ONNX Runtime removes all ones, others none
            axes = None
    else:
        more = m.r.randint(1, 3)
        axes = [a - len(s) - more if m.opset >= 11 and m.chance(0.4) else a for a in m.r.sample(range(len(s) + more), more)]
        if m.chance(0.02):
            axes.append(axes[0])
        if m.chance(0.02):
            axes[0] = len(s) + more
    if m.opset < 13:
        return m.node(op, [x], axes=axes)
    return m.node(op, [x] if axes is None else [x, m.ints(axes)])


@makes('Transpose', weight=2, special=True)
def transpose(m, op):
    x, s = m.movable(op, most=5)
    perm = list(range(len(s)))
    m.r.shuffle(perm)
    if perm and m.chance(0.01):
        perm[0] = perm[-1]
    return m.node(op, [x], perm=m.attribute(0.85, perm))


@makes('Concat', weight=2, special=True)
def concat(m, op):
    kind = m.type_for(op) if m.constants else None
    x, s = m.data(dtype=kind, least=1)
    axis = m.axis(len(s))
    operands = [x]
    for _ in range(m.one_of(0, 1, 1, 2, 3)):
        shape = list(s)
        shape[axis % len(s)] = 0 if m.chance(0.04) else m.r.randint(1, 3)
        operands.append(m.other(shape, kind, p_constant=0.4))
    if m.chance(0.1):
        operands.append(x)
    m.r.shuffle(operands)
    return m.node(op, operands, axis=axis)


@makes('Split', weight=3, special=True)
def split(m, op):
    x, s = m.movable(op, least=1)
    axis = m.axis(len(s))
    extent = s[axis % len(s)]
    parts = m.r.randint(1, 3)
    sizes = None
    if m.chance(0.6) and extent >= parts:
        cuts = sorted(m.r.sample(range(1, extent), parts - 1)) if extent > 1 and parts <= extent else []
        sizes = [b - a for a, b in zip([0] + cuts, cuts + [extent])]
        parts = len(sizes)
        if m.chance(0.05):
            sizes[m.r.randrange(parts)] += m.one_of(-1, 1)
    stated = {'axis': axis if axis else m.attribute(0.5, 0)}
    inputs = [x]
    if sizes is not None and m.opset < 13:
        stated['split'] = sizes
    elif sizes is not None:
        inputs.append(m.ints(sizes))
    elif m.opset >= 18:
        stated['num_outputs'] = parts if m.chance(0.97) else parts + 1
    y = m.node(op, inputs, parts, **stated)
    if isinstance(y, str):
        return y
    if m.chance(0.3) and not m.constants:
        return m.node('Concat', y, axis=axis)
    return m.r.choice(y)


@makes('Slice', weight=4, special=True)
def slice_(m, op):
    x, s = m.movable(op, least=1)
    axes = m.axes(len(s), least=1)
    big = m.one_of(2**31 - 1, 2**63 - 1, 10**6)
    starts, ends, steps = [], [], []
    for a in axes:
        d = s[a] if -len(s) <= a < len(s) else 1
        step = m.one_of(1, 1, 1, 2, -1, -1, -2, 3) if m.opset >= 10 else 1
        low, high = sorted(m.r.choices(range(-d - 1, d + 2), k=2))
        start, end = (high, low) if step < 0 else (low, high)
        if m.chance(0.3):
            end = -big - 1 if step < 0 else big
        if m.chance(0.2):
            start = big if step < 0 else -big
        if m.chance(0.02):
            step = m.one_of(-2**63, 2**63 - 1, 0)
        starts.append(start), ends.append(end), steps.append(step)
    if m.opset < 10:
        return m.node(op, [x], starts=starts, ends=ends, axes=axes if axes != list(range(len(axes))) else m.attribute(0.5, axes))
    inputs = [x, m.ints(starts), m.ints(ends)]
    if axes != list(range(len(axes))) or m.chance(0.5):
        inputs.append(m.ints(axes))
    if steps != [1] * len(steps):
        inputs += [''] * (4 - len(inputs)) + [m.ints(steps)]
    return m.node(op, inputs)


def index(m, extent, p_wrong=0.01):
    if extent < 1:
        raise Unfit
    return m.one_of(extent, -extent - 1) if m.chance(p_wrong) else m.r.randint(-extent if m.opset >= 11 else 0, extent - 1)


@makes('Gather', weight=3, special=True)
def gather(m, op):
    x, s = m.movable(op, least=1)
    axis = m.axis(len(s))
    shape = m.one_of([], [1], [3], [2, 2], [m.r.randint(1, 5)], [m.r.randint(9, 24)], [3, 4])
    at = np.array([index(m, s[axis % len(s)], 0.002) for _ in range(math.prod(shape))], m.one_of(np.int64, np.int64, np.int32)).reshape(shape)
    return m.node(op, [x, m.const(at)], axis=axis if axis else m.attribute(0.5, 0))


@makes('GatherND', weight=2)
def gather_nd(m, op):
    x, s = m.movable(op, least=1)
    k = m.r.randint(1, len(s))
    batch = m.r.randint(1, len(s) - 1) if len(s) > 1 and m.opset >= 12 and m.chance(0.1) else 0
    shape = s[:batch] + m.one_of([], [2], [3], [2, 2])
    k = min(k, len(s) - batch)
    at = [[index(m, s[batch + a]) for a in range(k)] for _ in range(math.prod(shape))]
    return m.node(op, [x, m.const(np.array(at, np.int64).reshape(shape + [k]))], batch_dims=batch if batch else m.attribute(0.2, 0))


@makes('GatherElements', weight=2)
def gather_elements(m, op):
    x, s = m.movable(op, least=1)
    if 0 in s:
        raise Unfit
    axis = m.axis(len(s))
    at = indices_of_elements(m, s, axis)
    return m.node(op, [x, m.const(at)], axis=axis if axis else m.attribute(0.5, 0))


def indices_of_elements(m, s, axis, once=False):
    """Indices of an axis of a tensor of shape `s`, some of them for all elements of other axes alike; `once`: none twice."""
    a = axis % len(s)
    shape = [d if m.chance(0.6) else m.r.randint(1, d) for d in s]
    shape[a] = m.r.randint(1, s[a] if once else s[a] + 2)
    lines = math.prod(shape) // shape[a]
    line = lambda: m.r.sample(range(s[a]), shape[a]) if once else [index(m, s[a], 0.002) for _ in range(shape[a])]
    at = [line()] * lines if m.chance(0.3) else [line() for _ in range(lines)]
    at = np.moveaxis(np.array(at).reshape([d for k, d in enumerate(shape) if k != a] + [shape[a]]), -1, a)
    if once and m.opset >= 11:
        at = np.where(np.array(m.array(shape, np.bool_)), at, at - s[a])
    return at.astype(m.one_of(np.int64, np.int64, np.int32))


def scattered(m, op):
    """What updates are scattered into, and what makes these of a shape; one or both are activations."""
    kind = m.type_for(op) if m.constants else m.one_of(np.int64, np.int32, np.bool_) if m.current is None and m.chance(0.15) else np.float32
    if m.constants or m.current is not None or kind != np.float32 or m.chance(0.7):
        x, s = m.data(dtype=kind if m.constants or kind != np.float32 else None, least=1)
        updates = lambda shape: m.other(shape, kind, p_constant=0.5)
    else:
        s = m.shape(1)
        x, updates = m.const(m.array(s)), lambda shape: m.data(shape)[0]
    if 0 in s:
        raise Unfit
    return x, s, updates


@makes('ScatterND', weight=3)
def scatter_nd(m, op):
    x, s, updates = scattered(m, op)
    k = m.r.randint(1, len(s))
    if m.chance(0.4):  # x[a:b, c:d] = y, as PyTorch writes it
        ranges = []
        for d in s[:k]:
            begin = m.r.randint(0, d - 1)
            ranges.append(range(begin, m.r.randint(begin + 1, d), m.one_of(1, 1, 1, 2)))
        at = np.stack(np.meshgrid(*ranges, indexing='ij'), -1)
    else:
        rows = [[index(m, d, 0.002) for d in s[:k]] for _ in range(m.r.randint(1, 4))]
        if m.chance(0.8):  # in any order, the last of two with one place need not win
            rows = list({tuple(i % d for i, d in zip(row, s)): row for row in rows}.values())
        at = np.array(rows)
    reduction = m.attribute(0.2, m.one_of('none', 'none', 'add', 'mul'))
    return m.node(op, [x, m.const(at.astype(np.int64)), updates(list(at.shape[:-1]) + s[k:])], reduction=reduction)


@makes('ScatterElements', 'Scatter', weight=2)
def scatter_elements(m, op):
    x, s, updates = scattered(m, op)
    axis = m.axis(len(s))
    at = indices_of_elements(m, s, axis, once=True)
    reduction = m.attribute(0.2, m.one_of('none', 'none', 'add')) if op == 'ScatterElements' else None
    return m.node(op, [x, m.const(at), updates(list(at.shape))], axis=axis if axis else m.attribute(0.5, 0), reduction=reduction)


@makes('Expand', 'Tile', weight=1.5, special=True)
def repeat(m, op):
    x, s = m.movable(op, most=4)
    if op == 'Tile':
        return m.node(op, [x, m.ints([m.one_of(1, 1, 2, 3) if m.chance(0.98) else 0 for _ in s])])
    to = [m.one_of(1, d, d) if d != 1 else m.one_of(1, 2, 3) for d in s]
    to = [m.r.randint(1, 2)] + to if len(s) < 4 and m.chance(0.3) else to[m.r.randint(0, len(to)):] if m.chance(0.2) else to
    if m.chance(0.01):
        to = [d + 1 for d in to]
    return m.node(op, [x, m.ints(to)])


@makes('Pad', weight=5, special=True)
def pad(m, op):
    x, s = m.movable(op, least=1)
    mode = m.attribute(0.8, m.one_of('constant', 'reflect', 'edge', 'constant', 'wrap' if m.opset >= 19 else 'edge'))
    axes = m.axes(len(s), least=1) if m.opset >= 18 and m.chance(0.4) else None
    named = list(range(len(s))) if axes is None else [a % len(s) for a in axes]
    least = -1 if m.chance(0.2) else 0
    size = lambda a: m.r.randint(least, max(least, min(3, s[a] - 1 if mode == 'reflect' else 3))) if m.chance(0.6) else 0
    pads = [size(a) for a in named + named]
    kind = m.known[x].dtype if x in m.known else np.float32
    if m.opset < 11:
        return m.node(op, [x], pads=pads, mode=mode, value=m.attribute(0.4, 1.5))
    inputs = [x, m.ints(pads)]
    if m.chance(0.5) or axes is not None:
        inputs.append(m.const(m.array([], kind)) if m.chance(0.6) and x in m.known else '')
    if axes is not None:
        inputs.append(m.ints(axes) if m.chance(0.7) else m.const(axes, np.int32))
    return m.node(op, inputs, mode=mode)


# -- shapes and constants ---------------------------------------------------------------------------------------------
@makes('Shape', 'Size')
def shape_of(m, op):
    x, s = m.data(most=5)
    stated = {}
    if op == 'Shape' and m.chance(0.5):
        stated = {'start': m.attribute(0.6, m.r.randint(-6, 6)), 'end': m.attribute(0.6, m.r.randint(-6, 6))}
    c = m.cast(m.node(op, [x], **stated), np.float32)
    if m.constants or op == 'Size':
        return c
    if m.chance(0.5):
        return m.node('Expand', [x, m.node('Concat', [m.ints([1]), m.node(op, [x])], axis=0)])
    return c


@makes('ConstantOfShape')
def constant_of_shape(m, op):
    m.constants = True
    kind = m.one_of(np.float32, np.int64, np.int32, np.bool_, np.uint8, np.float64)
    value = m.attribute(0.7, numpy_helper.from_array(m.array([1], kind)))
    return m.node(op, [m.ints(m.shape(0, 4))], value=value)


@makes('Constant')
def constant(m, op):
    m.constants = True
    kind = m.r.randint(0, 4)
    value = {0: {'value': numpy_helper.from_array(m.array(m.shape(), m.one_of(np.float32, np.int64, np.uint8, np.float64)))},
             1: {'value_float': 1.5}, 2: {'value_floats': [0.5, -1.0, 2.0]}, 3: {'value_int': m.one_of(3, -2**40)},
             4: {'value_ints': [3, -1, 7]}}[kind if m.opset >= 12 else 0]
    return m.node(op, [], **value)


@makes('Range')
def range_(m, op):
    m.constants = True
    kind = m.one_of(np.int64, np.int32, np.float32, np.float64, np.int16)
    start, delta = m.r.randint(-5, 5), m.one_of(1, 2, -1, -3, 3)
    limit = start + delta * m.r.randint(-1, 6) + m.one_of(0, 0, 1, -1)
    scale = m.one_of(1, 0.5, 0.1) if np.dtype(kind).kind == 'f' else 1
    if m.chance(0.1) and kind == np.int64:
        start, limit = start - 2**53 - 7, limit - 2**53 - 7
    return m.node(op, [m.const(np.array(v, kind)) for v in (start * scale, limit * scale, delta * scale)])


# -- sequences --------------------------------------------------------------------------------------------------------
def sequence_end(m, sequence, length):
    kind = m.r.randint(0, 3)
    if kind == 0:
        return m.node('SequenceAt', [sequence, m.const(index(m, length), m.one_of(np.int64, np.int32))])
    if kind == 1 and m.constants:
        return m.node('SequenceLength', [sequence])
    return m.node('ConcatFromSequence', [sequence], axis=0, new_axis=m.attribute(0.5, m.flag()))


@makes('SequenceEmpty', 'SequenceInsert', 'SequenceErase')
def sequence_by_one(m, op):
    x, s = m.data(least=1, most=3)
    items = [x] + [m.other(s, p_constant=0.2) for _ in range(m.r.randint(1, 2))]
    position = lambda length: [m.const(m.r.randint(-length, length), m.one_of(np.int64, np.int32))] if m.chance(0.6) else []
    made, length = (m.node('SequenceEmpty', []), 0) if op == 'SequenceEmpty' else (m.node('SequenceConstruct', items), len(items))
    if op == 'SequenceErase':
        return sequence_end(m, m.node(op, [made] + position(length - 1)), length - 1)
    for k in range(m.r.randint(1, 3)):
        made = m.node('SequenceInsert', [made, m.r.choice(items)] + position(length + k))
    return sequence_end(m, made, length + k + 1)


@makes('SequenceConstruct', 'SequenceAt', 'ConcatFromSequence', 'SequenceLength')
def sequence(m, op):
    x, s = m.data(least=1, most=3)
    items = [x] + [m.other(s, p_constant=0.2) for _ in range(m.r.randint(0, 2))]
    made = m.node('SequenceConstruct', items)
    if op == 'SequenceAt':
        return m.node(op, [made, m.const(index(m, len(items)), m.one_of(np.int64, np.int32))])
    if op == 'SequenceLength':
        return m.cast(m.node(op, [made]), np.float32)
    if op == 'ConcatFromSequence':
        new = m.flag()
        return m.node(op, [made], axis=m.axis(len(s) + new), new_axis=new if new else m.attribute(0.5, 0))
    return sequence_end(m, made, len(items))


@makes('SplitToSequence', weight=1.5)
def split_to_sequence(m, op):
    x, s = m.data(least=1, most=3)
    axis = m.axis(len(s))
    extent = s[axis % len(s)]
    if extent < 1:
        raise Unfit
    inputs, length = [x], extent
    if m.chance(0.4):
        each = m.r.randint(1, extent)
        inputs.append(m.const(each, np.int64))
        length = -(-extent // each)
    elif m.chance(0.4) and extent > 1:
        at = m.r.randint(1, extent - 1)
        inputs.append(m.ints([at, extent - at]))
        length = 2
    made = m.node(op, inputs, axis=axis if axis else m.attribute(0.5, 0), keepdims=m.attribute(0.5, m.flag()))
    return sequence_end(m, made, length)
