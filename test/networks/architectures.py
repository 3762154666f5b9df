"""The convolutional networks that the tests run: published ones at full size, and small ones of the same families.

A small network has the structure of its family (residual bottlenecks, dense blocks, inverted residuals, fire modules, the
five kinds of Inception blocks …) with few channels, few blocks and a small, odd-sized input, so that its files are small
enough to be committed. Works with torchvision of Debian 12 (0.14) and with the newest.
"""
import dataclasses
from typing import Callable, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision.models as zoo
from torchvision.models.inception import BasicConv2d
from torchvision.models.mobilenetv2 import InvertedResidual
from torchvision.models.squeezenet import Fire

import detectors
import images


@dataclasses.dataclass
class Network:
    """How one network is built and exported.

    opset: (TorchScript exporter, dynamo exporter), varied on purpose; keep_bn: the TorchScript exporter leaves
    BatchNormalization in the file, so that the importer has to fold it; raw: the dynamo exporter does not optimise, which
    leaves BatchNormalization and computations on shapes; free_batch: the batch is a symbolic dimension; outputs: their names;
    bias: the mean of the normalisations' biases, for networks that would amplify rounding too much with 0.
    """
    make: Callable[[], nn.Module]
    shape: Tuple[int, int, int]
    opset: Tuple[int, Optional[int]] = (13, None)
    keep_bn: bool = False
    raw: bool = False
    free_batch: bool = False
    outputs: Tuple[str, ...] = ('output',)
    bias: float = 0


def conv_bn_relu(channels_in, channels_out, kernel, stride=1, groups=1, relu=nn.ReLU):
    return [nn.Conv2d(channels_in, channels_out, kernel, stride, kernel // 2, groups=groups, bias=False),
            nn.BatchNorm2d(channels_out), relu(inplace=True)]


class Vgg(nn.Module):
    """Convolutions and pooling ('M') as listed, then three fully connected layers as VGG has them."""

    def __init__(self, stages, hidden, classes):
        super().__init__()
        layers, channels = [], 3
        for width in stages:
            if width == 'M':
                layers.append(nn.MaxPool2d(2, 2))
            else:
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)]
                channels = width
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.classifier = nn.Sequential(nn.Linear(channels * 4, hidden), nn.ReLU(True), nn.Dropout(),
                                        nn.Linear(hidden, hidden), nn.ReLU(True), nn.Dropout(), nn.Linear(hidden, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.pool(self.features(x)), 1))


class Bottleneck(nn.Module):
    """1×1, 3×3 (which carries the stride), 1×1, and the shortcut: the block of ResNet-50 and deeper."""

    def __init__(self, channels_in, width, stride):
        super().__init__()
        out = 4 * width
        self.body = nn.Sequential(*conv_bn_relu(channels_in, width, 1), *conv_bn_relu(width, width, 3, stride),
                                  nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out))
        self.shortcut = nn.Sequential()
        if stride != 1 or channels_in != out:
            self.shortcut = nn.Sequential(nn.Conv2d(channels_in, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, stem, stages, classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, stem, 7, 2, 3, bias=False), nn.BatchNorm2d(stem), nn.ReLU(True),
                                  nn.MaxPool2d(3, 2, 1))
        blocks, channels = [], stem
        for width, count, stride in stages:
            for i in range(count):
                blocks.append(Bottleneck(channels, width, stride if i == 0 else 1))
                channels = 4 * width
        self.blocks = nn.Sequential(*blocks)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.blocks(self.stem(x))), 1))


class MobileNetV1(nn.Module):
    """Depthwise 3×3 and pointwise 1×1 convolutions (arXiv 1704.04861, table 1)."""
    FULL = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]

    def __init__(self, stem=32, blocks=None, classes=1000, relu=nn.ReLU6):
        super().__init__()
        layers, channels = conv_bn_relu(3, stem, 3, 2, relu=relu), stem
        for width, stride in blocks or self.FULL:
            layers += conv_bn_relu(channels, channels, 3, stride, channels, relu) + conv_bn_relu(channels, width, 1, relu=relu)
            channels = width
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        return F.softmax(self.fc(torch.flatten(self.pool(self.features(x)), 1)), dim=1)


class MobileNetV2(nn.Module):
    """Inverted residuals with linear bottlenecks; blocks: (expansion, channels, stride)."""

    def __init__(self, stem, blocks, last, classes):
        super().__init__()
        layers, channels = conv_bn_relu(3, stem, 3, 2, relu=nn.ReLU6), stem
        for expansion, width, stride in blocks:
            layers.append(InvertedResidual(channels, width, stride, expansion))
            channels = width
        self.features = nn.Sequential(*layers, *conv_bn_relu(channels, last, 1, relu=nn.ReLU6))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, classes))

    def forward(self, x):
        return self.classifier(F.adaptive_avg_pool2d(self.features(x), (1, 1)).flatten(1))


class SqueezeNet(nn.Module):
    """Fire modules; the classifier is a convolution, its scores the means over the picture."""

    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2), nn.ReLU(True), nn.MaxPool2d(3, 2, ceil_mode=True), Fire(16, 4, 8, 8), Fire(16, 4, 8, 8),
            nn.MaxPool2d(3, 2, ceil_mode=True), Fire(16, 6, 12, 12), Fire(24, 6, 16, 16))
        self.classifier = nn.Sequential(nn.Dropout(), nn.Conv2d(32, classes, 1), nn.ReLU(True), nn.AdaptiveAvgPool2d(1))

    def forward(self, x):
        return torch.flatten(self.classifier(self.features(x)), 1)


class Inception(nn.Module):
    """One of each of Inception-v3's blocks A … E, with 5×5, 1×7 and 7×1, 1×3 and 3×1 convolutions, with enough channels for
    Winograd's algorithm."""

    def __init__(self, classes, width=16):
        super().__init__()
        w, conv = width, BasicConv2d
        self.stem = nn.Sequential(conv(3, w, kernel_size=3, stride=2), conv(w, 2 * w, kernel_size=3, padding=1))
        self.a = nn.ModuleList([
            conv(2 * w, w, kernel_size=1),
            nn.Sequential(conv(2 * w, w, kernel_size=1), conv(w, w, kernel_size=5, padding=2)),
            nn.Sequential(conv(2 * w, w, kernel_size=1), conv(w, w, kernel_size=3, padding=1), conv(w, w, kernel_size=3, padding=1)),
            conv(2 * w, w, kernel_size=1)])
        self.b = nn.ModuleList([
            conv(4 * w, w, kernel_size=3, stride=2),
            nn.Sequential(conv(4 * w, w, kernel_size=1), conv(w, w, kernel_size=3, padding=1), conv(w, w, kernel_size=3, stride=2))])
        c_in = 6 * w
        self.c = nn.ModuleList([
            conv(c_in, w, kernel_size=1),
            nn.Sequential(conv(c_in, w, kernel_size=1), conv(w, w, kernel_size=(1, 7), padding=(0, 3)),
                          conv(w, w, kernel_size=(7, 1), padding=(3, 0))),
            conv(c_in, w, kernel_size=1)])
        self.d = nn.Sequential(conv(3 * w, w, kernel_size=1), conv(w, w, kernel_size=(1, 7), padding=(0, 3)),
                               conv(w, w, kernel_size=3, stride=2))
        self.e1 = conv(4 * w, w, kernel_size=1)
        self.e3, self.e3a, self.e3b = (conv(4 * w, w, kernel_size=1), conv(w, w, kernel_size=(1, 3), padding=(0, 1)),
                                       conv(w, w, kernel_size=(3, 1), padding=(1, 0)))
        self.fc = nn.Linear(7 * w, classes)

    def forward(self, x):
        x = self.stem(x)
        one, five, three, pooled = self.a
        x = torch.cat([one(x), five(x), three(x), pooled(F.avg_pool2d(x, 3, 1, 1))], 1)
        x = torch.cat([branch(x) for branch in self.b] + [F.max_pool2d(x, 3, 2)], 1)
        one, seven, pooled = self.c
        x = torch.cat([one(x), seven(x), pooled(F.avg_pool2d(x, 3, 1, 1))], 1)
        x = torch.cat([self.d(x), F.max_pool2d(x, 3, 2)], 1)
        y = self.e3(x)
        x = torch.cat([self.e1(x), torch.cat([self.e3a(y), self.e3b(y)], 1), F.max_pool2d(x, 3, 1, 1)], 1)
        return self.fc(torch.flatten(F.dropout(F.adaptive_avg_pool2d(x, 1), training=self.training), 1))


class Yolo(nn.Module):
    """Darknet's convolutions with batch normalisation and leaky ReLU of 0.1, and 2×2 pooling ('M')."""
    FULL = [(32, 3), 'M', (64, 3), 'M', (128, 3), (64, 1), (128, 3), 'M', (256, 3), (128, 1), (256, 3), 'M',
            (512, 3), (256, 1), (512, 3), (256, 1)]  # layers 0 … 15 of yolov2.cfg

    def __init__(self, layers=None):
        super().__init__()
        made, channels = [], 3
        for layer in layers or self.FULL:
            if layer == 'M':
                made.append(nn.MaxPool2d(2, 2))
            else:
                width, kernel = layer
                made += [nn.Conv2d(channels, width, kernel, 1, kernel // 2, bias=False), nn.BatchNorm2d(width),
                         nn.LeakyReLU(0.1, inplace=True)]
                channels = width
        self.features = nn.Sequential(*made)

    def forward(self, x):
        return self.features(x)


class LocalResponseNorm(torch.autograd.Function):
    """Exported as ONNX's LRN; PyTorch's exporters would write some ten other operators."""

    @staticmethod
    def forward(ctx, x):
        return F.local_response_norm(x, 5, alpha=0.3, beta=0.6, k=1.5)

    @staticmethod
    def symbolic(g, x):
        return g.op('LRN', x, size_i=5, alpha_f=0.3, beta_f=0.6, bias_f=1.5)


def local_response_norm(x):
    if hasattr(torch, 'compiler') and torch.compiler.is_exporting():    # dynamo
        return torch.onnx.ops.symbolic('LRN', (x,), {'size': 5, 'alpha': 0.3, 'beta': 0.6, 'bias': 1.5}, dtype=x.dtype,
                                       shape=x.shape, version=13)
    return LocalResponseNorm.apply(x)


class Operators(nn.Module):
    """Not a published network: it has the operators that the families above lack, with uncommon attributes."""

    def __init__(self, classes=7):
        super().__init__()
        self.first = nn.Conv2d(3, 16, (3, 4), (2, 1), (1, 2), bias=False)
        self.bn = nn.BatchNorm2d(16)
        self.dilated = nn.Conv2d(16, 16, 3, padding=2, dilation=2, groups=16)
        self.grouped = nn.Conv2d(8, 12, 3, 2, 1, groups=2)
        self.squeeze, self.excite = nn.Conv2d(20, 6, 1), nn.Conv2d(6, 20, 1)
        self.mix = nn.Linear(20, 10, bias=False)
        self.scale = nn.Parameter(torch.rand(10, 1, 1) + 0.5)
        self.last_bn = nn.BatchNorm2d(10)
        self.fc = nn.Linear(10, classes)

    def forward(self, x):
        x = F.pad(x, (1, 2, 0, 3), value=0.25)                              # Pad
        x = F.hardswish(self.bn(self.first(x)))
        x = local_response_norm(x)                                          # LRN
        x = x * torch.sigmoid(self.dilated(x))
        n, c, h, w = x.shape
        x = x.reshape(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)    # channel shuffle: Reshape, Transpose
        left, right = x[:, :8], x[:, 8:]                                    # Slice
        left = self.grouped(left)
        right = F.avg_pool2d(right, 3, 2, 1, ceil_mode=True, count_include_pad=False)
        x = torch.cat([left, right[:, :, :left.shape[2], :left.shape[3]]], 1)
        gate = F.relu(self.squeeze(x.mean((2, 3), keepdim=True)))           # ReduceMean
        x = x * F.hardsigmoid(self.excite(gate))                            # broadcast between tensors
        x = F.max_pool2d(torch.clamp(x, -1.5, 2.0), 2, 2, ceil_mode=True)   # Clip, unbounded edge windows
        x = self.mix(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)             # Transpose, MatMul by a constant
        x = self.last_bn(torch.tanh(x * self.scale - 0.125) / 1.75)         # Mul, Sub, Div; BatchNormalization that stays
        x = x[:, :, 1:, ::2] + F.avg_pool2d(x, (2, 1), 1)[:, :, :, ::2]     # Slice with a step
        return torch.softmax(self.fc(x.mean((2, 3))), 1)


def segmentation(make):
    return images.Segmentation(make(weights=None, weights_backbone=None))


FULL = {
    'vgg19': Network(lambda: zoo.vgg19(weights=None, init_weights=False), (3, 224, 224), (9, None)),
    'resnet18': Network(lambda: zoo.resnet18(weights=None), (3, 224, 224), (11, None)),
    'resnet50': Network(lambda: zoo.resnet50(weights=None), (3, 224, 224), (13, None)),
    'resnet101': Network(lambda: zoo.resnet101(weights=None), (3, 224, 224), (13, None), keep_bn=True),
    'densenet121': Network(lambda: zoo.densenet121(weights=None), (3, 224, 224), (14, None)),
    'mobilenet_v1': Network(MobileNetV1, (3, 224, 224), (12, 20), keep_bn=True),
    'mobilenet_v2': Network(lambda: zoo.mobilenet_v2(weights=None), (3, 224, 224), (10, 21), free_batch=True),
    'squeezenet1_1': Network(lambda: zoo.squeezenet1_1(weights=None), (3, 224, 224), (7, None)),
    'inception_v3': Network(lambda: zoo.inception_v3(weights=None, aux_logits=False, transform_input=False, init_weights=False),
                            (3, 299, 299), (17, 23)),
    'yolov2_16': Network(Yolo, (3, 608, 608), (13, None), keep_bn=True),
    'efficientnet_b0': Network(lambda: zoo.efficientnet_b0(weights=None), (3, 224, 224), (13, None), free_batch=True),
    'mobilenet_v3_small': Network(lambda: zoo.mobilenet_v3_small(weights=None), (3, 224, 224), (12, 20)),
    'mobilenet_v3_large': Network(lambda: zoo.mobilenet_v3_large(weights=None), (3, 224, 224), (14, None), keep_bn=True),
    'shufflenet_v2': Network(lambda: zoo.shufflenet_v2_x1_0(weights=None), (3, 224, 224), (11, None), free_batch=True),
    'mnasnet': Network(lambda: zoo.mnasnet1_0(weights=None), (3, 224, 224), (9, 22)),
    'googlenet': Network(lambda: zoo.googlenet(weights=None, aux_logits=False, transform_input=True, init_weights=False),
                         (3, 224, 224), (10, None)),
    'resnext50': Network(lambda: zoo.resnext50_32x4d(weights=None), (3, 224, 224), (15, None)),
    'regnet_y_400mf': Network(lambda: zoo.regnet_y_400mf(weights=None), (3, 224, 224), (16, 21)),
    'regnet_x_400mf': Network(lambda: zoo.regnet_x_400mf(weights=None), (3, 224, 224), (13, None), raw=True),
    'convnext_tiny': Network(lambda: zoo.convnext_tiny(weights=None), (3, 224, 224), (17, None)),
    'vit_b_16': Network(lambda: zoo.vit_b_16(weights=None), (3, 224, 224), (14, None)),
    'swin_t': Network(lambda: zoo.swin_t(weights=None), (3, 224, 224), (16, None)),
    'unet': Network(lambda: images.UNet(False), (3, 256, 256), (12, None), keep_bn=True),
    'unet_bilinear': Network(lambda: images.UNet(True), (3, 256, 256), (13, None)),
    'deeplab_v3': Network(lambda: segmentation(zoo.segmentation.deeplabv3_resnet50), (3, 320, 320), (11, None)),
    'fcn': Network(lambda: segmentation(zoo.segmentation.fcn_resnet50), (3, 256, 256), (14, 20), bias=0.6),
    'lraspp': Network(lambda: segmentation(zoo.segmentation.lraspp_mobilenet_v3_large), (3, 256, 256), (13, None)),
    'espcn': Network(lambda: images.Espcn(3), (1, 224, 224), (11, None), free_batch=True),
    'ssdlite': Network(detectors.SsdLite, (3, 320, 320), (11, None), outputs=('boxes', 'scores'), bias=0.6),
    'yolo_v3': Network(lambda: detectors.YoloV3(416), (3, 416, 416), (11, None), outputs=('boxes', 'scores'), bias=0.6),
    'yolo_v5n': Network(lambda: detectors.yolo_v5n(640), (3, 640, 640), (12, None), outputs=('boxes', 'scores'), bias=0.6),
    'yolo_v8n': Network(lambda: detectors.yolo_v8n(640), (3, 640, 640), (17, 19), outputs=('boxes', 'scores'), bias=0.6),
    'yolo_11n': Network(lambda: detectors.yolo_11n(640), (3, 640, 640), (17, None), outputs=('boxes', 'scores'), bias=0.6),
}

SMALL = {
    'vgg': Network(lambda: Vgg([8, 'M', 16, 16, 'M', 24, 24, 'M'], 48, 10), (3, 32, 32), (9, None)),
    'resnet': Network(lambda: ResNet(12, [(6, 2, 1), (10, 2, 2)], 10), (3, 45, 51), (11, None), keep_bn=True),
    'densenet': Network(lambda: zoo.DenseNet(6, (3, 3), 12, bn_size=2, num_classes=10), (3, 40, 40), (13, None)),
    'mobilenet_v1': Network(lambda: MobileNetV1(8, [(16, 1), (24, 2), (24, 1), (40, 2)], 10), (3, 40, 36), (14, 20),
                            keep_bn=True, raw=True),
    'mobilenet_v2': Network(lambda: MobileNetV2(8, [(1, 8, 1), (6, 12, 2), (6, 12, 1), (4, 20, 2), (4, 20, 1)], 48, 10),
                            (3, 37, 33), (12, 21), free_batch=True),
    'squeezenet': Network(lambda: SqueezeNet(10), (3, 44, 44), (7, None)),
    'inception': Network(lambda: Inception(10), (3, 43, 43), (16, 23)),
    'yolo': Network(lambda: Yolo([(8, 3), 'M', (16, 3), 'M', (24, 3), (12, 1), (24, 3), 'M', (32, 3), (16, 1)]), (3, 48, 40),
                    (10, None), keep_bn=True),
    'operators': Network(Operators, (3, 38, 33), (17, None)),
    'segmentation': Network(lambda: images.Labels(images.UNet(False, 5, (8, 16, 24))), (3, 28, 36), (13, None)),
}
