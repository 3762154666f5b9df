"""What exporters write as several operators and the converter joins, removes or moves, each with variations that it must not
join: other axes, constants, exponents, readers."""
import numpy as np

import elementwise
from maker import Maker, OPSETS, Unfit

IDIOMS = {}


def idiom(make):
    IDIOMS[make.__name__] = make
    return make


def make(seed):
    m = Maker(f'{seed}')
    m.opset = m.r.choice([v for v in OPSETS if v >= 11])
    name = m.r.choice(sorted(IDIOMS))
    return m, name, IDIOMS[name](m)


def reduced(m, op, x, axes, keep=1):
    if m.opset < (13 if op == 'ReduceSum' else 18):
        return m.node(op, [x], axes=axes, keepdims=keep)
    return m.node(op, [x, m.ints(axes)], keepdims=keep)


def scaled(m, y, s):
    """Mul, Add and the like with constants, in any order and number."""
    for _ in range(m.r.randint(0, 3)):
        op = m.one_of('Mul', 'Add', 'Mul', 'Add', 'Sub', 'Div')
        of = m.one_of([s[1]] + [1] * (len(s) - 2), [s[-1]], s[1:], s, [1], [], [1] * (len(s) + m.chance(0.1)))
        c = m.const(m.array(of, like='positive' if op == 'Div' else 'any'))
        y = m.node(op, [y, c] if op == 'Div' or m.chance(0.7) else [c, y])
    return y


@idiom
def normalization_in_parts(m):
    s = m.shape(2, 4)
    if 0 in s:
        raise Unfit
    x = m.input(m.array(s))
    axes = m.one_of([-1], [len(s) - 1], list(range(1, len(s))), list(range(2, len(s))) or [1], [1])
    others = axes if m.chance(0.8) else m.one_of([0], [1], [-1], list(range(len(s))))
    if m.chance(0.75):
        rest = m.node('Sub', [x, reduced(m, 'ReduceMean', x, axes, 1 if m.chance(0.97) else 0)])
    else:
        rest = x
    if m.chance(0.5):
        power = m.one_of(2.0, 2.0, 2.0, 3.0, 4.0)
        squares = m.node('Pow', [rest, m.const(power, np.float32)])
        if power == 3.0:
            squares = m.node('Abs', [squares])
    else:
        again = rest if rest == x or m.chance(0.8) else m.node('Sub', [x, reduced(m, 'ReduceMean', x, others)])
        squares = m.node('Mul', [again, again if m.chance(0.9) else m.node('Abs', [x])])
        if m.chance(0.1):
            squares = m.node('Abs', [squares])
    variance = reduced(m, m.one_of('ReduceMean', 'ReduceMean', 'ReduceMean', 'ReduceSum', 'ReduceMax'), squares, others)
    if m.chance(0.95):
        variance = m.node('Add', [variance, m.number(m.one_of(1e-5, 0.5, 0.1), len(s))])
    else:
        variance = m.node('Add', [m.node('Abs', [variance]), m.const(m.array([s[-1]], like='positive'))])
    root = m.node('Sqrt', [m.node('Abs', [variance]) if m.chance(0.1) else variance])
    if m.chance(0.6):
        y = m.node('Div', [rest if m.chance(0.95) else x, root])
    else:
        y = m.node('Mul', [rest, m.node('Reciprocal', [root]) if m.chance(0.6) else
                           m.node('Div', [m.const(1.0 if m.chance(0.8) else 2.0, np.float32), root])])
    return scaled(m, y, s)


@idiom
def group_norm_of_pytorch(m):
    groups, each = m.one_of(1, 2, 3), m.r.randint(1, 3)
    s = [m.one_of(1, 2), groups * each] + [m.r.randint(1, 4) for _ in range(m.r.randint(1, 2))]
    x = m.input(m.array(s))
    y = m.node('Reshape', [x, m.ints([0, groups, -1])])
    y = m.node('InstanceNormalization', [y, m.const(np.ones(groups) if m.chance(0.8) else m.array([groups]), np.float32),
                                         m.const(np.zeros(groups) if m.chance(0.8) else m.array([groups]), np.float32)],
               epsilon=m.attribute(0.5, 0.1))
    y = m.node('Reshape', [y, m.ints(s)])
    return scaled(m, y, s)


@idiom
def normalization_then_scales(m):
    s = m.shape(3, 4)
    if 0 in s:
        raise Unfit
    x = m.input(m.array(s))
    op = m.one_of('InstanceNormalization', 'BatchNormalization', 'LayerNormalization' if m.opset >= 17 else 'InstanceNormalization')
    of = [s[-1]] if op == 'LayerNormalization' else [s[1]]
    inputs = [x, m.const(m.array(of)), m.const(m.array(of))]
    if op == 'BatchNormalization':
        inputs += [m.const(m.array(of)), m.const(m.array(of, like='positive'))]
    return scaled(m, m.node(op, inputs), s)


@idiom
def scales_behind_weights(m):
    if m.chance(0.7):
        s = [m.one_of(1, 2), m.r.randint(1, 3)] + [m.r.randint(3, 5) for _ in range(m.r.randint(1, 2))]
        x = m.input(m.array(s))
        channels = m.r.randint(1, 4)
        transposed = m.chance(0.2)
        w = m.array(([s[1], channels] if transposed else [channels, s[1]]) + [m.r.randint(1, 3) for _ in s[2:]], like='small')
        inputs = [x, m.const(w)] + ([m.const(m.array([channels]))] if m.chance(0.5) else [])
        y = m.node('ConvTranspose' if transposed else 'Conv', inputs)
    else:
        s = m.one_of([2, 3], [1, 4], [2, 2, 3])
        x = m.input(m.array(s))
        y = m.node('MatMul', [x, m.const(m.array([s[-1], m.r.randint(1, 4)], like='small'))])
    if m.chance(0.1):
        m.made.clear()
        z = m.node('Relu', [y])
        return m.node('Add', [batch_norm(m, y), z])
    y = m.node('Identity', [y]) if m.chance(0.1) else y
    t = list(m.value(y).shape)
    y = batch_norm(m, y) if m.chance(0.6) else scaled(m, y, t)
    return batch_norm(m, y) if m.chance(0.15) else scaled(m, y, t) if m.chance(0.3) else y


def batch_norm(m, y):
    of = [m.value(y).shape[1]]
    return m.node('BatchNormalization', [y, m.const(m.array(of)), m.const(m.array(of)), m.const(m.array(of)),
                                         m.const(m.array(of, like='positive'))], epsilon=m.attribute(0.3, 0.1))


@idiom
def pad_then_window(m):
    s = [m.one_of(1, 2), m.r.randint(1, 3), m.r.randint(2, 5), m.r.randint(2, 5)]
    x = m.input(m.array(s))
    pads = [m.one_of(0, 0, 0, 0, 1) if a < 2 and m.chance(0.1) else 0 if a < 2 else m.one_of(0, 1, 1, 2, -1 if m.chance(0.2) else 0)
            for a in (0, 1, 2, 3)] * 2
    pads = [p if m.chance(0.8) else (m.r.randint(0, 1) if k % 4 > 1 else 0) for k, p in enumerate(pads)]
    mode = m.one_of('constant', 'constant', 'constant', 'constant', 'edge', 'reflect')
    if mode != 'constant':
        pads = [max(0, min(p, 1)) for p in pads]
    value = [m.const(m.one_of(0.0, 0.0, 0.0, 1.0, -0.5), np.float32)] if m.chance(0.6) else []
    y = m.node('Pad', [x, m.ints(pads), *value], mode=mode)
    op = m.one_of('Conv', 'Conv', 'MaxPool', 'AveragePool', 'Relu')
    t = m.value(y).shape
    kernel = [m.r.randint(1, min(3, t[2])), m.r.randint(1, min(3, t[3]))]
    more = [m.r.randint(0, min(kernel) - 1) if m.chance(0.4) else 0 for _ in range(4)]
    if op == 'Conv':
        w = m.const(m.array([2, t[1], *kernel], like='small'))
        automatic = None if any(more) else m.one_of(None, 'SAME_UPPER', 'VALID')
        y = m.node('Conv', [y, w], pads=None if automatic else more, strides=m.attribute(0.4, [2, 1]), auto_pad=automatic)
    elif op != 'Relu':
        y = m.node(op, [y], kernel_shape=kernel, pads=more, count_include_pad=m.attribute(0.5, m.flag()) if op == 'AveragePool' else None)
    return batch_norm(m, y) if m.chance(0.3) else y


@idiom
def functions_in_parts(m):
    s = m.shape(1, 3)
    x = m.input(m.array(s))
    f = lambda v: m.number(v, len(s))
    varied = lambda v: v if m.chance(0.85) else m.one_of(v + 0.5, v * 2, -v, v + 1e-3)
    near, limit = lambda v: f(varied(v)), lambda v: m.const(varied(v), np.float32)
    swap = lambda a, b: [a, b] if m.chance(0.5) else [b, a]
    kind = m.r.randint(0, 5)
    if kind == 0:
        return m.node('Mul', swap(x, m.node('Sigmoid', [x if m.chance(0.8) else m.node('Mul', [x, f(1.5)])])))
    if kind == 1:
        inner = m.node('Clip', [m.node('Add', swap(x, near(3.0))), limit(0.0), limit(6.0)])
        inner = m.node('Div', [inner, near(6.0)]) if m.chance(0.6) else m.node('Mul', swap(inner, near(1 / 6)))
        return m.node('Mul', swap(x, inner)) if m.chance(0.6) else inner
    if kind == 2:
        inner = m.node('HardSigmoid', [x], alpha=m.one_of(1 / 6, 1 / 6, 0.2), beta=m.one_of(0.5, 0.5, 0.4))
        return m.node('Mul', swap(x if m.chance(0.9) else m.node('Relu', [x]), inner))
    if kind == 3:
        return m.node('Mul', swap(x, m.node('Tanh', [m.node('Softplus', [x])])))
    if kind == 4:
        erf = m.node('Erf', [m.node('Div', [x, near(1.4142135)]) if m.chance(0.5) else m.node('Mul', swap(x, near(0.70710678)))])
        one = m.node('Add', swap(erf, near(1.0)))
        if m.chance(0.5):
            return m.node('Mul', swap(m.node('Mul', swap(x, one)), near(0.5)))
        return m.node('Mul', swap(m.node('Mul', swap(x, near(0.5))), one))
    cube = m.node('Pow', [x, near(3.0)])
    inner = m.node('Mul', swap(m.node('Add', swap(x, m.node('Mul', swap(cube, near(0.044715))))), near(0.7978845)))
    one = m.node('Add', swap(m.node('Tanh', [inner]), near(1.0)))
    return m.node('Mul', swap(m.node('Mul', swap(x, near(0.5))), one))


@idiom
def channels_last(m):
    """Transposes around operators with axes, as TensorFlow's exporters write them."""
    rank = m.one_of(3, 4, 4)
    s = [m.r.randint(1, 3) for _ in range(rank)]
    x = m.input(m.array(s))
    first = [0, rank - 1] + list(range(1, rank - 1))
    last = [0] + list(range(2, rank)) + [1]
    perm = lambda p: p if m.chance(0.85) else m.r.sample(range(rank), rank)
    y = m.node('Transpose', [x], perm=perm(first))
    for _ in range(m.r.randint(1, 4)):
        v = m.value(y)
        if v.ndim != rank:
            break
        t = list(v.shape)
        k = m.r.randint(0, 12)
        axis = m.axis(rank)
        if not -rank <= axis < rank:
            raise Unfit
        if k == 0:
            y = m.node('Relu', [y])
        elif k == 1:
            y = m.node('Add', [y, m.other([d if m.chance(0.6) else 1 for d in t])])
        elif k == 2:
            y = m.node('Concat', [y, m.node('Neg', [y])] if m.chance(0.5) else [y, m.other(t)], axis=axis)
        elif k == 3:
            y = m.node('Softmax', [y], axis=axis)
        elif k == 4:
            y = reduced(m, m.one_of('ReduceMean', 'ReduceMax', 'ReduceSum'), y, m.axes(rank, least=1), m.one_of(1, 1, 0))
        elif k == 5:
            y = m.node('Pad', [y, m.ints([m.r.randint(0, 1) for _ in range(2 * rank)])])
        elif k == 6:
            y = m.node('Slice', [y, m.ints([0]), m.ints([max(1, t[axis] - 1)]), m.ints([axis])])
        elif k == 7:
            y = m.node('Transpose', [y], perm=perm(last))
        elif k == 8:
            y = m.node('Mul', [y, m.const(m.array([t[-1]]))])
        elif k == 9:
            y = m.node('Split', [y], 2, axis=axis) if t[axis] == 2 and m.opset < 18 else y
            y = y if isinstance(y, str) else m.node('Mul', y)
        elif k == 10:
            y = m.node('Reshape', [y, m.ints([0, -1])])
        elif k == 11:
            y = m.node('Resize', [y, '', m.const([1.0] + [m.one_of(1.0, 2.0) for _ in range(rank - 1)], np.float32)], mode='nearest',
                       coordinate_transformation_mode='asymmetric', nearest_mode='floor') if m.opset >= 13 else y
        else:
            y = m.node('Tile', [y, m.ints([m.r.randint(1, 2) for _ in range(rank)])])
    if m.value(y).ndim == rank:
        y = m.node('Transpose', [y], perm=perm(last))
    return y


@idiom
def shapes_computed(m):
    """Reshape and Expand to what Shape, Gather, Slice, Mul, Concat … compute."""
    s = m.shape(2, 4)
    if 0 in s:
        raise Unfit
    x = m.input(m.array(s))
    y = m.node('Relu', [x])
    shape = m.node('Shape', [y])
    first = m.node('Gather', [shape, m.const(m.one_of(0, -len(s)), np.int64)], axis=0)
    one = m.node('Unsqueeze', [first], axes=[0]) if m.opset < 13 else m.node('Unsqueeze', [first, m.ints([0])])
    k = m.r.randint(0, 4)
    if k == 0:
        return m.node('Reshape', [y, m.node('Concat', [one, m.ints([-1])], axis=0)])
    rest = m.node('Slice', [shape, m.ints([1]), m.ints([m.one_of(9999, 2**63 - 1)])])
    if k == 1:
        product = reduced(m, 'ReduceProd', rest, [0])
        return m.node('Reshape', [y, m.node('Concat', [one, product], axis=0)])
    if k == 2:
        doubled = m.node('Mul', [rest, m.const(2, np.int64)])
        halves = m.node('Div', [doubled, m.ints([2])])
        return m.node('Reshape', [y, m.node('Concat', [halves, one], axis=0)])
    if k == 3:
        times = m.node('Cast', [m.node('Floor', [m.node('Cast', [rest], to=1)])], to=7)
        return m.node('Expand', [y, m.node('Where', [m.node('Equal', [times, m.ints([1])]), m.ints([2]), times])])
    return m.node('Reshape', [y, m.node('ConcatFromSequence', [m.node('SequenceConstruct', [rest, one])], axis=0)])


@idiom
def attention_in_parts(m):
    heads, size, length = m.r.randint(1, 3), m.r.randint(1, 3), m.r.randint(1, 4)
    batch, width = m.one_of(1, 2), heads * size
    x = m.input(m.array([batch, length, width], like='small'))

    def projected(perm):
        y = m.node('MatMul', [x, m.const(m.array([width, width], like='small'))])
        y = m.node('Add', [y, m.const(m.array([width], like='small'))]) if m.chance(0.6) else y
        y = m.node('Reshape', [y, m.ints([m.one_of(0, batch), length, heads, size])])
        return m.node('Transpose', [y], perm=perm)

    q, v = projected([0, 2, 1, 3]), projected([0, 2, 1, 3])
    k = projected([0, 2, 3, 1]) if m.chance(0.7) else m.node('Transpose', [projected([0, 2, 1, 3])], perm=[0, 1, 3, 2])
    scale = m.const(size**-0.5, np.float32)
    if m.chance(0.5):
        q = m.node('Mul', [q, scale])
        scores = m.node('MatMul', [q, k])
    else:
        scores = m.node(m.one_of('Mul', 'Div'), [m.node('MatMul', [q, k]), scale])
    if m.chance(0.3):
        mask = np.triu(np.full((length, length), -np.inf if m.chance(0.5) else -1e9, np.float32), 1)
        scores = m.node('Add', [scores, m.const(mask)])
    elif m.chance(0.3):
        seen = np.tril(np.ones((1, 1, length, length), bool)) if m.chance(0.7) else m.array([1, 1, length, length], np.bool_)
        scores = m.node('Where', [m.const(seen), scores, m.const(-np.inf if m.chance(0.5) else -1e9, np.float32)])
    weights = m.node('Softmax', [scores], axis=m.one_of(-1, 3))
    if m.chance(0.3):
        weights = m.node('Where', [m.node('IsNaN', [weights]), m.const(0.0, np.float32), weights])
    y = m.node('Transpose', [m.node('MatMul', [weights, v])], perm=[0, 2, 1, 3])
    return m.node('Reshape', [y, m.ints([0, 0, -1] if m.chance(0.5) else [batch, length, width])])


@idiom
def shuffles(m):
    """Channel shuffles, patches and windows: Reshape, Transpose, Reshape; rolls: Slices and a Concat."""
    n, c, h, w = m.one_of(1, 2), 2 * m.r.randint(1, 3), 2 * m.r.randint(1, 3), 2 * m.r.randint(1, 2)
    y = m.input(m.array([n, c, h, w]))
    for _ in range(m.r.randint(1, 3)):
        n, c, h, w = m.value(y).shape
        k = m.r.randint(0, 3)
        if k == 0 and c % 2 == 0:
            y = m.node('Reshape', [y, m.ints([n, 2, c // 2, h, w])])
            y = m.node('Transpose', [y], perm=[0, 2, 1, 3, 4])
            y = m.node('Reshape', [y, m.ints([n, -1, h, w])])
        elif k == 1 and h % 2 == 0 and w % 2 == 0:
            y = m.node('Reshape', [y, m.ints([n, c, h // 2, 2, w // 2, 2])])
            perm = m.one_of([0, 1, 3, 5, 2, 4], [0, 3, 5, 1, 2, 4], [0, 1, 2, 4, 3, 5])
            y = m.node('Transpose', [y], perm=perm)
            y = m.node('Reshape', [y, m.ints([n, -1, h // 2, w // 2])])
        elif k == 2:
            axis = m.r.randint(1, 3)
            d = m.value(y).shape[axis]
            at = m.r.randint(1, d) if d > 1 else 1
            if at == d:
                continue
            a = m.node('Slice', [y, m.ints([at]), m.ints([2**31 - 1]), m.ints([axis])])
            b = m.node('Slice', [y, m.ints([0]), m.ints([at]), m.ints([axis])])
            y = m.node('Concat', [a, b], axis=axis)
        else:
            y = m.node('Add', [y, m.const(m.array([c, 1, 1]))])
    return y


@idiom
def blocks_of_networks(m):
    """A residual sum, an inverted bottleneck, squeeze and excitation, a decoder's upsampling with a skip, a detector's head."""
    c, h, w = m.r.randint(1, 3), 2 * m.r.randint(1, 3), 2 * m.r.randint(1, 3)
    x = m.input(m.array([m.one_of(1, 2), c, h, w]))

    def conv(y, channels, kernel=1, group=1, stride=1):
        inputs = [y, m.const(m.array([channels, m.value(y).shape[1] // group, kernel, kernel], like='small'))]
        if m.chance(0.5):
            inputs.append(m.const(m.array([channels], like='small')))
        y = m.node('Conv', inputs, group=group if group > 1 else None, pads=[kernel // 2] * 4 if kernel > 1 else None,
                   strides=[stride, stride] if stride > 1 else None)
        return batch_norm(m, y) if m.chance(0.4) else y

    k = m.r.randint(0, 4)
    if k == 0:
        y = conv(m.node('Relu', [conv(x, 2, 3)]), c, 3)
        return m.node('Relu', [m.node('Add', [y, x] if m.chance(0.5) else [x, y])])
    if k == 1:
        y = conv(x, 2 * c)
        y = m.node('Clip', [y, m.const(0.0, np.float32), m.const(6.0, np.float32)])
        y = conv(conv(y, 2 * c, 3, 2 * c), c)
        return m.node('Add', [x, y])
    if k == 2:
        s = m.node('GlobalAveragePool', [x]) if m.chance(0.5) else reduced(m, 'ReduceMean', x, [2, 3])
        s = m.node(m.one_of('Sigmoid', 'HardSigmoid'), [conv(m.node('Relu', [conv(s, 2)]), c)])
        return m.node('Mul', [x, s] if m.chance(0.5) else [s, x])
    if k == 3:
        low = m.node('MaxPool', [x], kernel_shape=[2, 2], strides=[2, 2])
        low = conv(low, 2)
        up = m.node('Resize', [low, '', m.const([1, 1, 2, 2], np.float32)], mode='nearest', coordinate_transformation_mode='asymmetric',
                    nearest_mode='floor') if m.opset >= 13 else m.node('ConvTranspose', [low, m.const(m.array([2, 2, 2, 2]))], strides=[2, 2])
        return conv(m.node('Concat', [up, x], axis=1), 2, 3)
    y = m.node('Transpose', [m.node('Reshape', [conv(x, 6), m.ints([0, 6, -1])])], perm=[0, 2, 1])
    parts = m.node('Split', [y, m.ints([2, 2, 2])] if m.opset >= 13 else [y], 3, axis=-1, split=None if m.opset >= 13 else [2, 2, 2])
    grid = m.const(m.array([1, h * w, 2]))
    xy = m.node('Add', [m.node('Mul', [m.node('Sigmoid', [parts[0]]), m.const(2.0, np.float32)]), grid])
    wh = m.node('Mul', [m.node('Exp', [parts[1]]), m.const(m.array([2], like='positive'))])
    return m.node('Concat', [xy, wh, m.node('Softmax', [parts[2]], axis=2)], axis=-1)


@idiom
def quantised_weights(m):
    """Weights stored as integers, as converters of large networks do."""
    m.opset = max(m.opset, 13)
    s = m.one_of([2, 3], [1, 3, 4, 4], [2, 2, 3])
    x = m.input(m.array(s))
    of = [m.r.randint(1, 4), s[1], 2, 2] if len(s) == 4 else [s[-1], m.r.randint(1, 4)]
    kind = m.r.choice(elementwise.quantised_types(m))
    inputs, stated = elementwise.quantised(m, m.const(m.array(of, kind)), of, kind)
    w = m.node('DequantizeLinear', inputs, **stated)
    if len(s) < 4:
        return scaled(m, m.node('MatMul', [x, w]), list(s[:-1]) + [of[1]]) if m.chance(0.5) else m.node('MatMul', [x, w])
    inputs = [x, w]
    if m.chance(0.5):
        bias, scale = m.array([of[0]], np.int32), m.const(m.array([of[0]], like='positive'))
        inputs.append(m.node('DequantizeLinear', [m.const(bias), scale], axis=0))
    y = m.node('Conv', inputs)
    return batch_norm(m, y) if m.chance(0.4) else y
