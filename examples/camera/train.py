#!/usr/bin/env python3
"""Train the detector of this example and write detector.onnx, labels.txt and, for the tests, scenes with what it finds there.

    train.py [--out DIR] [--steps N]

Needs PyTorch and ONNX (pip install torch onnx). Takes five minutes on two cores. The pictures are drawn here: balls, boxes and
triangles of any colour and size before a background of soft spots, with noise. Those of the test have another seed.
"""
import argparse
import json
import pathlib
import struct
import zlib

import numpy as np
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F

LABELS = ['ball', 'box', 'triangle']
HEIGHT, WIDTH = 96, 128
STRIDES = 8, 16  # of the two grids whose cells look for objects
SMALL = 32       # objects with longer sides than this many pixels are for the coarse grid
MOST = 6         # objects in a picture, at most


def uniform(shape, low, high):
    return low + (high - low) * torch.rand(shape)


def draw(pictures, kinds, boxes, colours):
    """Draws one object into each picture (n,3,h,w); its box is (n,4): left, top, right, bottom in pixels."""
    y, x = torch.arange(HEIGHT)[None, :, None] + 0.5, torch.arange(WIDTH)[None, None] + 0.5
    left, top, right, bottom = boxes.T[:, :, None, None]
    across, down = (x - (left + right) / 2) / (right - left), (y - top) / (bottom - top)  # -½ … ½, 0 … 1
    inside = torch.stack([
        (0.5 - (across ** 2 + (down - 0.5) ** 2).sqrt()) * (right - left),
        torch.minimum((0.5 - across.abs()) * (right - left), (0.5 - (down - 0.5).abs()) * (bottom - top)),
        torch.minimum((down / 2 - across.abs()) * (right - left), (1 - down) * (bottom - top))])  # pixels to the edge
    cover = (inside.gather(0, kinds[None, :, None, None].expand(1, -1, HEIGHT, WIDTH))[0] + 0.5).clamp(0, 1)[:, None]
    shade = 1 + 0.2 * (down - 0.5)[:, None] * uniform((len(kinds), 1, 1, 1), -1, 1)
    return pictures * (1 - cover) + (colours[:, :, None, None] * shade) * cover


def scenes(n):
    """Pictures (n,3,h,w) from 0 to 1, and their objects: kinds (n,MOST), -1 for none, and boxes (n,MOST,4)."""
    mean = uniform((n, 3, 1, 1), 0.15, 0.85)
    spots = [uniform((n, 3, 2 ** k, 2 ** k), -0.12, 0.12) for k in (1, 2, 3)]
    pictures = mean + sum(F.interpolate(s, (HEIGHT, WIDTH), mode='bicubic') for s in spots)
    kinds, boxes = torch.full((n, MOST), -1), torch.zeros(n, MOST, 4)
    for k in range(MOST):
        kind = torch.randint(0, 3, (n,))
        width = uniform((n,), 3.2, 6.2).exp2().clamp(max=60)
        height = torch.where(kind == 0, width, width * uniform((n,), 0.6, 1.4)).clamp(max=60)
        left, top = torch.rand(n) * (WIDTH - width), torch.rand(n) * (HEIGHT - height)
        box = torch.stack([left, top, left + width, top + height], 1)
        gap = torch.maximum(box[:, None, :2] - boxes[..., 2:], boxes[..., :2] - box[:, None, 2:]).amax(2)
        free = ((gap > -2) | (kinds < 0)).all(1) & (torch.rand(n) < 0.7)
        colour = torch.rand(n, 3)
        middle = pictures[torch.arange(n), :, (top + height / 2).long(), (left + width / 2).long()]
        colour = torch.where(((colour - middle).abs().amax(1) < 0.25)[:, None], (middle + 0.5) % 1, colour)
        pictures = torch.where(free[:, None, None, None], draw(pictures, kind, box, colour), pictures)
        kinds[:, k], boxes[:, k] = torch.where(free, kind, -1), box
    noise = torch.randn(n, 3, HEIGHT, WIDTH) * uniform((n, 1, 1, 1), 0, 0.06)
    return (pictures + noise).clamp(0, 1), kinds, boxes


def layer(channels, width, kernel=3, stride=1):
    out = nn.Sequential()
    out.add_module('conv', nn.Conv2d(channels, width, kernel, stride, kernel // 2, bias=False))
    out.add_module('norm', nn.BatchNorm2d(width))
    out.add_module('relu', nn.ReLU())
    return out


class Mix(nn.Module):
    """A residual block with a narrow middle."""

    def __init__(self, channels, width):
        super().__init__()
        self.narrow, self.wide = layer(channels, width), layer(width, channels)

    def forward(self, x):
        return x + self.wide(self.narrow(x))


class Detector(nn.Module):
    """(n,3,96,128), from 0 to 1 -> (n,4+3,240): for each cell of both grids the centre's x and y, width and height of a box, in
    pixels, and a score for each kind. The names of the layers become those in detector.hpp."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = layer(3, 8, stride=2), layer(8, 16, stride=2)
        self.mix2, self.down3 = Mix(16, 8), layer(16, 24, stride=2)
        self.mix3, self.down4, self.mix4 = Mix(24, 12), layer(24, 32, stride=2), Mix(32, 8)
        self.up, self.join = nn.Upsample(scale_factor=2), layer(24 + 32, 24, kernel=1)
        self.fine, self.coarse = layer(24, 16), layer(32, 16)
        self.fine_head, self.coarse_head = nn.Conv2d(16, 4 + len(LABELS), 1), nn.Conv2d(16, 4 + len(LABELS), 1)
        for head in (self.fine_head, self.coarse_head):
            nn.init.constant_(head.bias[4:], -4)  # most cells see nothing
        cells, strides = [], []
        for stride in STRIDES:
            y, x = torch.meshgrid(torch.arange(HEIGHT // stride), torch.arange(WIDTH // stride), indexing='ij')
            cells.append((torch.stack([x, y]).flatten(1) + 0.5) * stride)
            strides.append(torch.full((1, x.numel()), float(stride)))
        self.register_buffer('cells', torch.cat(cells, 1))      # (2,240): their centres in pixels
        self.register_buffer('strides', torch.cat(strides, 1))  # (1,240)

    def forward(self, picture):
        fine = self.mix3(self.down3(self.mix2(self.down2(self.down1(picture)))))
        coarse = self.mix4(self.down4(fine))
        fine = self.join(torch.cat([fine, self.up(coarse)], 1))
        found = torch.cat([self.fine_head(self.fine(fine)).flatten(2), self.coarse_head(self.coarse(coarse)).flatten(2)], 2)
        to_edges = found[:, :4].exp() * self.strides  # from the cell's centre to left, top, right, bottom
        before, after = to_edges[:, :2], to_edges[:, 2:]
        return torch.cat([self.cells + (after - before) / 2, before + after, found[:, 4:].sigmoid()], 1)


def overlap(a, b):
    """Intersection over union of boxes (…,4): left, top, right, bottom."""
    both = (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp(min=0).prod(-1)
    return both / ((a[..., 2:] - a[..., :2]).prod(-1) + (b[..., 2:] - b[..., :2]).prod(-1) - both)


def corners(found):
    """(n,240,4): left, top, right, bottom."""
    centre, size = found[:, :2], found[:, 2:4]
    return torch.cat([centre - size / 2, centre + size / 2], 1).transpose(1, 2)


def loss(net, pictures, kinds, boxes):
    """Cells near the centre of an object, in the grid for its size, are to have its kind and its box."""
    found = net(pictures)
    centre, longest = (boxes[..., :2] + boxes[..., 2:]) / 2, (boxes[..., 2:] - boxes[..., :2]).amax(-1)
    distance = (net.cells.T[None, None] - centre[:, :, None]).abs().amax(-1) / net.strides[0]  # (n,MOST,240), in cells
    here = (distance < 0.9) & (kinds >= 0)[..., None] & ((longest < SMALL)[..., None] == (net.strides[0] == STRIDES[0]))
    picture, thing, cell = here.nonzero(as_tuple=True)
    wanted = torch.zeros_like(found[:, 4:])
    wanted[picture, kinds[picture, thing], cell] = 1
    scores = F.binary_cross_entropy(found[:, 4:], wanted, reduction='sum')
    fit = 1 - overlap(corners(found)[picture, cell], boxes[picture, thing])
    return (scores + 4 * fit.sum()) / len(cell)


def train(net, steps):
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=1e-3)
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps)
    net.train()
    for step in range(1, steps + 1):
        optimiser.zero_grad()
        value = loss(net, *scenes(16))
        value.backward()
        optimiser.step()
        rate.step()
        if step % 1000 == 0:
            print(f'step {step}: loss {value.item():.3f}', flush=True)
    net.eval()


def found_in(result, threshold):
    """The boxes of a result (7,240) as (score, kind, box), best first, of which none overlaps a better one of its kind."""
    scores, kinds = result[4:].max(0)
    boxes = corners(result[None])[0]
    kept = []
    for cell in scores.argsort(descending=True):
        if scores[cell] > threshold and all(k != kinds[cell] or overlap(b, boxes[cell]) < 0.5 for _, k, b in kept):
            kept.append((float(scores[cell]), int(kinds[cell]), boxes[cell]))
    return kept


def tested(net, n=500):
    """The mean average precision at an overlap of 0.5, and precision and recall at a score of 0.5, in n scenes."""
    pictures, kinds, boxes = scenes(n)
    with torch.no_grad():
        results = net(pictures)
    hits, objects = [[] for _ in LABELS], torch.zeros(len(LABELS))
    for result, kind, box in zip(results, kinds, boxes):
        free = set((kind >= 0).nonzero().flatten().tolist())
        objects += torch.bincount(kind[kind >= 0], minlength=len(LABELS))
        for score, k, b in found_in(result, 0.01):
            best = max((i for i in free if kind[i] == k), key=lambda i: overlap(b, box[i]), default=None)
            right = best is not None and bool(overlap(b, box[best]) >= 0.5)
            if right:
                free.remove(best)
            hits[k].append((score, right))
    average = []
    for of_kind, count in zip(hits, objects):
        right = torch.tensor([r for _, r in sorted(of_kind, reverse=True)], dtype=torch.float64)
        precision = right.cumsum(0) / torch.arange(1, len(right) + 1)
        best_from_here = precision.flip(0).cummax(0).values.flip(0)
        average.append(float((best_from_here * right).sum() / count))
    sure = [r for of_kind in hits for score, r in of_kind if score > 0.5]
    return sum(average) / len(average), sum(sure) / len(sure), sum(sure) / float(objects.sum())


def export(net, path):
    """Write the ONNX file, its nodes named like the network's layers."""
    options = {'dynamo': False} if torch.__version__ >= '2' else {}
    torch.onnx.export(net, torch.zeros(1, 3, HEIGHT, WIDTH), str(path), input_names=['picture'], output_names=['boxes'],
                      opset_version=13, **options)
    model = onnx.load(str(path))
    for node in model.graph.node:      # '/mix2/wide/conv/Conv' -> 'mix2_wide_conv'
        words = node.name.strip('/').split('/')
        node.name = '_'.join(words[:-1] if words[0] in dict(net.named_children()) else words)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def write_png(path, picture):
    """A picture (3,h,w) of bytes."""
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))

    rows = picture.permute(1, 2, 0).to(torch.int16).numpy()
    rows = np.concatenate([rows[:, :1], np.diff(rows, axis=1)], 1).astype(np.uint8)  # PNG's filter 1: differences
    data = b''.join(b'\1' + row.tobytes() for row in rows)
    path.write_bytes(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', WIDTH, HEIGHT, 8, 2, 0, 0, 0)) +
                     chunk(b'IDAT', zlib.compress(data, 9)) + chunk(b'IEND', b''))


def write_scenes(net, folder, n=2):
    """Pictures, their objects, and what the network says of them, computed in float64."""
    pictures, kinds, boxes = scenes(n)
    pictures = (pictures * 255).round()
    (folder / 'scenes').mkdir(exist_ok=True)
    for k, picture in enumerate(pictures):
        write_png(folder / 'scenes' / f'{k}.png', picture)
    objects = {f'{i}.png': [{'label': LABELS[kind], 'box': [round(x, 1) for x in box.tolist()]}
                            for kind, box in zip(kinds[i], boxes[i]) if kind >= 0] for i in range(n)}
    (folder / 'scenes.json').write_text(json.dumps(objects) + '\n')
    with torch.no_grad():
        np.save(folder / 'detector_out.npy', net.double()(pictures.double() / 255).float().numpy())


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=pathlib.Path, default=here, help='folder for the files (default: beside this script)')
    parser.add_argument('--steps', type=int, default=4000)
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(2)
    net = Detector()
    train(net, args.steps)
    torch.manual_seed(2)
    mean, precision, recall = tested(net)
    print(f'500 test scenes: mAP@0.5 {mean:.3f}; precision {precision:.3f} and recall {recall:.3f} at a score of 0.5')
    if mean < 0.9:
        raise SystemExit('less than 0.9: not written')
    args.out.mkdir(parents=True, exist_ok=True)
    export(net, args.out / 'detector.onnx')
    (args.out / 'labels.txt').write_text(''.join(f'{label}\n' for label in LABELS))
    torch.manual_seed(34)  # which gives scenes with all kinds of objects
    write_scenes(net, args.out)


if __name__ == '__main__':
    main()
