"""Generators of windows, products and resizing."""
import math

import numpy as np

from elementwise import OPERATORS, makes
from maker import Unfit


def picture(m, channels=None, least=1):
    """(N, C, W) or (N, C, H, W); rarely three spatial axes."""
    if m.current is not None:
        x, s = m.data(least=3, most=4)
        return x, s
    spatial = 3 if m.chance(0.01) else m.one_of(1, 2, 2, 2)
    s = [m.one_of(1, 1, 2), channels or m.r.randint(1, 4)] + [m.r.randint(least, 8) for _ in range(spatial)]
    return m.data(s)


def window(m, s, p=0.6):
    """Attributes of a window on the spatial axes of shape `s`, of which the input may be smaller."""
    axes = len(s) - 2
    pick = lambda *values: [m.r.choice(values) for _ in range(axes)]
    out = {'strides': m.attribute(p, pick(1, 1, 2, 3)), 'dilations': m.attribute(p / 2, pick(1, 1, 2, 3))}
    kernel = pick(1, 2, 3, 3, 4, 5)
    if m.chance(0.35):
        out['auto_pad'] = m.one_of('NOTSET', 'SAME_UPPER', 'SAME_LOWER', 'VALID', 'SAME_UPPER', 'SAME_LOWER')
    if out.get('auto_pad') in (None, 'NOTSET') and m.chance(p):
        out['pads'] = [m.r.randint(0, k - 1) for k in kernel + kernel]
    if m.chance(0.01):
        out['pads'] = [-1] * (2 * axes)
    return kernel, out


@makes('Conv', weight=5)
def conv(m, op):
    x, s = picture(m)
    kernel, stated = window(m, s)
    divisors = [g for g in range(1, s[1] + 1) if s[1] % g == 0]
    group = m.r.choice(divisors)
    w = m.const(m.array([group * m.r.randint(1, 3), s[1] // group] + kernel, like='small'))
    inputs = [x, w]
    if m.chance(0.5):
        inputs.append(m.const(m.array([m.known[w].shape[0]])) if m.chance(0.9) else '')
    return m.node(op, inputs, group=group if group > 1 else m.attribute(0.3, 1), kernel_shape=m.attribute(0.6, kernel), **stated)


@makes('ConvTranspose', weight=6)
def conv_transpose(m, op):
    x, s = picture(m)
    kernel, stated = window(m, s)
    axes = len(s) - 2
    strides, dilations = stated['strides'] or [1] * axes, stated['dilations'] or [1] * axes
    group = m.r.choice([g for g in range(1, s[1] + 1) if s[1] % g == 0])
    w = m.const(m.array([s[1], m.r.randint(1, 3)] + kernel, like='small'))
    if m.chance(0.35):
        stated['output_padding'] = [m.r.randint(0, max(strides[a], dilations[a]) - 1) for a in range(axes)]
    elif m.chance(0.45):
        more = [m.r.randint(0, k - 1) if m.chance(0.2) else 0 for k in strides]
        stated['output_padding'] = more if any(more) else None
        full = [(s[a + 2] - 1) * strides[a] + (kernel[a] - 1) * dilations[a] + 1 + more[a] for a in range(axes)]
        # Not smaller than the input: ONNX's shape inference gives up there.
        stated['output_shape'] = [max(d, f - m.one_of(0, 1, 2, 3, 3)) for d, f in zip(s[2:], full)]
        if m.chance(0.1):
            stated['output_shape'] = [f + 1 for f in full]
        stated.pop('pads', None)
        if stated.get('auto_pad') == 'VALID':  # contradicts it
            stated['auto_pad'] = 'NOTSET'
    inputs = [x, w]
    if m.chance(0.5):
        inputs.append(m.const(m.array([m.known[w].shape[1] * group])))
    return m.node(op, inputs, group=group if group > 1 else None, kernel_shape=m.attribute(0.6, kernel), **stated)


@makes('MaxPool', 'AveragePool', 'LpPool', weight=3)
def pool(m, op):
    x, s = picture(m)
    kernel, stated = window(m, s)
    stated['ceil_mode'] = m.attribute(0.4, m.flag())
    if op == 'AveragePool':
        stated['count_include_pad'] = m.attribute(0.5, m.flag())
    if op == 'MaxPool':
        stated['storage_order'] = m.attribute(0.1, m.flag())
    if op == 'LpPool':
        stated['p'] = m.attribute(0.6, m.one_of(1, 2, 3))
    return m.node(op, [x], kernel_shape=kernel, **stated)


@makes('GlobalAveragePool', 'GlobalMaxPool', 'GlobalLpPool')
def global_pool(m, op):
    return m.node(op, [picture(m)[0]], p=m.attribute(0.6, m.one_of(1, 2, 3)) if op == 'GlobalLpPool' else None)


@makes('Gemm', weight=3)
def gemm(m, op):
    rows, depth, columns = (m.r.randint(1, 6) for _ in range(3))
    turned_a, turned_b = m.chance(0.3), m.chance(0.5)
    if m.current is not None:
        a, s = m.data(least=2, most=2)
        rows, depth = (s[1], s[0]) if turned_a else s
    else:
        a = m.data([depth, rows] if turned_a else [rows, depth])[0]
    inputs = [a, m.other([columns, depth] if turned_b else [depth, columns], p_constant=0.95)]
    if m.opset < 11 or m.chance(0.7):
        c = m.one_of([columns], [rows, columns], [1], [], [rows, 1], [1, columns], [1, 1])
        inputs.append(m.other(c, p_constant=0.9) if m.opset < 11 or m.chance(0.95) else '')
    return m.node(op, inputs, transA=int(turned_a) if turned_a else m.attribute(0.2, 0),
                  transB=int(turned_b) if turned_b else m.attribute(0.2, 0), alpha=m.attribute(0.4, m.one_of(0.5, 2.0, 0.0)),
                  beta=m.attribute(0.4, m.one_of(0.5, -1.0, 0.0)))


@makes('MatMul', weight=3)
def mat_mul(m, op):
    a, s = m.data(least=1, most=4)
    depth = s[-1]
    kind = m.one_of('matrix', 'matrix', 'vector', 'batch', 'wider', 'many')
    batch = [d if m.chance(0.7) else 1 for d in s[:-2]]
    first = len(s) > 1 and m.chance(0.3)  # the other operand
    matrix = [m.r.randint(1, 5), s[-2]] if first else [depth, m.r.randint(1, 5)]
    b = {'matrix': matrix, 'vector': [matrix[1] if first else depth], 'batch': batch + matrix,
         'wider': [m.r.randint(1, 3)] + batch + matrix, 'many': [m.r.randint(9, 12)] + [1] * len(batch) + matrix}[kind]
    other = m.other(b, p_constant=0.7)
    return m.node(op, [other, a] if first else [a, other])


EQUATIONS = ['ij,jk->ik', 'ij,jk', 'bij,bjk->bik', 'ij->ji', 'ij->', 'ij->j', 'ij->i', 'bij->bji', 'i,j->ij', 'i,i->', 'ij,ij->',
             'ij,ij->ij', 'ij,j->i', 'bhqd,bhkd->bhqk', 'bqhd,bkhd->bhqk', '...ij,...jk->...ik', '...i->...', '...ij->...ji',
             'ba', 'ab,bc', 'zy,yx', 'ijk,ijl->kl', 'ijk,jk->i', '...,...->...', 'i...,i...->i...', 'bij,jk->bik', 'ij , jk -> ik',
             'aB,Bc->ac', 'Ab', 'ii->i', 'ii', 'i,j,k->ijk', 'ij,jk,kl->il', '->', ',i->i', 'abc,cd->abd', 'abc,dc->dba',
             'abcd,abde->abce', 'i->', 'j,i->ij', '...ij,jk->...ik', 'b...c,c->b...']


@makes('Einsum', weight=3)
def einsum(m, op):
    equation = m.r.choice(EQUATIONS)
    extents, dots = {}, [m.r.randint(1, 3) for _ in range(m.r.randint(0, 2))]
    shapes = []
    for term in equation.replace(' ', '').split('->')[0].split(','):
        shapes.append([])
        for letter in term.replace('...', '.'):
            shapes[-1] += dots if letter == '.' else [extents.setdefault(letter, m.r.randint(1, 4))]
    activation = m.r.randrange(len(shapes))
    operands = [m.data(s)[0] if k == activation else m.other(s, p_constant=0.5) for k, s in enumerate(shapes)]
    return m.node(op, operands, equation=equation)


@makes('Attention', weight=3)
def attention(m, op):
    m.constants = False
    flat = m.chance(0.5)
    kv_heads, sharing, size, v_size = m.r.randint(1, 2), m.r.randint(1, 2), m.r.randint(1, 4), m.r.randint(1, 4)
    heads, batch, queries, keys = kv_heads * sharing, m.one_of(1, 1, 2), m.r.randint(1, 4), m.r.randint(1, 5)
    if flat:
        shapes = [[batch, queries, heads * size], [batch, keys, kv_heads * size], [batch, keys, kv_heads * v_size]]
    else:
        shapes = [[batch, heads, queries, size], [batch, kv_heads, keys, size], [batch, kv_heads, keys, v_size]]
    inputs = [m.data(shapes[0])[0]] + [m.other(s, p_constant=0) for s in shapes[1:]]
    past = m.r.randint(1, 3) if m.chance(0.2) else 0
    if m.chance(0.5):
        rows = m.one_of([queries], [batch, heads, queries], [1, 1, queries], [batch, 1, queries])
        kind = m.one_of(np.float32, np.float32, np.bool_)
        inputs.append(m.other(rows + [keys + past], kind, p_constant=0.6))
    elif past or m.chance(0.1):
        inputs.append('')
    if past:
        inputs += [m.other([batch, kv_heads, past, size], p_constant=0.3), m.other([batch, kv_heads, past, v_size], p_constant=0.3)]
    outputs = 3 if past else 1
    mode = None
    if m.chance(0.15):
        outputs, mode = 4, m.r.randint(0, 3)
    y = m.node(op, inputs, outputs, is_causal=m.attribute(0.5, m.flag()), q_num_heads=heads if flat else None,
               kv_num_heads=kv_heads if flat else None, scale=m.attribute(0.4, m.one_of(0.5, 1.0)),
               softcap=m.attribute(0.3, m.one_of(0.0, 2.0)), qk_matmul_output_mode=mode)
    return y if isinstance(y, str) else m.r.choice([y[0], y[0], y[-1]] if mode is not None else [y[0], y[0], y[1]])


@makes('SpaceToDepth', 'DepthToSpace', weight=1.5)
def blocks(m, op):
    size = m.one_of(1, 2, 2, 3)
    if m.current is not None:
        x, s = m.data(least=4, most=4)
        if (s[1] % size**2 if op == 'DepthToSpace' else s[2] % size or s[3] % size):
            raise Unfit
    else:
        c, h, w = (m.r.randint(1, 3) for _ in range(3))
        n = m.one_of(1, 2)
        x, _ = m.movable(op, shape=[n, c * size**2, h, w] if op == 'DepthToSpace' else [n, c, h * size, w * size])
    return m.node(op, [x], blocksize=size, mode=m.attribute(0.7, m.one_of('DCR', 'CRD')))


def keeps_all(shape, scales):
    """Whether no extent changes: then ONNX Runtime copies, whatever else is asked for."""
    return all(int(np.float32(d) * np.float32(k)) == d for d, k in zip(shape, scales))


@makes('Upsample', weight=2)
def upsample(m, op):
    x, s = m.data(least=3, most=4)
    mode = m.attribute(0.8, m.one_of('nearest', 'linear'))
    scales = [1.0, 1.0] + [m.one_of(1.0, 2.0, 3.0, 1.5, 1.3, 2.7) for _ in s[2:]]
    if keeps_all(s, scales):
        scales = [1.0] * len(s)
    if m.opset < 9:
        return m.node(op, [x], scales=scales, mode=mode)
    return m.node(op, [x, m.const(scales, np.float32)], mode=mode)


@makes('Resize', weight=8)
def resize(m, op):
    x, s = m.data(least=1, most=4)
    if 0 in s:
        raise Unfit
    spatial = len(s) - 2 if len(s) > 2 else len(s)
    scales = [1.0] * (len(s) - spatial) + [m.one_of(1.0, 2.0, 0.5, 1.5, 0.6, 1.3, 3.0, 0.75, 2.25) for _ in range(spatial)]
    if keeps_all(s, scales):
        scales = [1.0] * len(s)
    mode = m.attribute(0.8, m.one_of('nearest', 'linear', 'cubic' if m.opset >= 11 and spatial == 2 else 'linear'))
    if m.opset < 11:
        return m.node(op, [x, m.const(scales, np.float32)], mode=mode)
    stated = {'mode': mode, 'coordinate_transformation_mode': m.attribute(0.8, m.one_of(
        'half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric', 'tf_crop_and_resize', 'half_pixel_symmetric',
        'tf_half_pixel_for_nn')), 'nearest_mode': m.attribute(0.6, m.one_of('round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil')),
        'cubic_coeff_a': m.attribute(0.4, m.one_of(-0.5, -0.75)), 'exclude_outside': m.attribute(0.4, m.flag()) if mode == 'cubic' else None,
        'extrapolation_value': m.attribute(0.3, 10.0), 'antialias': m.attribute(0.25, m.flag()) if mode in ('linear', 'cubic') else None}
    axes = None
    if m.opset >= 18 and m.chance(0.4):
        axes = [a - len(s) if m.chance(0.4) else a for a in m.r.sample(range(len(s)), m.r.randint(1, spatial))]
        stated['axes'] = axes
    named = axes if axes is not None else list(range(len(s)))
    scales = [k if a in [b % len(s) for b in named] else 1.0 for a, k in enumerate(scales)]
    if keeps_all(s, scales):
        scales = [1.0] * len(s)
    by_sizes = m.chance(0.5)
    sizes = [max(1, int(s[a] * scales[a])) + m.one_of(0, 0, 1) * (scales[a] != 1) for a in named]
    roi = ''
    if stated['coordinate_transformation_mode'] == 'tf_crop_and_resize':
        # Where an extent stays, ONNX Runtime crops nothing.
        whole = [n == s[a] if by_sizes else scales[a] == 1 for a, n in zip(named, sizes)]
        roi = m.const([0.0 if w else m.one_of(0.0, 0.1, 0.25) for w in whole] + [1.0 if w else m.one_of(1.0, 0.8, 1.2) for w in whole],
                      np.float32)
    elif m.chance(0.2) or m.opset < 13:
        roi = m.const([], np.float32)
    if not by_sizes:
        inputs = [x, roi, m.const([scales[a] for a in named], np.float32)]
        if m.opset >= 13 and m.chance(0.1):
            inputs.append('')
    else:
        inputs = [x, roi, '' if m.opset >= 13 and m.chance(0.7) else m.const([], np.float32), m.ints(sizes)]
        stated['keep_aspect_ratio_policy'] = m.attribute(0.4, m.one_of('stretch', 'not_larger', 'not_smaller'))
    return m.node(op, inputs, **stated)
