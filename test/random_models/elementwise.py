"""Generators of functions of elements, reductions and normalizations: {operator: (weight, generator)}.

A generator adds its nodes to a Maker and returns the name of the result, or throws Unfit."""
import math

import numpy as np

from maker import NIBBLES, Unfit

OPERATORS = {}
# Operators whose results at NaN, infinities and large numbers ONNX defines; in others, oracles differ there.
SPECIAL = set()


def makes(*names, weight=1, special=False):
    def add(generator):
        SPECIAL.update(names if special else ())
        for name in names:
            OPERATORS[name] = (weight, lambda m, name=name: generator(m, name))
        return generator
    return add


@makes('Abs', 'Ceil', 'Erf', 'Exp', 'Floor', 'HardSwish', 'Identity', 'IsNaN', 'Mish', 'Neg', 'Reciprocal', 'Relu', 'Round',
       'Sigmoid', 'Sign', 'Softplus', 'Softsign', 'Tanh', special=True)
def unary(m, op):
    return m.node(op, [m.data(dtype=m.type_for(op) if m.constants else None)[0]])


@makes('Log', 'Sqrt', special=True)
def unary_of_positive(m, op):
    if m.current is not None:
        return m.node(op, [m.node('Abs', [m.data()[0]])])
    return m.node(op, [m.data(like=m.one_of('positive', 'positive', 'any'))[0]])


@makes('Acos', 'Asin', 'Atan', 'Cos', 'Cosh', 'Sin', 'Sinh', 'Tan', weight=0.4)
def of_constants(m, op):
    m.constants = True
    return m.node(op, [m.data(like='small' if op in ('Acos', 'Asin') else 'any')[0]])


@makes('Elu', 'Celu', 'LeakyRelu', 'ThresholdedRelu', 'Swish')
def with_alpha(m, op):
    alpha = m.attribute(0.7, m.one_of(0.25, 0.5, 1.5, 2.0, 0.01, -0.5, 1.702))
    return m.node(op, [m.data()[0]], alpha=alpha)


@makes('Selu')
def selu(m, op):
    return m.node(op, [m.data()[0]], alpha=m.attribute(0.5, m.r.uniform(0.5, 2)), gamma=m.attribute(0.5, m.r.uniform(0.5, 2)))


@makes('HardSigmoid')
def hard_sigmoid(m, op):
    return m.node(op, [m.data()[0]], alpha=m.attribute(0.6, m.one_of(1 / 6, 0.3, 1.0)), beta=m.attribute(0.6, m.one_of(0.5, 0.1, 0.0)))


@makes('Gelu')
def gelu(m, op):
    return m.node(op, [m.data()[0]], approximate=m.attribute(0.7, m.one_of('none', 'tanh')))


@makes('Dropout')
def dropout(m, op):
    x = m.data()[0]
    if m.opset < 12:
        return m.node(op, [x], ratio=m.attribute(0.5, 0.3))
    inputs = [x]
    if m.chance(0.5):
        inputs.append(m.const(0.25, np.float32) if m.chance(0.7) else '')
        if m.chance(0.5):
            inputs.append(m.const(False, np.bool_))
    return m.node(op, inputs, seed=m.attribute(0.2, 3))


@makes('Clip', weight=2, special=True)
def clip(m, op):
    kind = m.type_for(op) if m.constants else np.float32
    x, _ = m.data(dtype=kind)
    low, high = sorted(m.r.sample(range(-4, 8), 2))
    if m.chance(0.06):
        low, high = high, low
    if m.opset < 11:
        return m.node(op, [x], min=m.attribute(0.7, float(low)), max=m.attribute(0.7, float(high)))
    if np.dtype(kind).kind == 'u':
        low, high = abs(low), abs(high)
    bounds = [m.const(v, kind) if m.chance(0.7) else '' for v in (low, high)]
    return m.node(op, [x, *bounds])


@makes('Cast', weight=2, special=True)
def cast(m, op):
    if m.constants:
        kind = m.one_of(np.float32, np.float64, np.float16, np.int64, np.int32, np.uint8, np.int8, np.bool_, np.int16)
        m.special = np.dtype(kind).kind == 'f'  # ONNX leaves open what does not fit
        x, _ = m.data(dtype=m.type_for(op) if kind != np.uint8 else np.int32)
        return m.cast(x, kind)
    kind = m.one_of(np.int64, np.int32, np.float32, np.float64, np.bool_, np.int8, np.uint8)
    m.special = False  # ONNX leaves open what does not fit
    if m.current is None and m.chance(0.35):
        x = m.data(dtype=m.one_of(np.uint8, np.int8, np.uint16, np.int16, np.int32, np.int64, np.bool_))[0]
        return m.cast(x, m.one_of(np.float32, np.float32, np.float64, np.int64, np.bool_))
    x = m.data()[0]
    if kind == np.uint8:
        x = m.node('Abs', [x])
    x = m.cast(x, kind)
    for _ in range(m.one_of(0, 0, 1, 2)):
        x = m.cast(x, m.one_of(np.int64, np.int32, np.float32, np.float64))
    return x


@makes('CastLike')
def cast_like(m, op):
    x, s = m.data(dtype=m.type_for(op) if m.constants else None)
    like = m.one_of(np.float32, np.float64, np.int64, np.int32)
    return m.node(op, [x, m.const(m.array([1], like))])


def quantised(m, x, s, kind):
    """What QuantizeLinear and DequantizeLinear read besides x, and their attributes: for all elements, along an axis, or for
    each block of it."""
    a, block = m.r.randrange(len(s)), m.r.randint(1, 3)
    forms = {'all': m.one_of([], [1]) if m.opset >= 13 else []}
    if m.opset >= 13:
        forms['axis'] = [s[a]]
    if m.opset >= 21:
        forms['blocks'] = [-(-d // block) if k == a else d for k, d in enumerate(s)]
    form = m.r.choice(sorted(forms))
    inputs = [x, m.const(m.array(forms[form], like='positive'))]
    if kind is not np.uint8 or m.chance(0.5):
        zero = np.zeros(forms[form], kind) if kind == np.int32 or m.chance(0.2) else m.array(forms[form], kind)
        inputs.append(m.const(zero))
    axis = a - len(s) if m.chance(0.3) else a
    return inputs, {'axis': axis if form != 'all' else m.attribute(0.1, 0), 'block_size': block if form == 'blocks' else None}


def quantised_types(m, *others):
    return [np.int8, np.uint8, *others] + ([np.int16, np.uint16, *NIBBLES] if m.opset >= 21 else [])


@makes('DequantizeLinear', 'QuantizeLinear', weight=3)
def quantise(m, op):
    m.constants = True
    s = m.shape(1)
    if 0 in s:
        raise Unfit
    if op == 'QuantizeLinear':
        inputs, stated = quantised(m, m.data(s)[0], s, m.r.choice(quantised_types(m)))
        return m.node(op, inputs, **stated)
    kind = m.r.choice(quantised_types(m, np.int32))
    inputs, stated = quantised(m, m.data(s, kind)[0], s, kind)
    return m.node(op, inputs, **stated)


# -- two operands -----------------------------------------------------------------------------------------------------
def pair(m, op, like='any', of=None):
    kind = (m.type_for(op) if m.constants else None) if of is None else of
    x, s = m.data(dtype=kind)
    other = m.other(m.broadcastable(s), kind, like)
    return [x, other] if m.chance(0.6) else [other, x]


@makes('Add', 'Sub', 'Mul', special=True)
def arithmetic(m, op):
    return m.node(op, pair(m, op))


@makes('Div')
def division(m, op):
    kind = m.type_for(op) if m.constants else np.float32
    x, s = m.data(dtype=kind)
    by = m.array(m.broadcastable(s), kind)
    if np.dtype(kind).kind in 'iu':
        by[by == 0] = 3
    if m.constants or m.chance(0.5):
        return m.node(op, [x, m.const(by)])
    return m.node(op, [x, m.input(by + (by == 0))])


@makes('Mod', weight=1)
def modulo(m, op):
    m.constants = True
    kind = m.one_of(np.int64, np.int32, np.float32, np.float64, np.uint8, np.int8)
    x, s = m.data(dtype=kind)
    by = m.array(m.broadcastable(s), kind)
    by[by == 0] = 3
    fmod = 1 if np.dtype(kind).kind == 'f' else m.attribute(0.6, m.flag())
    return m.node(op, [x, m.const(by)], fmod=fmod)


@makes('Pow', weight=2)
def pow_(m, op):
    kind = m.type_for(op) if m.constants else np.float32
    x, s = m.data(dtype=kind, like=m.one_of('positive', 'any'))
    if np.dtype(kind).kind in 'iu':
        exponent = m.const(np.abs(m.array(m.broadcastable(s), kind)) % 4)
    elif m.chance(0.6):
        kind = np.float32 if m.chance(0.8) or m.opset < 12 else np.float64
        exponent = m.number(m.one_of(2, 3, 0.5, -1, 1, 0, -2, 1.5), len(s), kind)
    else:
        exponent = m.other(m.broadcastable(s))
    if m.opset >= 12 and m.chance(0.1):
        exponent = m.ints([m.one_of(0, 1, 2, 3)])
    return m.node(op, [x, exponent])


@makes('Max', 'Min', 'Sum', 'Mean', special=True)
def variadic(m, op):
    kind = m.type_for(op) if m.constants else None
    x, s = m.data(dtype=kind)
    operands = [x] + [m.other(m.broadcastable(s) if m.opset >= 8 else s, kind) for _ in range(m.one_of(0, 1, 1, 2, 3))]
    m.r.shuffle(operands)
    return m.node(op, operands)


@makes('Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', weight=1.5, special=True)
def comparison(m, op):
    y = m.node(op, pair(m, op))
    return m.cast(y, np.float32) if m.chance(0.5) else y


@makes('And', 'Or', 'Xor', 'Not', weight=0.7, special=True)
def logic(m, op):
    s = m.shape()
    operands = [m.mask(s)] + ([] if op == 'Not' else [m.mask(m.broadcastable(s))])
    m.r.shuffle(operands)
    y = m.node(op, operands)
    if m.inputs and m.chance(0.5):
        return m.cast(y, m.one_of(np.float32, np.int64))
    m.constants = not m.inputs
    return y


@makes('Where', weight=2, special=True)
def where(m, op):
    kind = m.type_for(op, 1) if m.constants else np.float32
    x, s = m.data(dtype=kind)
    condition = m.mask(m.broadcastable(s)) if m.chance(0.5) else m.const(m.array(m.broadcastable(s), np.bool_))
    if not m.constants and m.chance(0.1):
        return m.node(op, [m.node('IsNaN', [x]), m.const(0.5, np.float32), x])
    operands = [x, m.other(m.broadcastable(s), kind)]
    m.r.shuffle(operands)
    return m.node(op, [condition, *operands])


@makes('PRelu')
def p_relu(m, op):
    x, s = m.data(least=1)
    slope = m.one_of([1] * len(s), [], [s[-1]], s, [s[1]] + [1] * (len(s) - 2) if len(s) > 1 else [1])
    return m.node(op, [x, m.other(slope, p_constant=0.8)])


@makes('SwiGLU')
def swiglu(m, op):
    x, s = m.data(least=1)
    return m.node(op, [x, m.other(s, p_constant=0.1)], alpha=m.attribute(0.5, 1.5))


@makes('Trilu', weight=2, special=True)
def trilu(m, op):
    x, s = m.movable(op, least=2)
    inputs = [x]
    if m.chance(0.6):
        inputs.append(m.const(m.r.randint(-6, 6), np.int64) if m.chance(0.8) else '')
    return m.node(op, inputs, upper=m.attribute(0.7, m.flag()))


# -- reductions -------------------------------------------------------------------------------------------------------
REDUCTIONS = ['ReduceL1', 'ReduceL2', 'ReduceLogSum', 'ReduceLogSumExp', 'ReduceMax', 'ReduceMean', 'ReduceMin', 'ReduceProd',
              'ReduceSum', 'ReduceSumSquare']
SPECIAL.update(['ReduceLogSumExp', 'ReduceMax', 'ReduceMin'])


@makes(*REDUCTIONS, weight=1.5)
def reduction(m, op):
    like = 'positive' if op == 'ReduceLogSum' else 'any'
    x, s = m.data(dtype=m.type_for(op) if m.constants else None, like=like, most=5)
    axes = None if m.chance(0.2) else [] if m.chance(0.15) else m.axes(len(s), least=1)
    stated = {'keepdims': m.attribute(0.7, m.flag()), 'noop_with_empty_axes': m.attribute(0.25, m.flag())}
    if m.opset < (13 if op == 'ReduceSum' else 18):
        return m.node(op, [x], axes=axes, **stated)
    inputs = [x]
    if axes is not None:
        inputs.append(m.ints(axes))
    elif m.chance(0.3):
        inputs.append('')
    return m.node(op, inputs, **stated)


@makes('CumSum', weight=2)
def cum_sum(m, op):
    x, s = m.data(dtype=m.type_for(op) if m.constants else None, least=1)
    axis = m.axis(len(s))
    return m.node(op, [x, m.const(m.one_of(axis, [axis]), m.one_of(np.int64, np.int32))], exclusive=m.attribute(0.5, m.flag()),
                  reverse=m.attribute(0.5, m.flag()))


@makes('ArgMax', 'ArgMin')
def arg(m, op):
    x, s = m.data(least=1)
    if m.current is None and not m.constants and m.chance(0.4):  # with ties
        x = m.node('Floor', [x])
    return m.node(op, [x], axis=m.attribute(0.8, m.axis(len(s))), keepdims=m.attribute(0.6, m.flag()),
                  select_last_index=m.attribute(0.5, m.flag()))


# -- normalizations ---------------------------------------------------------------------------------------------------
@makes('Softmax', 'LogSoftmax', weight=2)
def softmax(m, op):
    x, s = m.data(least=1, most=5)
    return m.node(op, [x], axis=m.attribute(0.7, m.axis(len(s))))


@makes('LpNormalization')
def lp_normalization(m, op):
    x, s = m.data(least=1)
    return m.node(op, [x], axis=m.attribute(0.7, m.axis(len(s))), p=m.attribute(0.7, m.one_of(1, 2)))


@makes('LRN')
def lrn(m, op):
    x, s = m.data(least=4, most=4)
    return m.node(op, [x], size=m.one_of(1, 3, 5, 7, 2), alpha=m.attribute(0.5, 0.5), beta=m.attribute(0.5, 0.25),
                  bias=m.attribute(0.5, 2.0))


@makes('MeanVarianceNormalization')
def mean_variance(m, op):
    x, s = m.data(least=1)
    axes = m.attribute(0.6, m.axes(len(s), least=1))
    if axes is None and len(s) != 4:
        raise Unfit
    return m.node(op, [x], axes=axes)


@makes('BatchNormalization', weight=2)
def batch_normalization(m, op):
    x, s = m.data(least=2, most=5)
    spatial = 0 if m.opset < 9 and m.chance(0.5) else None
    of = s[1:] if spatial == 0 else [s[1]]
    statistics = [m.const(m.array(of)) for _ in range(3)] + [m.const(m.array(of, like='positive'))]
    return m.node(op, [x, *statistics], epsilon=m.attribute(0.5, m.one_of(0.5, 1e-3)), momentum=m.attribute(0.2, 0.8),
                  spatial=spatial, training_mode=m.attribute(0.2, 0))


@makes('InstanceNormalization')
def instance_normalization(m, op):
    x, s = m.data(least=3, most=4)
    return m.node(op, [x, m.const(m.array([s[1]])), m.const(m.array([s[1]]))], epsilon=m.attribute(0.5, 0.5))


@makes('GroupNormalization', weight=2)
def group_normalization(m, op):
    groups = m.one_of(1, 2, 3)
    if m.current is None:
        shape = m.shape(2, 4)
        shape[1] = groups * m.one_of(1, 2, 3)
        x, s = m.data(shape)
    else:
        x, s = m.data(least=2)
        if s[1] % groups:
            raise Unfit
    of = groups if m.opset < 21 else s[1]
    return m.node(op, [x, m.const(m.array([of])), m.const(m.array([of]))], num_groups=groups, epsilon=m.attribute(0.5, 0.5),
                  stash_type=m.attribute(0.2, 1))


@makes('LayerNormalization', 'RMSNormalization', weight=2)
def layer_normalization(m, op):
    x, s = m.data(least=1)
    axis = m.axis(len(s))
    at = axis if axis >= 0 else axis + len(s)
    of = m.broadcastable(s[at:]) if m.chance(0.3) else s[max(0, at):]
    if math.prod(of) > math.prod(s) or len(of) > len(s):
        raise Unfit
    inputs = [x, m.other(of, p_constant=0.8)]
    if op == 'LayerNormalization' and m.chance(0.6):
        inputs.append(m.other(s[at:], p_constant=0.8) if m.chance(0.9) else '')
    return m.node(op, inputs, axis=axis if axis != -1 else m.attribute(0.5, -1), epsilon=m.attribute(0.5, 0.5),
                  stash_type=m.attribute(0.2, 1))
