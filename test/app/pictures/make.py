#!/usr/bin/env python3
"""make.py: writes the pictures of this folder, and what Pillow makes of them (needs Pillow and numpy; run once, with Pillow 13.0).

The preprocessing is the same as in torchvision's presets for classification: Pillow's bilinear resizing of 8-bit samples,
crop, / 255, (x - mean) / std.
"""
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).parent
MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
WIDTH, HEIGHT = 46, 36


def scene():
    """Colours in slow and fast waves, edges, details at all borders; 16-bit samples."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    red = 0.5 + 0.4 * np.sin(x / 5) * np.cos(y / 7)
    green = (x + y) / (WIDTH + HEIGHT)
    blue = 0.5 + 0.5 * np.sin(x * y / 60)
    out = np.stack([red, green, blue], axis=-1)
    out[10:20, 15:30] = [0.9, 0.2, 0.1]
    out[25:30, 5:13] = [0.05, 0.1, 0.8]
    return np.round(out * 65535).astype(np.uint16)


def write_png(name, width, height, depth, interlace, rows):
    """Writes a PNG of a kind that Pillow does not write, from the filtered rows `rows`."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    (HERE / name).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 2, 0, 0, interlace)) +
                              chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def rows_of(samples):
    return b"".join(b"\0" + row.tobytes() for row in samples)


def save(name, picture, size=None, box=None, mean=MEAN, std=STD):
    """The picture scaled to `size` and cropped to `box`, as (1, channels, height, width)."""
    if size:
        picture = picture.resize(size, Image.Resampling.BILINEAR)
    if box:
        picture = picture.crop(box)
    samples = np.asarray(picture, np.float32) / np.float32(255)
    if samples.ndim == 3:
        samples = ((samples - mean) / std).transpose(2, 0, 1)
    np.save(HERE / name, samples.reshape(1, -1, *samples.shape[-2:]))


deep = scene()
colour = Image.fromarray((deep >> 8).astype(np.uint8), "RGB")
colour.save(HERE / "colour.png", optimize=True)
colour.convert("L").save(HERE / "grey.png", optimize=True)
colour.quantize(64).save(HERE / "palette.png", optimize=True)
transparent = colour.copy()
transparent.putalpha(Image.fromarray(np.tile(np.arange(WIDTH, dtype=np.uint8) * 5, (HEIGHT, 1)), "L"))
transparent.save(HERE / "transparent.png", optimize=True)
colour.save(HERE / "colour.jpg", quality=90)
colour.save(HERE / "progressive.jpg", quality=90, progressive=True, subsampling=0)
write_png("deep.png", WIDTH, HEIGHT, 16, 0, rows_of(deep.astype(">u2")))
passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]  # Adam7: x, y, steps
write_png("interlaced.png", WIDTH, HEIGHT, 8, 1, b"".join(rows_of(np.asarray(colour)[y::dy, x::dx]) for x, y, dx, dy in passes))
write_png("bomb.png", 10, 10, 8, 0, bytes(8 << 20))  # data for many more pixels than its header states



def centre(size, inner):
    """The centred box of inner[0]×inner[1], rounded like torchvision's CenterCrop."""
    left, top = (round((size[i] - inner[i]) / 2) for i in (0, 1))
    return left, top, left + inner[0], top + inner[1]


# For an input of 16×16, the shorter side becomes 16 · 256/224 = 18: 36 becomes 18, 46 becomes 23. For 48×48: 55 and
# int(70.3).
small = ((23, 18), centre((23, 18), (16, 16)))
save("crop", colour, *small)
save("grow", colour, (70, 55), centre((70, 55), (48, 48)))
save("stretch", colour, (16, 16))
save("as_it_is", colour)
save("jpeg", Image.open(HERE / "colour.jpg").convert("RGB"))
save("progressive", Image.open(HERE / "progressive.jpg").convert("RGB"))
save("palette", Image.open(HERE / "palette.png").convert("RGB"), *small)
save("to_grey", colour.convert("L"), *small)
save("to_colour", colour.convert("L").convert("RGB"), *small)
