"""What the generators of operators (operators_*.py) see: a model under construction, made of random numbers of one seed."""
import math
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import oracle

FIRST_OPSET, LAST_OPSET = 7, min(28, onnx.defs.onnx_opset_version())
OPSETS = list(range(FIRST_OPSET, LAST_OPSET + 1))
TYPES = {'tensor(float)': np.float32, 'tensor(double)': np.float64, 'tensor(int64)': np.int64, 'tensor(int32)': np.int32,
         'tensor(uint8)': np.uint8, 'tensor(int8)': np.int8, 'tensor(bool)': np.bool_, 'tensor(int16)': np.int16,
         'tensor(uint16)': np.uint16, 'tensor(uint32)': np.uint32, 'tensor(uint64)': np.uint64}


try:
    import ml_dtypes
    NIBBLES = [ml_dtypes.int4, ml_dtypes.uint4]
except ImportError:
    NIBBLES = []


class Unfit(Exception):
    """The operator cannot be applied here: make another one."""


def schema(op, opset):
    try:
        return onnx.defs.get_schema(op, opset)
    except onnx.defs.SchemaError:
        return None


class Maker:
    """`constants`: all data are constants, so the converter computes the results itself."""

    def __init__(self, seed, opset=None, constants=False):
        self.r = random.Random(seed)
        self.opset = opset or self.r.choice(OPSETS)
        self.constants = constants
        self.nodes, self.initializers, self.inputs = [], [], []
        self.known = {}  # values of inputs and constants
        self.made = {}  # values of results, by evaluate()
        self.current = None  # the activation that the next operator reads, if it can
        self.names = 0
        self.special = False  # whether data may have NaN, infinities and numbers near float32's limits

    # -- numbers ------------------------------------------------------------------------------------------------------
    def chance(self, p):
        return self.r.random() < p

    def flag(self):
        return self.r.randint(0, 1)

    def one_of(self, *values):
        return self.r.choice(values)

    def name(self, kind):
        self.names += 1
        return f'{kind}{self.names}'

    def shape(self, least=0, most=None, total=200):
        """Small extents, of constants a few of 0, with at most `total` elements. Without `most`, up to 4 axes, rarely 7."""
        most = most or (7 if self.chance(0.04) else 4)
        rank = self.r.randint(least, most)
        none = 0.02 if self.constants else 0
        out = [0 if self.chance(none) else self.r.choice([1, 1, 2, 2, 3, 3, 4, 5, 6, 7]) for _ in range(rank)]
        while math.prod(out) > total:
            out[out.index(max(out))] //= 2
        return out

    def array(self, shape, dtype=np.float32, like='any'):
        """Short numbers: multiples of 1/16; all different if they are few; sometimes special ones."""
        count = math.prod(shape)
        dtype = np.dtype(dtype)
        if dtype == np.bool_:
            return np.array([self.flag() for _ in range(count)], np.bool_).reshape(shape)
        if dtype in NIBBLES:
            return np.array([self.r.randint(0, 7) for _ in range(count)]).reshape(shape).astype(dtype)
        if dtype.kind in 'iu':
            limits = np.iinfo(dtype)
            span = (max(limits.min, -9), 9)
            out = [self.r.randint(*span) for _ in range(count)]
            if self.chance(0.15):
                big = [limits.min, limits.max, 2**24 + 1, -2**24 - 1, 2**31 - 1, -2**31, 2**53 + 1, -2**40 - 3, 255, -128]
                big = [v for v in big if limits.min <= v <= limits.max]
                out = [self.r.choice(big) if self.chance(0.3) else v for v in out]
            return np.array(out, dtype).reshape(shape)
        wide = 16 * 4 if count <= 64 or self.chance(0.5) else 16 * 12
        out = [self.r.randint(-wide, wide) / 16 for _ in range(count)]
        if like == 'positive':
            out = [abs(v) + 1 / 16 for v in out]
        elif like == 'small':
            out = [v / 4 for v in out]
        elif self.special and self.chance(0.15):
            special = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e30, -1e30, 1e-30, 16777217.0, 0.5, -0.5, 2.5]
            out = [self.r.choice(special) if self.chance(0.25) else v for v in out]
        elif self.chance(0.05):
            out = [0.0 if self.chance(0.7) else v for v in out]
        return np.array(out, dtype).reshape(shape)

    # -- tensors ------------------------------------------------------------------------------------------------------
    def input(self, array):
        name = self.name('x')
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        self.known[name] = array
        return name

    def const(self, array, dtype=None):
        """A constant: an initializer, a Constant, or sometimes what a node makes of one."""
        array = np.array(array, dtype)
        name = self.name('c')
        self.known[name] = array
        if self.chance(0.75):
            self.initializers.append(numpy_helper.from_array(array, name))
        elif self.opset >= 12 and array.ndim == 1 and array.size and array.dtype == np.int64 and self.chance(0.4):
            self.nodes.append(helper.make_node('Constant', [], [name], value_ints=[int(v) for v in array]))
        elif self.opset >= 12 and array.ndim == 0 and array.dtype in (np.int64, np.float32) and self.chance(0.5):
            kind, value = ('value_int', int(array)) if array.dtype == np.int64 else ('value_float', float(array))
            self.nodes.append(helper.make_node('Constant', [], [name], **{kind: value}))
        elif array.dtype == np.int64 and array.size and self.chance(0.3) and np.all(np.abs(array) < 2**24):
            before = self.name('c')
            self.initializers.append(numpy_helper.from_array(array.astype(np.int32), before))
            self.nodes.append(helper.make_node('Cast', [before], [name], to=TensorProto.INT64))
        else:
            self.nodes.append(helper.make_node('Constant', [], [name], value=numpy_helper.from_array(array)))
        return name

    def number(self, value, rank, dtype=np.float32):
        """A constant of one element, beside a tensor of this rank: with fewer axes, as many, or rarely more."""
        axes = self.one_of(0, 0, 0, 1, rank) if self.chance(0.95) else rank + 1
        return self.const(np.full([1] * axes, value), dtype)

    def ints(self, values):
        return self.const(list(values), np.int64)

    def type_for(self, op, index=0):
        """A type that input `index` of the operator can have, of constants mostly float32."""
        s = schema(op, self.opset)
        if not self.constants or self.chance(0.4) or s is None or index >= len(s.inputs):
            return np.float32
        legal = [t for t in TYPES if t in s.inputs[index].types]
        return TYPES[self.r.choice(legal)] if legal else np.float32

    def data(self, shape=None, dtype=None, like='any', least=0, most=None):
        """An operand: the current activation if it fits (shape None), else a new input; a constant if all are."""
        if shape is None and self.current is not None:
            value = self.value(self.current)
            if not least <= value.ndim <= (most or 6) or value.size > 4000:
                raise Unfit
            return self.current, list(value.shape)
        shape = list(self.shape(least, most) if shape is None else shape)
        array = self.array(shape, dtype or np.float32, like)
        if self.constants:
            return self.const(array), shape
        if dtype is not None and np.dtype(dtype) != np.float32:
            if self.chance(0.5):
                return self.cast(self.input(array.astype(np.float32)), dtype), shape
            exact = np.abs(array.astype(np.float64)) < 2**24
            return self.input(np.where(exact, array, array.dtype.type(1))), shape
        if 0 in shape:
            return self.const(array), shape
        return self.input(array), shape

    def mask(self, shape):
        """Bools: constants, or what is known only at run time."""
        kind = 0 if self.constants else self.r.randint(0, 5)
        if kind == 0:
            return self.const(self.array(shape, np.bool_))
        if kind == 1:
            return self.input(self.array(shape, np.bool_))
        if kind == 2:
            return self.cast(self.data(shape)[0], np.bool_)
        if kind == 3:
            return self.node('Not', [self.mask(shape)])
        return self.node(self.one_of('Greater', 'Less'), [self.data(shape)[0], self.const(0.25, np.float32)])

    def cast(self, name, dtype):
        return self.node('Cast', [name], to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def movable(self, op, **ranks):
        """An operand of an operator that moves elements: sometimes integers or bools."""
        if self.current is None and not self.constants and self.chance(0.12):
            kind = self.r.choice(['int64', 'int32', 'uint8', 'bool'])
            if f'tensor({kind})' in schema(op, self.opset).inputs[0].types:
                return self.data(dtype=np.dtype(kind), **ranks)
        return self.data(dtype=self.type_for(op) if self.constants else None, **ranks)

    def other(self, shape, dtype=None, like='any', p_constant=0.5):
        """A second operand: a constant, a new input, or an earlier result."""
        dtype = np.dtype(dtype or np.float32)
        if dtype == np.bool_ and not self.constants:
            return self.mask(shape)
        if self.constants or dtype != np.float32 or self.chance(p_constant):
            return self.const(self.array(shape, dtype, like))
        same = [n for n, v in self.made.items() if list(v.shape) == list(shape) and v.dtype == np.float32]
        if same and self.chance(0.7):
            return self.r.choice(same)
        return self.data(list(shape), like=like)[0]

    def broadcastable(self, shape):
        """A shape that can be broadcast with `shape`; sometimes it is the one that is larger."""
        out = [1 if self.chance(0.3) else d for d in shape]
        if out and self.chance(0.3):
            out = out[self.r.randint(0, len(out)):]
        elif len(shape) < 4 and math.prod(shape) < 60 and self.chance(0.15):
            out = [self.r.randint(1, 3)] + out
        out = [self.r.randint(2, 4) if d == 1 and math.prod(out) < 60 and self.chance(0.1) else d for d in out]
        if self.chance(0.01):
            out = [d + 1 for d in out]  # does not fit
        return out

    def axis(self, rank, cut=False):
        """An axis, from opset 11 on also from the end, rarely out of range."""
        if self.chance(0.015):
            return self.one_of(rank + cut, -rank - 1)
        return self.r.randint(-rank if self.opset >= 11 else 0, rank - 1 + cut) if rank + cut > 0 else 0

    def axes(self, rank, least=0):
        """Some axes, in any order, rarely one twice."""
        count = self.r.randint(min(least, rank), rank)
        negative = 0.35 if self.opset >= 11 else 0
        out = [a - rank if self.chance(negative) else a for a in self.r.sample(range(rank), count)]
        if self.chance(0.5):
            out.sort()
        if out and self.chance(0.01):
            out.append(out[0])
        if self.chance(0.01):
            out.append(self.one_of(rank, -rank - 1))
        return out

    # -- nodes --------------------------------------------------------------------------------------------------------
    def node(self, op, inputs, outputs=1, **attributes):
        """Adds a node; attributes that the opset does not have are left out, but for a few. The name of its output, or
        all."""
        s = schema(op, self.opset)
        if s is None or s.deprecated:
            raise Unfit
        stated = {k: v for k, v in attributes.items() if v is not None and (k in s.attributes or self.chance(0.004))}
        names = [self.name('y') for _ in range(outputs)] if isinstance(outputs, int) else outputs
        inputs = list(inputs)
        while inputs and inputs[-1] == '' and self.chance(0.5):
            inputs.pop()
        made = helper.make_node(op, inputs, names)
        for k, v in stated.items():
            if isinstance(v, (list, tuple)) and not v:
                made.attribute.append(onnx.AttributeProto(name=k, type=onnx.AttributeProto.INTS))
            else:
                made.attribute.append(helper.make_attribute(k, v))
        self.nodes.append(made)
        return names[0] if len(names) == 1 else names

    def graph(self, inputs, make):
        """A graph inside a node: `inputs` are its own, as (name, type), scalars if they are no reals, and `make` adds its
        nodes and gives its outputs, as (name, type)."""
        info = lambda name, kind: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)),
                                                                None if kind == np.float32 else [])
        outside = self.nodes, self.initializers
        self.nodes, self.initializers = [], []
        try:
            outputs = make()
            return helper.make_graph(self.nodes, self.name('g'), [info(n, a) for n, a in inputs], [info(n, t) for n, t in outputs],
                                     self.initializers)
        finally:
            self.nodes, self.initializers = outside

    def attribute(self, p, value):
        """`value`, or None: the attribute is left out."""
        return value if self.chance(p) else None

    # -- models -------------------------------------------------------------------------------------------------------
    def model(self, outputs):
        infos = []
        for name in outputs:
            info = onnx.ValueInfoProto(name=name)
            v = self.made.get(name)
            if v is not None:  # else the oracle infers it
                info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(v.dtype)
            infos.append(info)
        graph = helper.make_graph(self.nodes, 'g', self.inputs, infos, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', self.opset)], ir_version=ir_of(self.opset))

    def feeds(self):
        return {i.name: self.known[i.name] for i in self.inputs}

    def value(self, name):
        """The value of a tensor, computed by an oracle. Throws Unfit if none can."""
        if name in self.known:
            return self.known[name]
        if name not in self.made:
            answers = oracle.answers(self.model([name]), self.feeds(), all_of_them=False)
            found = next((a for a in answers if a.values is not None), None)
            if found is None or not isinstance(found.values[0], np.ndarray):
                raise Unfit
            self.made[name] = found.values[0]
        return self.made[name]


def ir_of(opset):
    """The IR version of the ONNX that introduced the opset; at least 4, in which initializers need not be inputs."""
    return max(4, next(row[1] for row in helper.VERSION_TABLE if row[2] >= opset))
