#!/usr/bin/env python3
"""convolutions.py HEADER…: prints convolutions.inc, the distinct convolutions of networks that onnx2hpp converted.

bench/peers/run leaves the headers of its nine networks in WORK/build/dice_networks. Convolutions are distinct if their
attributes or the extents of their input are; all have a bias here.
"""
import pathlib
import re
import sys

LAYER = re.compile(r"^struct \w+ final \{(.*?)^\};", re.MULTILINE | re.DOTALL)
DEFAULT = re.compile(r", \.(strides = \{1, 1\}|dilations = \{1, 1\}|pads = \{0, 0, 0, 0\}|group = 1|bias = \w+)(?=,|$)")


def member(text, pattern):
    found = re.search(pattern, text)
    return found and found.group(1)


def convolutions(header):
    """(extents of the input, attributes) of each convolution, as C++ text."""
    results = {}
    for layer in LAYER.findall(header):
        if not (number := member(layer, r"int id = (\d+);")):
            continue
        results[number] = member(layer, r"result\{(.*)\};")
        if attributes := member(layer, r"::dice::ops::conv op\{(.*)\};"):
            yield results[member(layer, r"operands\{(\d+)")], DEFAULT.sub("", attributes)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = {}  # convolution: its networks
    for path in map(pathlib.Path, sys.argv[1:]):
        for convolution in convolutions(path.read_text()):
            networks = found.setdefault(convolution, [])
            if path.stem not in networks:
                networks.append(path.stem)
    print("// Made by convolutions.py. Do not edit: networks, extents of the input, attributes.")
    for (extents, attributes), networks in found.items():
        print(f'{{"{"+".join(networks)}", {{{extents}}},\n {{{attributes}}}}},')


if __name__ == "__main__":
    main()
