#!/usr/bin/env python3
"""test_draw.py TOY_APP [PROGRAM…]: --plan=svg with programs named dot that work or fail, and without any.

Nothing here needs Graphviz. The drawings of TOY_APP and of each PROGRAM without it are measured.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

PROGRAM, OTHERS = None, []


class Svg(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def plan(self, form, script=None, mode=0o755, **options):
        """Run PROGRAM --plan=FORM where the only program on the PATH is `dot`, this shell script."""
        if script is not None:
            (self.folder / 'dot').write_text(f'#!/bin/sh\n{script}\n')
            (self.folder / 'dot').chmod(mode)
        env = {**os.environ, 'PATH': str(self.folder), 'TOY_OWNER': '0,0,0,1,1,0,0,1,0,0'}
        return subprocess.run([PROGRAM, f'--plan={form}'], env=env, text=True, timeout=30, cwd=self.folder,
                              **{'capture_output': True, **options})

    def assert_refused(self, done, *texts):
        self.assertEqual((done.returncode, done.stdout), (1, ''), done.stderr)
        self.assertEqual(done.stderr.count('dice: error:'), 1, done.stderr)
        for text in ('--plan=svg', 'Graphviz', '--plan=dot', *texts):
            self.assertIn(text, done.stderr)

    def test_what_dot_gets_and_gives(self):
        drawn = self.plan('svg', 'echo "<svg>$*"; while read -r line; do printf "%s\\n" "$line"; done')
        self.assertEqual((drawn.returncode, drawn.stderr), (0, ''))
        given = self.plan('dot')
        self.assertEqual((given.returncode, given.stderr), (0, ''))
        self.assertTrue(given.stdout.startswith('digraph plan {\n'), given.stdout)
        lines = [line.strip() for line in given.stdout.splitlines()]
        self.assertEqual(drawn.stdout.splitlines(), ['<svg>-Tsvg', *lines])

    def test_more_than_a_pipe_holds(self):
        """dot may write without reading, and may write much."""
        done = self.plan('svg', 'echo "<svg>"; i=0; while [ $i -lt 20000 ]; do echo "<g>0123456789</g>"; i=$((i+1)); done')
        self.assertEqual((done.returncode, len(done.stdout)), (0, 6 + 20000 * 18))

    def test_dot_fails(self):
        self.assert_refused(self.plan('svg', 'echo "<svg>half"; echo "syntax error" >&2; exit 3'), 'exit code 3', 'syntax error')
        self.assert_refused(self.plan('svg', 'kill -9 $$'), 'signal 9')
        self.assert_refused(self.plan('svg', 'exit 0'), 'no drawing')

    def test_output_that_cannot_be_written(self):
        with open('/dev/full', 'w') as full:
            for form in ('svg', 'dot', 'steps'):
                done = self.plan(form, 'echo "<svg>"', capture_output=False, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 1)
                self.assertIn('the standard output cannot be written', done.stderr)

    def test_wrong_form(self):
        done = self.plan('png')
        self.assertEqual(done.returncode, 2)
        self.assertIn("'png'", done.stderr)


def words(text):
    return ' '.join(text.split())


def lines_of(text):
    """The lines of a text element."""
    return [words(line.text) for line in text]


def box_of(element):
    """left, top, right, bottom of a rectangle, or around a text."""
    if element.tag.endswith('rect'):
        x, y, width, height = (float(element.get(k)) for k in ('x', 'y', 'width', 'height'))
        return x, y, x + width, y + height
    size, lines = float(element.get('font-size')), list(element)
    half = max(len(line.text) for line in lines) * size * 0.6 / 2
    x, y = float(lines[0].get('x')), [float(line.get('y')) for line in lines]
    return x - half, y[0] - 0.8 * size, x + half, y[-1] + 0.2 * size


def points_of(path):
    """Points on a line "Mx,y V y C x,y x,y x,y V y"."""
    x0, y, y0, x1, y1, x2, y2, x3, y3, y4 = (float(n) for n in re.findall(r'-?[\d.]+', path.get('d')))
    curve = [((1 - t) ** 3 * x0 + 3 * (1 - t) ** 2 * t * x1 + 3 * (1 - t) * t * t * x2 + t ** 3 * x3,
              (1 - t) ** 3 * y0 + 3 * (1 - t) ** 2 * t * y1 + 3 * (1 - t) * t * t * y2 + t ** 3 * y3)
             for t in (i / 50 for i in range(51))]
    return [(x0, y + (y0 - y) * i / 20) for i in range(21)] + curve + [(x3, y3 + (y4 - y3) * i / 20) for i in range(21)]


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def inside(point, box):
    return box[0] + 0.1 < point[0] < box[2] - 0.1 and box[1] + 0.1 < point[1] < box[3] - 0.1


class Layered(unittest.TestCase):
    """Drawings without Graphviz."""

    def measure(self, program, **environment):
        def plan(form):
            return subprocess.run([program, f'--plan={form}'], env={**os.environ, 'PATH': '/nowhere', **environment}, text=True,
                                  timeout=30, capture_output=True, check=True).stdout
        root, dot = xml.fromstring(plan('svg').encode()), plan('dot')
        self.assertEqual(root.tag, '{http://www.w3.org/2000/svg}svg')

        def all_of(tag, name):
            return [e for e in root if e.tag.endswith(tag) and e.get('class') == name]

        # Every layer, message and rank of the other drawing is in this one.
        for name, pattern in [('layer', r'^ +l\d+ \[label="(.*?)"[,\]]'), ('message', r'label="(  tag \d+ · .*?)"'),
                              ('heading', r'^ +h\d+ \[label="(.*?)"[,\]]')]:
            wanted = [[words(line) for line in label.split('\\n')] for label in re.findall(pattern, dot, re.MULTILINE)]
            self.assertEqual(sorted(map(lines_of, all_of('text', name))), sorted(wanted))
        headings, messages = ([box_of(t) for t in all_of('text', name)] for name in ('heading', 'message'))
        ranks, layers = ([box_of(t) for t in all_of('rect', name)] for name in ('rank', 'layer'))
        self.assertEqual((len(ranks), len(layers)), (len(headings), len(all_of('text', 'layer'))))
        # Nothing overlaps, everything is in a rank, and no line crosses a heading, a layer or the text of a message.
        for group in (ranks, headings + layers + messages):
            for i, a in enumerate(group):
                for b in group[:i]:
                    self.assertFalse(overlap(a, b), (a, b))
        for a in headings + layers + messages:
            self.assertTrue(any(r[0] <= a[0] and r[1] <= a[1] and a[2] <= r[2] and a[3] <= r[3] for r in ranks), a)
        lines, bold = all_of('path', 'line'), all_of('path', 'message')
        self.assertGreaterEqual(len(bold), 2 * len(messages))  # from the sender to the text, from there to a reader
        for line in lines + bold:
            for point in points_of(line):
                for box in headings + layers + [(l, t + 3, r, b - 3) for l, t, r, b in messages]:
                    self.assertFalse(inside(point, box), (line.get('d'), box))

    def test_branches(self):
        for owner in ('0,0,0,0,0,0,0,0,0,0', '0,0,0,1,1,0,0,1,0,0', '2,1,0,2,1,0,2,1,0,1'):
            self.measure(PROGRAM, TOY_OWNER=owner)
        self.measure(PROGRAM, TOY_NET='two', TOY_OWNER='0,1,2,3,0,1,2,3')

    def test_programs(self):
        for program in OTHERS:
            self.measure(program)


if __name__ == '__main__':
    PROGRAM, *OTHERS = (str(pathlib.Path(p).resolve()) for p in sys.argv[1:])
    unittest.main(argv=sys.argv[:1])
