"""What other implementations make of a model: ONNX Runtime, and ONNX's reference evaluator."""
import warnings
from dataclasses import dataclass

warnings.filterwarnings('ignore')
try:
    import numpy as np
    from onnx import helper
    from onnx.reference import ReferenceEvaluator
except ImportError:
    ReferenceEvaluator = None
try:
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
except ImportError:
    onnxruntime = None


# Of messages about what an oracle has not.
LACKS = ('NOT_IMPLEMENTED', 'NotImplementedError', 'is under development', 'RuntimeImplementationError', 'No implementation',
         'ScalesValidation', 'exclude_outside can be set', 'anti-aliasing is set', 'does not support specifying axes',
         'size_ % 2 == 1 was false', 'LRN only applies on 4D', 'may be too large for stride', "axes don't match array",
         'Dilation not supported for AutoPadType', 'Scan is not implemented for other', 'block_size must be 0 for per-tensor',
         'Except for dimension', 'Axis must be a rank-0 tensor', 'Unable to find input', 'Issues with types [', '(unary operator',
         'Not implemented for mode', "index can't contain negative values", 'non-broadcastable output operand', "duplicate value in 'axis'",
         'ParseData type mismatch')


@dataclass
class Answer:
    by: str
    values: list = None  # of the outputs
    refusal: str = ''

    @property
    def lacks(self):
        """Whether it lacks the operator or a form of it, which says nothing about the model."""
        return any(w in self.refusal for w in LACKS)


def why_missing():
    """Why there is no oracle; '' if there is one. The models are made with ONNX, too."""
    return '' if ReferenceEvaluator else 'there is no onnx.reference (ONNX 1.13 or newer; onnxruntime is a second oracle)'


def _runtime(model, feeds):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider']).run(None, feeds)


def _reference(model, feeds):
    with np.errstate(all='ignore'):
        return [np.asarray(v) if not isinstance(v, (list, type(None))) else v for v in ReferenceEvaluator(model).run(None, feeds)]


def _attribute(n, name, otherwise):
    found = next((a for a in n.attribute if a.name == name), None)
    return otherwise if found is None else helper.get_attribute_value(found)


def _odd_padding(n):
    """auto_pad = SAME_… with dilations, or with strides that skip elements, for which ONNX's text and TensorFlow pad nothing."""
    kernel = _attribute(n, 'kernel_shape', [1])
    return _attribute(n, 'auto_pad', b'NOTSET').startswith(b'SAME') and (
        max(_attribute(n, 'dilations', [1])) > 1 or any(s > k for s, k in zip(_attribute(n, 'strides', [1]), kernel)))


# Where the oracles (ONNX Runtime 1.32, ONNX 1.23) are known not to do what ONNX's text says: by, operator, when, how.
MISTAKEN = [
    ('onnxruntime', 'MaxPool AveragePool LpPool', lambda n, v: _odd_padding(n), 'pads by negative numbers, or as without dilations'),
    ('reference', 'Conv MaxPool AveragePool LpPool', lambda n, v: _odd_padding(n), 'pads by negative numbers, or as without dilations'),
    ('onnxruntime', 'ConvTranspose', lambda n, v: _attribute(n, 'auto_pad', b'').startswith(b'SAME'),
     'the result is not input · stride if strides exceed the kernel'),
    ('reference', 'ConvTranspose', lambda n, v: True, 'auto_pad pads the other side, groups take the first picture, output_shape fails'),
    ('reference', 'LpPool AveragePool', lambda n, v: max(_attribute(n, 'dilations', [1])) > 1, 'extents as without dilations'),
    ('reference', 'Slice', lambda n, v: len(n.input) > 4, 'what lies before the beginning, with negative steps, as NumPy does'),
    ('reference', 'BatchNormalization', lambda n, v: v < 15, 'the epsilon is left out'),
    ('reference', 'Softmax LogSoftmax', lambda n, v: v < 13, 'one axis, not all from it on'),
    ('reference', 'LRN', lambda n, v: True, 'counts pictures as channels'),
    ('onnxruntime', 'Resize', lambda n, v: _attribute(n, 'keep_aspect_ratio_policy', b'stretch') != b'stretch' and
     bool(_attribute(n, 'axes', [])), 'the common scale is also that of axes that are not named, 1'),
    ('onnxruntime', 'Resize', lambda n, v: _attribute(n, 'keep_aspect_ratio_policy', b'stretch') != b'stretch' and
     _attribute(n, 'coordinate_transformation_mode', b'') == b'tf_crop_and_resize', 'copies if the extents stay, whatever is cropped'),
    ('onnxruntime', 'SplitToSequence', lambda n, v: len(n.input) > 1 and not _attribute(n, 'keepdims', 1),
     'heeds keepdims beside split'),
    ('reference', 'Resize', lambda n, v: True, 'sizes before they are rounded; axes in another order'),
    ('reference', 'Loop', lambda n, v: True, 'a condition that is left out is false; scans are joined along an axis, not stacked'),
    ('reference', 'SequenceInsert', lambda n, v: True, 'a position behind the last tensor is taken for the first'),
    ('reference', 'Scan', lambda n, v: v < 9, 'knows no batch'),
    ('reference', 'MaxPool', lambda n, v: any(_attribute(n, 'pads', [])) or _attribute(n, 'auto_pad', b'NOTSET') != b'NOTSET',
     'pads another axis or side, and not by more than the input'),
    ('reference', 'AveragePool LpPool', lambda n, v: _attribute(n, 'ceil_mode', 0) == 1, 'windows that end beyond the input'),
    ('reference', 'ReduceL2', lambda n, v: True, 'squares of integers wrap around'),
    ('reference', 'GlobalMaxPool', lambda n, v: True, 'two axes, however many there are'),
    ('reference', 'Unsqueeze', lambda n, v: v < 13, 'axes one after the other, as they are listed'),
    ('reference', 'LpNormalization', lambda n, v: _attribute(n, 'p', 2) == 1, 'sums numbers, not their absolute values'),
]


def nodes_within(graph):
    """The nodes of a graph and of the graphs inside them."""
    for n in graph.node:
        yield n
        for a in n.attribute:
            if a.HasField('g'):
                yield from nodes_within(a.g)


def mistaken(by, model):
    """Why an oracle's results of this model say nothing; '' if they do."""
    for n in nodes_within(model.graph):
        for whose, operators, when, how in MISTAKEN:
            if by == whose and n.op_type in operators.split() and when(n, model.opset_import[0].version):
                return f'{n.op_type}: {how}'
    return ''


def answers(model, feeds, all_of_them=True):
    """An Answer of each oracle; without `all_of_them` only until one has values."""
    out = []
    for by, run, there in (('onnxruntime', _runtime, onnxruntime), ('reference', _reference, ReferenceEvaluator)):
        if not there or mistaken(by, model):
            continue
        try:
            out.append(Answer(by, run(model, feeds)))
            if not all_of_them:
                break
        except Exception as e:  # whatever an implementation throws at a wrong model
            out.append(Answer(by, None, f'{type(e).__name__}: {e}'))
    return out


# dice computes in float32, in another order than the oracles.
RELATIVE, OF_LARGEST, ABSOLUTE = 2e-4, 1e-5, 1e-6


def differs(found, expected, looser=1):
    """'' if they are close, else how they differ. Integers and bools must be equal; NaN equals NaN."""
    if list(found.shape) != list(expected.shape):
        return f'shape {list(found.shape)}, expected {list(expected.shape)}'
    a, b = found.astype(np.float64), expected.astype(np.float64)
    if expected.dtype.kind in 'iub':
        wrong = a != b
    else:
        finite = np.abs(b[np.isfinite(b)])
        largest = float(finite.max()) if finite.size else 0.0
        with np.errstate(all='ignore'):
            allowed = looser * (ABSOLUTE + OF_LARGEST * largest + RELATIVE * np.abs(b))
            wrong = ~((np.isnan(a) & np.isnan(b)) | (a == b) | (np.abs(a - b) <= allowed))
        wrong &= ~((np.abs(b) > 3e38) & (a == np.copysign(np.inf, b)))  # beyond float32
    if not wrong.any():
        return ''
    first = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
    return f'{int(wrong.sum())} of {wrong.size} numbers, first {list(first)}: {a[first]:.9g}, expected {b[first]:.9g}'
