#!/usr/bin/env python3
"""test_draw.py PROGRAM: --plan=svg with programs named dot that work, fail or do not exist.

PROGRAM is toy_app. Nothing here needs Graphviz.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None


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
        for text in ('--plan=svg', 'apt install graphviz', '--plan=dot', *texts):
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

    def test_no_dot(self):
        self.assert_refused(self.plan('svg'), 'not found')

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


if __name__ == '__main__':
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
