#!/usr/bin/env python3
"""Train the small network of this example and write digits.onnx, digits_in.npy, digits_out.npy and labels.txt.

    train.py [--out DIR] [--epochs N]

Needs PyTorch, scikit-learn and ONNX (Debian: python3-torch python3-sklearn python3-onnx). Takes some ten seconds on one
core. The data are UCI's "Optical Recognition of Handwritten Digits" as scikit-learn ships them: 1797 pictures of 8×8 pixels
with 16 levels. A fifth of each class, chosen with a fixed seed, is kept for the test and never used for training.
"""
import argparse
import collections
import pathlib

import numpy as np
import onnx
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

NAMES = 'zero one two three four five six seven eight nine'.split()


def network():
    """Scores (n,10) of pictures (n,1,8,8) with values 0 … 1; the names of the layers become those in digits.hpp."""
    layers = nn.Sequential()
    channels = 1
    for number, width in enumerate([16, 32, 64], 1):
        layers.add_module(f'conv{number}', nn.Conv2d(channels, width, 3, padding=1, bias=False))
        layers.add_module(f'bn{number}', nn.BatchNorm2d(width))
        layers.add_module(f'relu{number}', nn.ReLU())
        if number > 1:
            layers.add_module(f'pool{number}', nn.MaxPool2d(2))
        channels = width
    layers.add_module('flatten', nn.Flatten())
    layers.add_module('fc1', nn.Linear(channels * 4, 64))
    layers.add_module('relu4', nn.ReLU())
    layers.add_module('dropout', nn.Dropout(0.3))
    layers.add_module('fc2', nn.Linear(64, 10))
    return layers


def shifted(pictures):
    """Every picture moved by −1, 0 or 1 pixel in each direction."""
    padded = F.pad(pictures, (1, 1, 1, 1))
    rows, columns = torch.randint(0, 3, (2, len(pictures)))
    return torch.stack([p[:, r:r + 8, c:c + 8] for p, r, c in zip(padded, rows, columns)])


def train(net, pictures, labels, epochs):
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
    batches = (len(pictures) + 63) // 64
    rate = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=epochs * batches)
    net.train()
    for _ in range(epochs):
        for chosen in torch.randperm(len(pictures)).split(64):
            optimiser.zero_grad()
            F.cross_entropy(net(shifted(pictures[chosen])), labels[chosen]).backward()
            optimiser.step()
            rate.step()
    net.eval()


def export(net, path):
    """Write the ONNX file, its nodes named like the network's layers."""
    options = {'dynamo': False} if torch.__version__ >= '2' else {}
    torch.onnx.export(net, torch.zeros(1, 1, 8, 8), str(path), input_names=['picture'], output_names=['scores'],
                      opset_version=13, **options)
    model = onnx.load(str(path))
    for node in model.graph.node:      # '/conv1/Conv' -> 'conv1'
        node.name = node.name.strip('/').split('/')[0]
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', type=pathlib.Path, default=here, help='folder for the files (default: beside this script)')
    parser.add_argument('--epochs', type=int, default=60)
    args = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    data = load_digits()
    pictures = torch.tensor(data.images / 16, dtype=torch.float32)[:, None]
    labels = torch.tensor(data.target)
    train_x, test_x, train_y, test_y = train_test_split(pictures, labels, test_size=0.2, random_state=1, stratify=labels)
    scores = network()
    train(scores, train_x, train_y, args.epochs)
    net = nn.Sequential(collections.OrderedDict([*scores.named_children(), ('softmax', nn.Softmax(dim=1))])).eval()
    with torch.no_grad():
        right = int((net(test_x).argmax(1) == test_y).sum())
        given, wanted = test_x[:16], net.double()(test_x[:16].double()).float()
        net.float()
    print(f'{right} of {len(test_y)} test pictures are recognised: {100 * right / len(test_y):.2f} %')
    if right < 0.97 * len(test_y):
        raise SystemExit('fewer than 97 %: not written')
    args.out.mkdir(parents=True, exist_ok=True)
    export(net, args.out / 'digits.onnx')
    np.save(args.out / 'digits_in.npy', given.numpy())
    np.save(args.out / 'digits_out.npy', wanted.numpy())
    (args.out / 'labels.txt').write_text(''.join(f'{name}\n' for name in NAMES))
    print('the pictures in digits_in.npy show', ' '.join(NAMES[label] for label in test_y[:16]))
    print('the network reads them as         ', ' '.join(NAMES[label] for label in wanted.argmax(1)))


if __name__ == '__main__':
    main()
