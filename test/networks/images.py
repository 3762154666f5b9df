"""Networks at full size whose results are images: segmentation and super-resolution."""
import torch
import torch.nn as nn


class Segmentation(nn.Module):
    """The scores of torchvision's segmentation networks, without the dictionary."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)['out']


class Labels(nn.Sequential):
    """The index of the class with the largest score, for each pixel."""

    def forward(self, x):
        return super().forward(x).argmax(1)


def twice(channels_in, channels_out):
    return nn.Sequential(nn.Conv2d(channels_in, channels_out, 3, padding=1), nn.BatchNorm2d(channels_out), nn.ReLU(),
                         nn.Conv2d(channels_out, channels_out, 3, padding=1), nn.BatchNorm2d(channels_out), nn.ReLU())


class UNet(nn.Module):
    """Levels down and up (arXiv 1505.04597), padded and with batch normalisation. Upwards by transposed convolutions
    or, if `bilinear`, by interpolation, which leaves fewer channels to the deepest level."""

    def __init__(self, bilinear, classes=2, widths=(64, 128, 256, 512, 1024)):
        super().__init__()
        widths = list(widths)
        if bilinear:
            widths[-1] //= 2
        self.first = twice(3, widths[0])
        self.down = nn.ModuleList(nn.Sequential(nn.MaxPool2d(2), twice(a, b)) for a, b in zip(widths, widths[1:]))
        self.up, self.join = nn.ModuleList(), nn.ModuleList()
        deep = widths[-1]
        for level in reversed(range(len(widths) - 1)):
            self.up.append(nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True) if bilinear else
                           nn.ConvTranspose2d(deep, widths[level], 2, 2))
            out = max(widths[level] // 2, widths[0]) if bilinear else widths[level]
            self.join.append(twice(2 * widths[level], out))
            deep = out
        self.last = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        maps = [self.first(x)]
        for down in self.down:
            maps.append(down(maps[-1]))
        x = maps.pop()
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([maps.pop(), up(x)], 1))
        return self.last(x)


class Espcn(nn.Sequential):
    """Super-resolution by a factor, in the first network's layers (arXiv 1609.05158)."""

    def __init__(self, factor):
        super().__init__(nn.Conv2d(1, 64, 5, padding=2), nn.Tanh(), nn.Conv2d(64, 32, 3, padding=1), nn.Tanh(),
                         nn.Conv2d(32, factor ** 2, 3, padding=1), nn.PixelShuffle(factor))
