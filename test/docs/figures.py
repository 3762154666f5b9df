#!/usr/bin/env python3
"""figures.py FILE.svg…: in drawings made by hand, each text has room and touches no other, whatever font a renderer has: letters may be
as wide as in a typewriter's, 0.61 of their size."""
import itertools
import re
import sys
import xml.etree.ElementTree as xml

LETTER = 0.61  # DejaVu Sans Mono has 0.602


def misplaced(text):
    """What is wrong with a drawing whose texts are centred lines."""
    root = xml.fromstring(re.sub(r' xmlns="[^"]*"', '', text))
    size = float(root.get('font-size'))
    left, top, width, height = map(float, root.get('viewBox').split())
    boxes = []
    for line in root.iter('text'):
        half = len(line.text) * LETTER * size / 2
        x, y = float(line.get('x')), float(line.get('y'))
        boxes.append((line.text, x - half, y - size, x + half, y + size / 4))
    out = [] if root.get('text-anchor') == 'middle' and boxes else ['expected texts with text-anchor="middle"']
    out += [f"'{name}' is cut off" for name, x, y, right, bottom in boxes
            if x < left or y < top or right > left + width or bottom > top + height]
    return out + [f"'{a[0]}' and '{b[0]}' overlap" for a, b in itertools.combinations(boxes, 2)
                  if a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]]


if __name__ == '__main__':
    sys.exit('\n'.join(f'{file}: {wrong}' for file in sys.argv[1:] for wrong in misplaced(open(file, encoding='utf-8').read())) or None)
