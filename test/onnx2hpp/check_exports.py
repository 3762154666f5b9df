"""Exports torchvision's networks with seeded weights in many forms, converts them, and compares with PyTorch.

  check_exports.py ONNX2HPP [NAME…]      needs torch, torchvision and onnx (Debian: python3-torchvision python3-onnx)
"""
import os
import subprocess
import sys
import tempfile
import warnings
from typing import List

import numpy as np
import torch
import torchvision.models as tv
from torch import nn

import evaluate

warnings.filterwarnings('ignore')
torch.set_num_threads(2)


class Shuffle(nn.Module):
    """Shapes computed at run time, and views of all kinds."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, 2), nn.Conv2d(4, 8, 3, padding=1, groups=2)
        self.norm, self.fc = nn.BatchNorm2d(8), nn.Linear(8, 5)

    def forward(self, x):
        y = self.first(x)
        n, c, h, w = y.shape
        y = y.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)
        a, b = y[:, :c // 2], y[:, c // 2:, :, :]
        y = self.norm(self.second(a - b * 0.5))
        y = nn.functional.pad(y, (1, 2, 0, 1), mode='reflect')
        y = nn.functional.leaky_relu(y, 0.1) / (1 + torch.arange(8.0).view(-1, 1, 1))
        y = nn.functional.avg_pool2d(y, 3, 2, ceil_mode=True, count_include_pad=False)
        y = y.mean((2, 3)).squeeze()
        return torch.softmax(self.fc(torch.tanh(y).reshape(n, -1)), -1)


class Sequence(nn.Module):
    """Tensors of rank 3: convolutions and pools over one axis, and a matrix product of many rows."""

    def __init__(self):
        super().__init__()
        self.conv, self.pool, self.fc = nn.Conv1d(4, 6, 5, 2, 2, dilation=2), nn.MaxPool1d(3, 2, 1), nn.Linear(6, 3)

    def forward(self, x):
        y = self.pool(torch.sigmoid(self.conv(x)))
        return self.fc(y.permute(0, 2, 1)).clamp(-0.5, 0.5)


class Decoder(nn.Module):
    """Operators that enlarge pictures: nearest neighbours by factor or by size, depth to space."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Conv2d(3, 12, 3, 2, 1), nn.Conv2d(12, 12, 3, padding=1), nn.Conv2d(3, 3, 1)

    def forward(self, x):
        y = nn.functional.elu(self.first(x), 0.7)
        y = nn.functional.interpolate(y, scale_factor=2, mode='nearest')
        y = self.second(nn.functional.pixel_unshuffle(y[:, :3], 2))
        y = nn.functional.interpolate(y, size=(y.shape[2] * 3, y.shape[3] * 2), mode='nearest')
        return self.last(nn.functional.pixel_shuffle(y, 2))


class Flow(nn.Module):
    """Branches by a shape, and loops that append to a list: If and Loop, if it is scripted."""

    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 3, 3, padding=1), nn.Linear(8, 8)

    def forward(self, x):
        y = self.conv(x) if x.shape[1] == 3 else x
        state, outs = y[:, 0, 0], torch.jit.annotate(List[torch.Tensor], [])
        for t in range(y.size(2)):
            state = torch.tanh(self.fc(y[:, 0, t]) + state)
            if t % 2 == 0:
                outs.append(state)
            else:
                outs.append(y[:, 1, t] * t)
        i = 0
        while i < 3:
            state = torch.relu(state) - i
            i += 2
        return torch.cat([torch.stack(outs, 1), state.unsqueeze(1)], 1)


NETWORKS = {
    'resnet18': (lambda: tv.resnet18(weights=None), (3, 64, 64)),
    'mobilenet_v2': (lambda: tv.mobilenet_v2(weights=None), (3, 64, 64)),
    'mobilenet_v3_small': (lambda: tv.mobilenet_v3_small(weights=None), (3, 64, 64)),
    'densenet121': (lambda: tv.densenet121(weights=None), (3, 64, 64)),
    'squeezenet1_1': (lambda: tv.squeezenet1_1(weights=None), (3, 65, 65)),
    'inception_v3': (lambda: tv.inception_v3(weights=None, aux_logits=False, transform_input=True, init_weights=False),
                     (3, 139, 139)),
    'googlenet': (lambda: tv.googlenet(weights=None, aux_logits=False, transform_input=False, init_weights=False),
                  (3, 64, 64)),
    'efficientnet_b0': (lambda: tv.efficientnet_b0(weights=None), (3, 64, 64)),
    'shuffle': (Shuffle, (3, 15, 14)),
    'sequence': (Sequence, (4, 50)),
    'decoder': (Decoder, (3, 16, 12)),
    'flow': (lambda: torch.jit.script(Flow()), (3, 5, 8)),
}


def build(name):
    torch.manual_seed(7)
    make, shape = NETWORKS[name]
    net = make()
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            nn.init.uniform_(m.weight, 0.6, 1.4), nn.init.normal_(m.bias, 0, 0.2)
            m.running_mean.normal_(0, 0.3), m.running_var.uniform_(0.5, 1.5)
    return net.eval(), torch.randn(2, *shape)


def check(tool, name, opset, dynamic, fold, keep):
    net, x = build(name)
    with torch.no_grad():
        expected = torch.cat([net(x[i:i + 1]) for i in range(2)]).numpy()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'net.onnx')
        try:
            torch.onnx.export(net, x[:1], file, opset_version=opset, input_names=['input'], output_names=['output'],
                              do_constant_folding=fold, dynamic_axes={'input': {0: 'batch'}} if dynamic else None,
                              training=torch.onnx.TrainingMode.PRESERVE if keep else torch.onnx.TrainingMode.EVAL)
        except Exception:  # the exporter's own limits at low opsets
            return 'not exported'
        options = ['--no-fold'] if keep and opset % 2 else []
        done = subprocess.run([tool, file, '-q', '-o', folder] + options, capture_output=True, text=True)
        if done.returncode:
            return done.stderr.splitlines()[0]
        header = os.path.join(folder, 'net.hpp')
        found = np.concatenate([evaluate.evaluate(header, [x[i:i + 1].numpy()])[0] for i in range(2)])
        wrong = evaluate.error(found, expected)
        return None if wrong <= 1e-4 else f'differs by {wrong:.1e}'


def main():
    tool, failures, count = sys.argv[1], 0, 0
    for name in sys.argv[2:] or NETWORKS:
        for opset in range(9, 18):
            keep = opset % 2 == 0 or opset == 11
            result = check(tool, name, opset, dynamic=opset % 3 == 0, fold=opset % 4 != 1, keep=keep)
            count += 1
            if result and result != 'not exported':
                failures += 1
            if result:
                print(f'{name}, opset {opset}: {result}', flush=True)
    print(f'{count - failures} of {count} exports are equal')
    sys.exit(failures > 0)


if __name__ == '__main__':
    main()
