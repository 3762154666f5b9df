"""Detectors at full size, up to where NonMaxSuppression begins: boxes and the scores of their classes.

YOLO-v3 is arXiv 1804.02767; v5n, v8n and 11n have the layers, widths and depths of their published configurations.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision.models as zoo
from torchvision.models.detection.image_list import ImageList

CLASSES = 80
ANCHORS = [[(10, 13), (16, 30), (33, 23)], [(30, 61), (62, 45), (59, 119)], [(116, 90), (156, 198), (373, 326)]]


def cells(size, stride):
    """The columns and rows of a grid's cells, (2, size/stride, size/stride)."""
    at = torch.arange(size // stride, dtype=torch.float32)
    return torch.stack([at.expand(len(at), -1), at[:, None].expand(-1, len(at))])


def corners(centre, extent):
    return torch.cat([centre - extent / 2, centre + extent / 2], -1)


class Conv(nn.Sequential):
    """Convolution, batch normalisation, activation."""

    def __init__(self, channels_in, channels_out, kernel=1, stride=1, groups=1, act=nn.SiLU, pad=None):
        pad = kernel // 2 if pad is None else pad
        layers = [nn.Conv2d(channels_in, channels_out, kernel, stride, pad, groups=groups, bias=False),
                  nn.BatchNorm2d(channels_out)]
        super().__init__(*layers, *([act()] if act else []))


def leaky():
    return nn.LeakyReLU(0.1)


class Bottleneck(nn.Module):
    """Two convolutions and, with `add`, the input."""

    def __init__(self, width, inner, kernels, add, act=nn.SiLU):
        super().__init__()
        self.body = nn.Sequential(Conv(width, inner, kernels[0], act=act), Conv(inner, width, kernels[1], act=act))
        self.add = add

    def forward(self, x):
        return x + self.body(x) if self.add else self.body(x)


class Anchored(nn.Module):
    """Detects at three anchors for each cell of three grids. `squared`: v5's sizes (2σ)² and centres 2σ - ½, else v3's exp and
    σ."""

    def __init__(self, widths, size, squared):
        super().__init__()
        self.heads = nn.ModuleList(nn.Conv2d(width, 3 * (5 + CLASSES), 1) for width in widths)
        self.strides, self.squared = [8, 16, 32], squared
        for i, stride in enumerate(self.strides):
            shift = 0.5 if squared else 0.0
            self.register_buffer(f'cells{i}', cells(size, stride).permute(1, 2, 0)[None, None] - shift)
            self.register_buffer(f'anchors{i}', torch.tensor(ANCHORS[i], dtype=torch.float32).view(1, 3, 1, 1, 2))

    def forward(self, maps):
        found = []
        for i, (head, x) in enumerate(zip(self.heads, maps)):
            x = head(x)
            n, _, height, width = x.shape
            x = x.view(n, 3, 5 + CLASSES, height, width).permute(0, 1, 3, 4, 2)
            grid, anchors = getattr(self, f'cells{i}'), getattr(self, f'anchors{i}')
            if self.squared:
                centre, extent, scores = x.sigmoid().split((2, 2, 1 + CLASSES), 4)
                centre, extent = (centre * 2 + grid) * self.strides[i], (extent * 2) ** 2 * anchors
            else:
                centre = (x[..., :2].sigmoid() + grid) * self.strides[i]
                extent, scores = x[..., 2:4].exp() * anchors, x[..., 4:].sigmoid()
            found.append(torch.cat([centre, extent, scores], 4).view(n, -1, 5 + CLASSES))
        found = torch.cat(found, 1)
        return corners(found[..., :2], found[..., 2:4]), (found[..., 5:] * found[..., 4:5]).transpose(1, 2)


class YoloV3(nn.Module):
    """Darknet-53 and a pyramid of three maps."""

    def __init__(self, size):
        super().__init__()
        stages, channels = [], 32
        for i, count in enumerate((1, 2, 8, 8, 4)):
            width = 64 << i
            stages.append(nn.Sequential(Conv(channels, width, 3, 2, act=leaky),
                                        *(Bottleneck(width, width // 2, (1, 3), True, leaky) for _ in range(count))))
            channels = width
        self.stem, self.stages = Conv(3, 32, 3, act=leaky), nn.ModuleList(stages)
        self.fives, self.threes, self.ups = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        for channels_in, width in ((1024, 512), (768, 256), (384, 128)):
            layers = [Conv(channels_in, width, act=leaky)]
            for _ in range(2):
                layers += [Conv(width, 2 * width, 3, act=leaky), Conv(2 * width, width, act=leaky)]
            self.fives.append(nn.Sequential(*layers))
            self.threes.append(Conv(width, 2 * width, 3, act=leaky))
            if width > 128:
                self.ups.append(nn.Sequential(Conv(width, width // 2, act=leaky), nn.Upsample(scale_factor=2)))
        self.detect = Anchored((256, 512, 1024), size, False)

    def forward(self, x):
        maps = [self.stem(x)]
        for stage in self.stages:
            maps.append(stage(maps[-1]))
        x, found = maps[5], []
        for i in range(3):
            if i:
                x = torch.cat([self.ups[i - 1](x), maps[5 - i]], 1)
            x = self.fives[i](x)
            found.insert(0, self.threes[i](x))
        return self.detect(found)


class C3(nn.Module):
    """Two branches, one of bottlenecks, joined."""

    def __init__(self, channels_in, channels_out, count, add=True, kernels=(1, 3)):
        super().__init__()
        width = channels_out // 2
        self.deep = nn.Sequential(Conv(channels_in, width), *(Bottleneck(width, width, kernels, add) for _ in range(count)))
        self.flat, self.join = Conv(channels_in, width), Conv(2 * width, channels_out)

    def forward(self, x):
        return self.join(torch.cat([self.deep(x), self.flat(x)], 1))


class C2f(nn.Module):
    """Halves; each block continues the last one, and all are joined."""

    def __init__(self, channels_in, channels_out, count, block, part=0.5):
        super().__init__()
        width = int(channels_out * part)
        self.first, self.join = Conv(channels_in, 2 * width), Conv((2 + count) * width, channels_out)
        self.blocks = nn.ModuleList(block(width) for _ in range(count))

    def forward(self, x):
        parts = list(self.first(x).chunk(2, 1))
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.join(torch.cat(parts, 1))


class SPPF(nn.Module):
    """Spatial pyramid pooling: one pooling, three times."""

    def __init__(self, channels):
        super().__init__()
        self.first, self.join = Conv(channels, channels // 2), Conv(2 * channels, channels)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        parts = [self.first(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.join(torch.cat(parts, 1))


class Attention(nn.Module):
    """Self-attention over all places of a map, with a depthwise convolution for their positions."""

    def __init__(self, channels):
        super().__init__()
        self.heads, self.key = channels // 64, 32
        self.qkv, self.position = Conv(channels, 2 * channels, act=None), Conv(channels, channels, 3, groups=channels, act=None)
        self.project = Conv(channels, channels, act=None)

    def forward(self, x):
        n, channels, height, width = x.shape
        q, k, v = self.qkv(x).view(n, self.heads, 4 * self.key, height * width).split((self.key, self.key, 2 * self.key), 2)
        weights = (q.transpose(-2, -1) @ k * self.key ** -0.5).softmax(-1)
        y = (v @ weights.transpose(-2, -1)).view(n, channels, height, width)
        return self.project(y + self.position(v.reshape(n, channels, height, width)))


class C2PSA(nn.Module):
    def __init__(self, channels):
        super().__init__()
        width = channels // 2
        self.first, self.join, self.attention = Conv(channels, channels), Conv(channels, channels), Attention(width)
        self.feed = nn.Sequential(Conv(width, 2 * width), Conv(2 * width, width, act=None))

    def forward(self, x):
        a, b = self.first(x).chunk(2, 1)
        b = b + self.attention(b)
        return self.join(torch.cat([a, b + self.feed(b)], 1))


class Distances(nn.Module):
    """v8's and 11's head: each side's distance is the mean of a distribution over `bins` values (DFL)."""

    def __init__(self, widths, size, light, classes=CLASSES, bins=16):
        super().__init__()
        self.kinds, self.bins = classes, bins
        boxes, inner = max(16, widths[0] // 4, 4 * bins), max(widths[0], classes)
        self.boxes = nn.ModuleList(nn.Sequential(Conv(w, boxes, 3), Conv(boxes, boxes, 3), nn.Conv2d(boxes, 4 * bins, 1))
                                   for w in widths)
        self.classes = nn.ModuleList(
            nn.Sequential(Conv(w, w, 3, groups=w), Conv(w, inner), Conv(inner, inner, 3, groups=inner),
                          Conv(inner, inner), nn.Conv2d(inner, classes, 1)) if light else
            nn.Sequential(Conv(w, inner, 3), Conv(inner, inner, 3), nn.Conv2d(inner, classes, 1)) for w in widths)
        self.mean = nn.Conv2d(bins, 1, 1, bias=False)
        self.mean.constant = torch.arange(bins, dtype=torch.float32).view(1, bins, 1, 1)
        self.mean.weight.data.copy_(self.mean.constant)
        strides = (8, 16, 32)
        self.register_buffer('points', torch.cat([cells(size, s).flatten(1) + 0.5 for s in strides], 1)[None])
        self.register_buffer('strides', torch.cat([torch.full((1, (size // s) ** 2), float(s)) for s in strides], 1))

    def forward(self, maps):
        x = torch.cat([torch.cat([b(m), c(m)], 1).flatten(2) for b, c, m in zip(self.boxes, self.classes, maps)], 2)
        sides, scores = x.split((4 * self.bins, self.kinds), 1)
        n, _, count = sides.shape
        sides = self.mean(sides.view(n, 4, self.bins, count).transpose(2, 1).softmax(1)).view(n, 4, count)
        near, far = sides.chunk(2, 1)
        near, far = self.points - near, self.points + far
        found = torch.cat([torch.cat([(near + far) / 2, far - near], 1) * self.strides, scores.sigmoid()], 1)
        boxes = found[:, :4].transpose(1, 2)
        return corners(boxes[..., :2], boxes[..., 2:]), found[:, 4:]


class Pyramid(nn.Module):
    """The layers of v5, v8 and 11. block(i, in, out) is the i-th stage: 0 … 3 on the way down, to `outs` channels, then 4 … 7.
    `reduce`: v5's convolutions before each interpolation. `widths`: the channels of the four sizes of maps."""

    def __init__(self, stem, block, outs, after, reduce, detect, widths=(32, 64, 128, 256)):
        super().__init__()
        first, small, medium, large = widths
        self.stem = stem
        self.reduce = nn.ModuleList([Conv(large, medium), Conv(medium, small)]) if reduce else None
        self.stages = nn.ModuleList(block(i, w, out) for i, (w, out) in enumerate(zip(widths, outs)))
        self.down = nn.ModuleList(Conv(a, b, 3, 2) for a, b in zip((first // 2,) + outs, widths))
        self.after, self.up = after, nn.Upsample(scale_factor=2)
        top, bottom = (medium, small) if reduce else (outs[3], medium)
        self.joins = nn.ModuleList([block(4, top + outs[2], medium), block(5, bottom + outs[1], small),
                                    block(6, small + bottom, medium), block(7, medium + top, large)])
        self.again = nn.ModuleList([Conv(small, small, 3, 2), Conv(medium, medium, 3, 2)])
        self.detect = detect

    def forward(self, x):
        maps = [self.stem(x)]
        for down, stage in zip(self.down, self.stages):
            maps.append(stage(down(maps[-1])))
        top = self.after(maps[4])
        if self.reduce:
            top = self.reduce[0](top)
        middle = self.joins[0](torch.cat([self.up(top), maps[3]], 1))
        if self.reduce:
            middle = self.reduce[1](middle)
        small = self.joins[1](torch.cat([self.up(middle), maps[2]], 1))
        medium = self.joins[2](torch.cat([self.again[0](small), middle], 1))
        large = self.joins[3](torch.cat([self.again[1](medium), top], 1))
        return self.detect([small, medium, large])


def yolo_v5n(size):
    def block(i, width_in, width):
        return C3(width_in, width, (1, 2, 3, 1, 1, 1, 1, 1)[i], i < 4)
    return Pyramid(Conv(3, 16, 6, 2, pad=2), block, (32, 64, 128, 256), SPPF(256), True, Anchored((64, 128, 256), size, True))


def yolo_v8n(size, classes=CLASSES, thin=1, bins=16):
    """`thin`: a fraction of the channels, for tests."""
    widths = tuple(w // thin for w in (32, 64, 128, 256))

    def block(i, width_in, width):
        return C2f(width_in, width, (1, 2, 2, 1, 1, 1, 1, 1)[i], lambda w: Bottleneck(w, w, (3, 3), i < 4))
    return Pyramid(Conv(3, widths[0] // 2, 3, 2), block, widths, SPPF(widths[3]), False,
                   Distances(widths[1:], size, False, classes, bins), widths)


def yolo_11n(size):
    def block(i, width_in, width):
        nested = i in (2, 3, 7)
        return C2f(width_in, width, 1, lambda w: C3(w, w, 2, kernels=(3, 3)) if nested else Bottleneck(w, w // 2, (3, 3), True),
                   0.25 if i < 2 else 0.5)
    return Pyramid(Conv(3, 16, 3, 2), block, (64, 128, 128, 256), nn.Sequential(SPPF(256), C2PSA(256)), False,
                   Distances((64, 128, 256), size, True))


class SsdLite(nn.Module):
    """torchvision's SSD-lite for pictures of 320×320, which its transform would only normalise."""

    def __init__(self):
        super().__init__()
        self.net = zoo.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None)
        with torch.no_grad():
            picture = torch.zeros(1, 3, 320, 320)
            maps = list(self.net.eval().backbone(picture).values())
            self.register_buffer('anchors', self.net.anchor_generator(ImageList(picture, [(320, 320)]), maps)[0])

    def forward(self, x):
        maps = list(self.net.backbone((x - 0.5) / 0.5).values())
        found = self.net.head(maps)
        boxes = self.net.box_coder.decode_single(found['bbox_regression'][0], self.anchors)
        return boxes.clamp(0, 320)[None], F.softmax(found['cls_logits'], -1)
