"""Computes a generated network with PyTorch from onnx2hpp's output: the header's attributes and the weights file.

It reads both files independently and shares no code with dice. Needs torch and numpy.
  evaluate.py NETWORK.hpp IN.npy OUT.npy     prints max |a - b| / max |b| and fails beyond 1e-4
"""
import hashlib
import json
import math
import os
import re
import sys

import numpy as np
import torch
import torch.nn.functional as F


def _expression(text):
    """A braced initialiser as nested lists, dicts for designators; numbers and names as they are."""
    tokens = re.findall(r'"(?:\\.|[^"\\])*"|[{},=]|\.[A-Za-z_]\w*(?=\s*=)|[^\s{},=]+', text)
    position = 0

    def value():
        nonlocal position
        token = tokens[position]
        position += 1
        if token != '{':
            return scalar(token)
        items, members = [], {}
        while tokens[position] != '}':
            if tokens[position].startswith('.') and tokens[position + 1] == '=':
                name = tokens[position][1:]
                position += 2
                members[name] = value()
            else:
                items.append(value())
            if tokens[position] == ',':
                position += 1
        position += 1
        return members or items

    def scalar(token):
        negative = token.startswith('-::')
        if 'infinity' in token:
            return -math.inf if negative else math.inf
        if 'quiet_NaN' in token:
            return math.nan
        if token in ('true', 'false'):
            return token == 'true'
        if token.startswith('::'):
            return token.split('::')[-1]
        if re.fullmatch(r'-?\d+(LL)?', token):
            return int(token.rstrip('L'))
        return float(np.float32(token.rstrip('f')))

    return value()


def read_header(path):
    """The layers in order of their ids, and the weights file's name and size and the digest of the structure."""
    text = open(path, encoding='ascii').read()
    layers = []
    for body in re.findall(r'^struct \w+ final \{\n(.*?)^\};', text, re.M | re.S):
        if 'weights_file' in body:
            file = re.search(r'\.file = "(.*?)"', body).group(1)
            structure = re.search(r'\.structure = "(.*?)"', body).group(1)
            size = int(re.search(r'\.bytes = (\d+)', body).group(1))
            continue
        kind, attributes = re.search(r'constexpr ::dice::ops::(\w+) op(\{.*\});', body).groups()
        layers.append({
            'id': int(re.search(r'int id = (\d+);', body).group(1)),
            'op': kind,
            'attributes': _expression(attributes) or {},
            'operands': _expression(re.search(r'operands(\{.*\});', body).group(1)),
            'parameters': (_expression(re.search(r'parameters(\{.*\});', body).group(1)) or [[]])[0],
            'result': _expression(re.search(r'shape result(\{.*\});', body).group(1)),
        })
    assert [l['id'] for l in layers] == list(range(len(layers)))
    return layers, file, structure, size


def read_weights(path, structure, size):
    """The data section, after checking the whole file as a strict reader would."""
    data = open(path, 'rb').read()
    length = int.from_bytes(data[:8], 'little')
    assert (8 + length) % 64 == 0
    header = json.loads(data[8:8 + length])
    section = data[8 + length:]
    metadata = header['__metadata__']
    assert len(section) == size and metadata['dice_structure'] == structure and metadata['format'] == 'dice'
    table = ''
    for name, (begin, after) in sorted(((k, v['data_offsets']) for k, v in header.items() if not k.startswith('__')),
                                       key=lambda e: e[1]):
        assert hashlib.sha256(section[begin:after]).hexdigest() == metadata['sha256.' + name], name
        table += f'{name} {begin} {after} {metadata["sha256." + name]}\n'
    assert hashlib.sha256(table.encode()).hexdigest() == metadata['dice_digest']
    end = 0
    for name, t in sorted(((k, v) for k, v in header.items() if k != '__metadata__'), key=lambda e: e[1]['data_offsets']):
        begin, after = t['data_offsets']
        assert begin == end and after - begin == math.prod(t['shape']) * {'F32': 4, 'U8': 1}[t['dtype']], name
        assert t['dtype'] == 'U8' or begin % 64 == 0
        end = after
    assert end == size
    return section


def _pool(x, a, kind):
    one = x.dim() == 3
    if one:
        x = x.unsqueeze(2)
    kernel, strides, dilations = (a.get(k, [1, 1]) for k in ('kernel', 'strides', 'dilations'))
    top, left, bottom, right = a.get('pads', [0] * 4)
    n, c, h, w = x.shape
    out = []
    for extent, k, s, d, before, after in ((h, kernel[0], strides[0], dilations[0], top, bottom),
                                           (w, kernel[1], strides[1], dilations[1], left, right)):
        room = extent + before + after - ((k - 1) * d + 1)
        count = room // s + 1
        if a.get('ceil_mode') and room % s and count * s < extent + before:
            count += 1
        out.append((count, (count - 1) * s + (k - 1) * d + 1))
    need = [max(0, out[0][1] - h - top), max(0, out[1][1] - w - left)]

    def windows(t, fill):
        t = F.pad(t, (left, need[1], top, need[0]), value=fill)
        taps = [t[:, :, i * dilations[0]:, j * dilations[1]:][:, :, :(out[0][0] - 1) * strides[0] + 1:strides[0],
                                                                :(out[1][0] - 1) * strides[1] + 1:strides[1]]
                for i in range(kernel[0]) for j in range(kernel[1])]
        return torch.stack(taps)

    if kind == 'max':
        y = windows(x, -math.inf).amax(0)
    else:
        inside = torch.ones_like(x[:1, :1])
        if a.get('count_include_pad'):
            inside = F.pad(inside, (left, right, top, bottom), value=1.0)
            total = windows_of_padded(inside, out, kernel, strides, dilations)
        else:
            total = windows(inside, 0.0).sum(0)
        y = windows(x, 0.0).sum(0) / total
    return y.squeeze(2) if one else y


def windows_of_padded(t, out, kernel, strides, dilations):
    t = F.pad(t, (0, max(0, out[1][1] - t.shape[3]), 0, max(0, out[0][1] - t.shape[2])))
    return sum(t[:, :, i * dilations[0]:, j * dilations[1]:][:, :, :(out[0][0] - 1) * strides[0] + 1:strides[0],
                                                             :(out[1][0] - 1) * strides[1] + 1:strides[1]]
               for i in range(kernel[0]) for j in range(kernel[1]))


def _pad(x, a):
    before, after = a.get('before', [0] * 8), a.get('after', [0] * 8)
    mode = a.get('mode', 'constant')
    y = x.numpy()
    cut = tuple(slice(max(0, -before[i]), y.shape[i] - max(0, -after[i])) for i in range(y.ndim))
    widths = [(max(0, before[i]), max(0, after[i])) for i in range(y.ndim)]
    extra = {'constant_values': np.float32(a.get('value', 0.0))} if mode == 'constant' else {}
    return torch.from_numpy(np.pad(y[cut], widths, mode=mode, **extra))


def _conv(x, p, a):
    one = x.dim() == 3
    if one:
        x, p = x.unsqueeze(2), [p[0].unsqueeze(2)] + p[1:]
    top, left, bottom, right = a['pads']
    bias = p[1] if a['bias'] else None
    y = F.conv2d(F.pad(x, (left, right, top, bottom)), p[0], bias, a['strides'], 0, a['dilations'], a['group'])
    return y.squeeze(2) if one else y


def _binary(f):
    def run(x, p, a):
        which = a.get('which', 'none')
        if which == 'none':
            return f(x[0], x[1])
        c = p[0].reshape(a['fixed'])
        return f(c, x[0]) if which == 'first' else f(x[0], c)
    return run


def _lrn(x, a):
    size = a['size']
    square = F.pad(x * x, [0, 0] * (x.dim() - 2) + [(size - 1) // 2, size // 2])
    total = sum(square[:, i:i + x.shape[1]] for i in range(size))
    return x / (a.get('bias', 1.0) + a.get('alpha', 1e-4) / size * total) ** a.get('beta', 0.75)


def _channels(p, x):
    return p.reshape([-1] + [1] * (x.dim() - 2))


def _softmax(x, a):
    flat = x.flatten(a['first'], a['last'] - 1)
    return (torch.log_softmax if a.get('log') else torch.softmax)(flat, a['first']).reshape(x.shape)


def _slice(x, a):
    y = x.numpy()
    starts, steps = a.get('starts', [0] * 8), a.get('steps', [1] * 8)
    for i, extent in enumerate(a['extents']):
        y = np.take(y, [starts[i] + k * steps[i] for k in range(extent)], axis=i)
    return torch.from_numpy(np.ascontiguousarray(y))


def _resize(x, a):
    if 'mode' not in a:
        for axis in range(x.dim()):
            x = x.repeat_interleave(a['factors'][axis], axis)
        return x
    mode, at = a['mode'], a.get('from', 'half_pixel')
    names = {'linear': ['linear', 'bilinear', 'trilinear'][x.dim() - 3], 'cubic': 'bicubic', 'nearest': 'nearest'}
    assert mode != 'nearest' or (at, a.get('nearest')) == ('asymmetric', 'floor'), a
    align = {} if mode == 'nearest' else {'align_corners': at == 'align_corners'}
    if at != 'align_corners':  # a given scale counts, even where the result's extent was rounded
        y = F.interpolate(x, scale_factor=a['scales'][2:x.dim()], mode=names[mode], **align)
        if list(y.shape) == a['to']:
            return y
    return F.interpolate(x, a['to'][2:], mode=names[mode], **align)


def _antialiased_resize(x, a):
    """Along one axis, by a matrix of weights in float64, as PyTorch and Pillow compute them."""
    assert a.get('from', 'half_pixel') == 'half_pixel', a
    axis, scale, c = a['axis'], a.get('scale', 1.0), a.get('cubic_a', -0.75)
    cubic, n, m = a.get('mode', 'linear') == 'cubic', x.shape[axis], a['to']
    center = (torch.arange(m, dtype=torch.float64)[:, None] + 0.5) / scale - 0.5
    reach = math.ceil(2 / min(scale, 1)) + 1
    at = torch.arange(-reach, n + reach, dtype=torch.float64)[None]
    d = ((at - center) * min(scale, 1)).abs()
    weights = torch.where(d <= 1, ((c + 2) * d - (c + 3)) * d * d + 1, ((c * d - 5 * c) * d + 8 * c) * d - 4 * c) if cubic else 1 - d
    weights[d >= (2 if cubic else 1)] = 0
    inside = at[0].clamp(0, n - 1).long()
    if a.get('exclude_outside', False):
        weights[:, (at[0] < 0) | (at[0] >= n)] = 0
    matrix = torch.zeros(m, n, dtype=torch.float64).index_add_(1, inside, weights / weights.sum(1, keepdim=True))
    return (x.double().movedim(axis, -1) @ matrix.T).movedim(-1, axis).float().contiguous()


def _reduce(x, a):
    axes, keep, how = [i for i in range(x.dim()) if a['over'][i]], a.get('keep', True), a.get('how', 'mean')
    if how.startswith('arg'):
        return (torch.argmax if how == 'arg_max' else torch.argmin)(x, axes[0], keepdim=keep).to(x.dtype)
    if how == 'product':
        return torch.from_numpy(np.prod(x.numpy(), tuple(axes), keepdims=keep))
    return {'mean': torch.mean, 'total': torch.sum, 'total_square': lambda v, d, keepdim: (v * v).sum(d, keepdim=keepdim),
            'largest': torch.amax, 'smallest': torch.amin}[how](x, axes, keepdim=keep)


def _normalization(x, p, a):
    axes, how, epsilon = list(range(a['first'], a['last'])), a['how'], a.get('epsilon', 1e-5)
    if how in ('l1', 'l2'):
        return x / x.norm(int(how[1]), axes, keepdim=True)
    v = x if how == 'rms' else x - x.mean(axes, keepdim=True)
    y = v / torch.sqrt((v * v).mean(axes, keepdim=True) + epsilon)
    p = list(p)
    if a.get('scale'):
        y = y * p.pop(0).reshape(a['scale_shape'])
    return y + p.pop(0).reshape(a['bias_shape']) if a.get('bias') else y


def _einsum(x, p, a):
    x = x if 'which' not in a else p + x if a['which'] == 'first' else x + p
    letters, terms = 'abcdefgh', [[''] * v.dim() for v in x]
    for k, axes in enumerate(a['of']):
        for o, axis in enumerate(axes[:a['rank']]):
            if axis >= 0:
                terms[k][axis] = letters[o]
        if a['depth'][k] >= 0:
            terms[k][a['depth'][k]] = 'z'
    return a.get('factor', 1.0) * torch.einsum(f"{''.join(terms[0])},{''.join(terms[1])}->{letters[:a['rank']]}", *x)


def _depth_to_space(x, a):
    flat = x.dim() == 3
    x = x.unsqueeze(2) if flat else x
    (fy, fx), (n, _, h, w), g = a.get('factors', [1, 1]), x.shape, a.get('groups', 1)
    fy = 1 if flat else fy
    y = x.reshape(n, g, fy, fx, -1, h, w).permute(0, 1, 4, 5, 2, 6, 3).reshape(n, -1, h * fy, w * fx)
    (top, left), (rows, columns) = a.get('crop', [0, 0]), a['to']
    y = y[..., left:left + columns] if flat else y[:, :, top:top + rows, left:left + columns]
    return y.squeeze(2) if flat else y


def _cum_sum(x, a):
    axis = a['axis']
    y = (x.flip(axis) if a.get('reverse') else x).cumsum(axis)
    y = y.flip(axis) if a.get('reverse') else y
    return y - x if a.get('exclusive') else y


FUNCTIONS = {
    'abs': torch.abs, 'ceil': torch.ceil, 'celu': F.celu, 'erf': torch.erf, 'exp': torch.exp, 'floor': torch.floor, 'gelu': F.gelu,
    'gelu_tanh': lambda x: F.gelu(x, approximate='tanh'), 'log': torch.log, 'mish': F.mish, 'neg': torch.neg,
    'reciprocal': torch.reciprocal, 'round': torch.round, 'selu': lambda x, a, b: b * torch.where(x < 0, a * torch.expm1(x), x),
    'sign': torch.sign, 'softplus': F.softplus, 'softsign': F.softsign, 'sqrt': torch.sqrt,
    'swish': lambda x, a: x * torch.sigmoid(a * x), 'thresholded_relu': lambda x, a: torch.where(x > a, x, 0.0)}


def _elementwise(x, f):
    return FUNCTIONS[f['is']](x, *(f[k] for k in ('a', 'b') if k in f))


OPERATORS = {
    'conv': lambda x, p, a: _conv(x[0], p, a),
    'batch_normalization': lambda x, p, a: x[0] * _channels(p[0], x[0]) + _channels(p[1], x[0]),
    'relu': lambda x, p, a: torch.relu(x[0]),
    'leaky_relu': lambda x, p, a: F.leaky_relu(x[0], a.get('alpha', 0.01)),
    'elu': lambda x, p, a: F.elu(x[0], a.get('alpha', 1.0)),
    'clip': lambda x, p, a: torch.clamp(x[0], a.get('low', -math.inf), a.get('high', math.inf)),
    'sigmoid': lambda x, p, a: torch.sigmoid(x[0]),
    'tanh': lambda x, p, a: torch.tanh(x[0]),
    'hard_sigmoid': lambda x, p, a: torch.clamp(a.get('alpha', 0.2) * x[0] + a.get('beta', 0.5), 0, 1),
    'hard_swish': lambda x, p, a: x[0] * torch.clamp(x[0] / 6 + 0.5, 0, 1),
    'max_pool': lambda x, p, a: _pool(x[0], a, 'max'),
    'average_pool': lambda x, p, a: _pool(x[0], a, 'mean'),
    'global_average_pool': lambda x, p, a: x[0].mean(tuple(range(2, x[0].dim())), keepdim=True),
    'gemm': lambda x, p, a: x[0] @ p[0].T + (p[1] if a['bias'] else 0),
    'mat_mul': lambda x, p, a: x[0] @ p[0].T + (p[1] if a['bias'] else 0),
    'add': _binary(torch.add),
    'sub': _binary(torch.sub),
    'mul': _binary(torch.mul),
    'div': _binary(torch.div),
    'max': _binary(torch.maximum),
    'min': _binary(torch.minimum),
    'p_relu': _binary(lambda a, b: torch.where(a < 0, a * b, a)),
    'pow': _binary(torch.pow),
    'where': _binary(lambda a, b: torch.where(torch.isnan(b), a, b)),
    'elementwise': lambda x, p, a: _elementwise(x[0], a['function']),
    'sum': lambda x, p, a: sum(x[1:], x[0]),
    'concat': lambda x, p, a: torch.cat(x, a['axis']),
    'flatten': lambda x, p, a: x[0].reshape(math.prod(x[0].shape[:a['axis']]), -1),
    'reshape': lambda x, p, a: x[0].reshape(a['to'] if isinstance(a['to'], list) else []),
    'pad': lambda x, p, a: _pad(x[0], a),
    'softmax': lambda x, p, a: _softmax(x[0], a),
    'lrn': lambda x, p, a: _lrn(x[0], a),
    'reduce': lambda x, p, a: _reduce(x[0], a),
    'normalization': lambda x, p, a: _normalization(x[0], p, a),
    'einsum': lambda x, p, a: _einsum(x, p, a),
    'tile': lambda x, p, a: x[0].repeat(*a.get('repeats', [1] * 8)[:x[0].dim()]),
    'gather': lambda x, p, a: x[0].index_select(a['axis'], p[0].long()),
    'cum_sum': lambda x, p, a: _cum_sum(x[0], a),
    'depth_to_space': lambda x, p, a: _depth_to_space(x[0], a),
    'transpose': lambda x, p, a: x[0].permute(a['perm'][:x[0].dim()]).contiguous(),
    'slice': lambda x, p, a: _slice(x[0], a),
    'resize': lambda x, p, a: _resize(x[0], a),
    'antialiased_resize': lambda x, p, a: _antialiased_resize(x[0], a),
    'identity': lambda x, p, a: x[0],
    'dropout': lambda x, p, a: x[0],
    'output': lambda x, p, a: x[0],
}


def evaluate(header, inputs):
    """Outputs in the order of the output layers, for the inputs in the order of the input layers."""
    layers, file, structure, size = read_header(header)
    weights = read_weights(os.path.join(os.path.dirname(header), file), structure, size)
    values, outputs, given = [], [], iter(inputs)
    with torch.no_grad():
        for l in layers:
            if l['op'] == 'input':
                value = torch.from_numpy(np.array(next(given), np.float32))
            else:
                parameters = []
                for offset, shape in l['parameters']:
                    assert offset % 64 == 0
                    count = math.prod(shape or [1])
                    data = np.frombuffer(weights, np.float32, count, offset).copy()
                    parameters.append(torch.from_numpy(data).reshape(shape))
                value = OPERATORS[l['op']]([values[k] for k in l['operands']], parameters, l['attributes'])
            assert list(value.shape) == list(l['result']), (l, value.shape)
            values.append(value)
            if l['op'] == 'output':
                outputs.append(value.numpy())
    return outputs


def error(a, b):
    """max |a - b| / max |b|."""
    return float(np.max(np.abs(a - b)) / max(np.max(np.abs(b)), 1e-30)) if b.size else 0.0


if __name__ == '__main__':
    extents = read_header(sys.argv[1])[0][0]['result']
    frames = np.load(sys.argv[2]).reshape(-1, *extents)
    found = np.concatenate([evaluate(sys.argv[1], [f])[0] for f in frames])
    wrong = error(found, np.load(sys.argv[3]))
    print(f'{sys.argv[1]}: {wrong:.2e}')
    sys.exit(not wrong <= 1e-4)
