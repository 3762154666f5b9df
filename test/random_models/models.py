"""Random models: make(seed) gives an operator with odd attributes, the same on constants, a chain of operators, or a variation
of what exporters write as several operators."""
from dataclasses import dataclass

import numpy as np

import arrangements  # noqa: F401, the generators register themselves
import control_flow  # noqa: F401
import idioms
import windows  # noqa: F401
from elementwise import OPERATORS, SPECIAL
from maker import Maker, OPSETS, Unfit, schema

FAMILIES = {'operator': 45, 'constants': 18, 'chain': 17, 'idiom': 20}
# Whose results jump: in a chain, rounding would decide.
JUMPS = {'Ceil', 'Floor', 'Round', 'Sign', 'Cast', 'CastLike', 'Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', 'ArgMax',
         'ArgMin', 'IsNaN', 'Mod', 'Reciprocal', 'ThresholdedRelu'}
NO_CHAIN = {'Constant', 'ConstantOfShape', 'Range', 'Attention', 'SequenceLength', 'Size', 'Shape', 'Einsum', 'DequantizeLinear', 'QuantizeLinear', 'Not', 'And',
            'Or', 'Xor', 'Acos', 'Asin', 'Atan', 'Cos', 'Cosh', 'Sin', 'Sinh', 'Tan'} | JUMPS


@dataclass
class Case:
    seed: int
    family: str
    what: str  # operators, or the idiom's name
    model: object  # onnx.ModelProto
    feeds: dict


def draw(r, names):
    return r.choices(names, [OPERATORS[n][0] for n in names])[0]


def opset_for(op, r):
    fitting = [v for v in OPSETS if (s := schema(op, v)) is not None and not s.deprecated]
    if not fitting:
        raise Unfit
    if r.random() < 0.5:  # one form of the operator is as likely as another
        form = r.choice(sorted({schema(op, v).since_version for v in fitting}))
        fitting = [v for v in fitting if schema(op, v).since_version == form]
    return r.choice(fitting)


def seen_through_an_input(m, c):
    """The constant `c` added to an input, since outputs cannot be constants; of one without elements, its shape."""
    value = m.value(c)
    if not isinstance(value, np.ndarray) or value.ndim > 8:
        raise Unfit
    if value.size == 0:
        c, value = m.node('Shape', [c]), np.array(value.shape)
    if value.dtype == np.int64 and m.opset >= 10 and m.chance(0.4):  # float32 has only the first bits of large ones
        c = m.node('Mod', [c, m.const(65521, np.int64)])
    m.constants = m.special = False
    x = m.input(m.array(list(value.shape)))
    return m.node('Add', [x, c if value.dtype == np.float32 else m.cast(c, np.float32)])


def one_operator(seed, constants):
    m = Maker(f'{seed}', constants=constants)
    op = draw(m.r, sorted(OPERATORS))
    m.opset, m.special = opset_for(op, m.r), op in SPECIAL
    y = OPERATORS[op][1](m)
    if m.constants:
        y = seen_through_an_input(m, y)
    if not m.inputs:
        raise Unfit
    return m, op, y


def chain(seed):
    m = Maker(f'{seed}')
    names = sorted(n for n in OPERATORS if n not in NO_CHAIN)
    favourites = [n for n in ('Transpose', 'Reshape', 'Concat', 'Pad', 'Conv', 'BatchNormalization', 'Mul', 'Add') if n in names]
    wanted, used, first = m.r.randint(2, 6), [], None
    for _ in range(4 * wanted):
        if len(used) == wanted:
            break
        op = m.r.choice(favourites) if m.chance(0.35) else draw(m.r, names)
        if (s := schema(op, m.opset)) is None or s.deprecated:
            continue
        before = len(m.nodes), len(m.initializers), len(m.inputs), dict(m.known), dict(m.made), m.current
        try:
            y = OPERATORS[op][1](m)
            value = m.value(y)
            if not isinstance(value, np.ndarray) or value.dtype != np.float32 or not 0 < value.size < 4000 or value.ndim > 6:
                raise Unfit
            if not np.isfinite(value).all() or np.abs(value).max() > 1e5:
                raise Unfit
        except (Unfit, ValueError, IndexError):
            del m.nodes[before[0]:], m.initializers[before[1]:], m.inputs[before[2]:]
            m.known, m.made, m.current, m.constants = *before[3:], False
            continue
        used.append(op)
        earlier = [n for n in m.made if n != y]
        m.current = m.r.choice(earlier) if earlier and m.chance(0.12) else y
        first = first or y
    if len(used) < 2 or not m.inputs:
        raise Unfit
    outputs = [m.current] + ([n for n in m.made if n != m.current and m.made[n].dtype == np.float32 and m.made[n].size][:1]
                             if m.chance(0.15) else [])
    return m, ' '.join(used), outputs


def make(seed):
    """The Case of a seed; what does not fit is made again with other numbers."""
    for attempt in range(50):
        key = seed if attempt == 0 else f'{seed}/{attempt}'
        m = Maker(f'family {key}')
        family = m.r.choices(list(FAMILIES), list(FAMILIES.values()))[0]
        try:
            if family == 'chain':
                m, what, outputs = chain(key)
            elif family == 'idiom':
                m, what, y = idioms.make(key)
                outputs = [y]
            else:
                m, what, y = one_operator(key, family == 'constants')
                outputs = [y]
            for name in outputs:  # its type, if an oracle knows
                try:
                    m.value(name)
                except Unfit:
                    pass
            return Case(seed, family, what, m.model(outputs), m.feeds())
        except (Unfit, ValueError, IndexError, ZeroDivisionError, OverflowError):
            continue
    raise Unfit(f'seed {seed}: nothing fits')
